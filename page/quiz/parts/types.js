// What the kernel sends to a page of the quiz (rebalance_kit/quiz/sittings/page.py). No key is in it before the verdict.

/** @typedef {{ id: string, text: string }} Step a step, or the prompt of a pair */

/** @typedef {{ name: string, spans: [from: number, to: number, member: string][] }} PictureRow */

/**
 * @typedef {object} Picture a Gantt chart: who received a partition's records
 * @property {number} since_ms
 * @property {number} until_ms
 * @property {PictureRow[]} rows
 * @property {[at: number, what: string][]} events
 */

/** @typedef {{ id: string, text: string, picture?: Picture }} Option */

/**
 * @typedef {object} Question
 * @property {string} kind single, multiple, numeric, short, matching, ordering, log or picture
 * @property {string} stem
 * @property {string} [exhibit]
 * @property {string} id
 * @property {boolean} [many] whether several options may be chosen
 * @property {number} [choose] how many options an answer has
 * @property {Option[]} options left out where a number or a word is asked for
 * @property {Step[]} prompts of a matching
 * @property {Step[]} steps of an ordering
 * @property {string} [unit]
 * @property {Picture} [picture]
 */

/** @typedef {{ option?: string, text: string, right: boolean, chosen: boolean, why: string }} Remark */
/** @typedef {{ right: boolean, credit: number, key: string[], given: string[], remarks: Remark[] }} Verdict */

/**
 * @typedef {object} AnswerState how a question is shown
 * @property {Remark[]} [remarks] with the verdict
 * @property {string} given
 * @property {boolean} disabled
 * @property {string[]} [struck] options that are struck out
 * @property {((option: string) => void) | null} [strike]
 */

/** @typedef {(message: Record<string, unknown>) => void} Send */

/**
 * @typedef {object} ExamPage
 * @property {string} title
 * @property {Question} question
 * @property {number} number
 * @property {number} of
 * @property {{ answered: boolean, lacking: number, flagged: boolean }[]} places
 * @property {boolean} [begun] false before the clock runs
 * @property {string[]} start what the exam is, before it begins
 * @property {boolean} ended
 * @property {boolean[]} right once it has ended
 * @property {number} left_s
 * @property {string} given
 * @property {string[]} struck
 * @property {string} [error]
 * @property {string} [notice]
 * @property {Verdict} verdict once it has ended
 * @property {string} report once it has ended
 * @property {string[]} replays once it has ended
 * @property {string[]} report_replays runs that the report advises
 * @property {string[]} source what says so, once it has ended
 */

/**
 * @typedef {object} PracticePage
 * @property {string} title
 * @property {string} said
 * @property {Question} question
 * @property {number} number
 * @property {number} of 0 where there is no question
 * @property {number} right
 * @property {number} answered
 * @property {boolean} last
 * @property {boolean} asks_confidence
 * @property {string} [source] id and sources of the question, once it is answered
 * @property {Verdict | null} verdict
 * @property {string[]} replays
 * @property {string} error
 * @property {string} [notice]
 */

/**
 * @typedef {object} PollPage
 * @property {string} step vote, discuss, revote or closed
 * @property {number} votes
 * @property {number} before
 * @property {string} call
 * @property {boolean} shown
 * @property {boolean} revealed
 * @property {string} folder
 * @property {Question} question
 * @property {Verdict | null} verdict
 * @property {Record<string, number>[]} split
 * @property {[from: string, to: string, many: number][]} moves
 * @property {string[]} refused
 * @property {number} refused_more
 * @property {string[]} replays
 * @property {string} notice
 * @property {string} [error]
 */

/** @typedef {{ question: Question, given: string, again: boolean, code: string, kept: string, error: string }} VotePage */

export {};
