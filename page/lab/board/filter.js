// A large group, looked through: which tiles stand out by a filter or by what is searched.

import { make, say, set } from "../../shared/dom.js";
import { placeOf } from "../film/times.js";

/** How long ago something may have changed. */
const LATELY_MS = 5000;

/** @typedef {import("../film/board.js").Board} Board */
/** @typedef {import("../film/format.js").Film} Film */
/** @typedef {(film: Film, board: Board, index: number) => boolean} Test whether a member passes */

/** @type {[string, string, Test][]} */
const FILTERS = [
  ["all", "All", () => true],
  ["unread", "Unread", (_, board, index) => board.owned[index].some((each) => !board.partitions[each].flows)],
  ["changed", "Changed", changedLately],
  ["absent", "Not joined", (_, board, index) => board.members[index].state.standing !== "member"],
];

/** Chips with counts, and a search field; `choose` hears which member was searched for, or -1. */
export class Filter {
  /**
   * @param {() => void} again draws the tiles anew
   * @param {(index: number) => void} choose
   */
  constructor(again, choose) {
    this.again = again;
    this.choose = choose;
    this.chosen = "all";
    this.query = "";
    this.first = -1;
    this.chips = FILTERS.map(([name, words]) => {
      const count = make("span", {});
      const node = make(
        "button",
        { type: "button", class: "rk-chipbutton", "data-filter": name },
        words,
        count,
      );
      node.addEventListener("click", () => this.pick(name));
      return { node, count };
    });
    this.field = make("input", {
      type: "search",
      placeholder: "member or partition",
      "aria-label": "Search members and partitions",
    });
    this.field.addEventListener("input", () => this.search(this.field.value));
    this.field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && this.first >= 0) this.choose(this.first);
    });
    const row = make("div", { class: "rk-chipbuttons" }, ...this.chips.map(({ node }) => node));
    const looks = { class: "rk-filter", role: "group", "aria-label": "Which members stand out" };
    this.note = make("p", { class: "rk-filternote", role: "status" });
    this.root = make("div", looks, this.note, this.field, row);
    this.mark();
  }

  /** @param {string} name */
  pick(name) {
    this.chosen = this.chosen === name ? "all" : name;
    this.mark();
    this.again();
  }

  /** @param {string} text */
  search(text) {
    this.query = text.trim().toLowerCase();
    this.again();
  }

  /**
   * While something is searched, say what the selected member does, or that nobody was found.
   * @param {string} line of the selected member
   */
  tell(line) {
    const words = this.first < 0 ? `No member is called ${this.query}.` : line;
    say(this.note, this.query ? words : "");
  }

  mark() {
    this.chips.forEach(({ node }) =>
      set(node, "aria-pressed", node.dataset.filter === this.chosen ? "true" : "false")
    );
  }

  /**
   * Which members stand out at this moment; the chips say how many each filter has.
   * @param {Film} film
   * @param {Board} board
   * @returns {boolean[]}
   */
  passing(film, board) {
    const tests = FILTERS.map(([, , test]) => board.members.map((_, index) => test(film, board, index)));
    tests.forEach((passed, place) => say(this.chips[place].count, ` ${passed.filter(Boolean).length}`));
    const chosen = tests[FILTERS.findIndex(([name]) => name === this.chosen)];
    const passing = chosen.map((passed, index) => passed && this.found(film, board, index));
    this.first = this.query ? passing.indexOf(true) : -1;
    return passing;
  }

  /** @type {Test} */
  found(film, board, index) {
    const { query } = this;
    if (!query) return true;
    const { name, label } = board.members[index];
    const exact = [name, label, ...board.owned[index].map((each) => film.partitions[each])];
    return exact.some((each) => each.toLowerCase() === query) ||
      (!/\d$/.test(query) && exact.some((each) => each.toLowerCase().includes(query)));
  }

  /** What distinguishes one drawing from another. */
  get key() {
    return `${this.chosen}/${this.query}`;
  }
}

/** @type {Test} */
function changedLately(film, board, index) {
  const since = board.at - LATELY_MS;
  const tracks = [film.memberTracks[index], ...board.owned[index].map((each) => film.partitionTracks[each])];
  return tracks.some(({ times }) => {
    const place = placeOf(times, board.at);
    return place > 0 && times[place] > since;
  });
}
