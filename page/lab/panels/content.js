// What the kernel fills a tab with (rebalance_kit/view/lab/tabs.py).

/** @typedef {[at: number, source: number, level: string, line: string]} LogLine */
/** @typedef {{ sources: string[], lines: LogLine[], cut: number }} LogsContent */
/** @typedef {{ at: number, blocks: { command: string, text: string }[] }} CliContent */
/** @typedef {[member: string, room: string, name: string, says: string, steps: (number | null)[]]} MetricRow A process that does not run has no value */
/** @typedef {{ member: string | null, rows: MetricRow[] }} MetricsContent */
/** @typedef {[from: number, client: string, configs: Record<string, unknown>]} Life */
/** @typedef {{ started: Life[][] }} MembersContent */
/** @typedef {{ entries: [at: number, words: string, rule: string, source: string][] }} WhyContent */
/** @typedef {[name: string, statement: string, seen: [at: number, words: string][]]} Light */
/** @typedef {{ lights: Light[], rows: number }} InvariantsContent */

/**
 * @typedef {object} View a tab's picture
 * @property {HTMLElement} root
 * @property {any} [content] from the kernel; null until it has come
 * @property {unknown} drawn what is drawn at present; null to draw anew
 * @property {(at: number, moving: boolean) => void} paint
 */

export {};
