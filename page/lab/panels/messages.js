// The messages tab: which messages are shown, and the part of them around the cursor.

import { make, say } from "../../shared/dom.js";
import { milliseconds, placeOf } from "../film/times.js";
import { Sequence } from "./sequence.js";
import { rowOf, tableOf } from "./table.js";

const AROUND = 60;
const EDGE = 8;

/** @typedef {import("../film/format.js").Message} Message */
/** @typedef {import("./sequence.js").Item} Item */

/** Kinds of marks that stand in the diagram, because they explain why messages begin or end. */
const EVENTS = new Set(["fault", "action", "timer"]);

/** Messages as a sequence diagram and as a table. */
export class Messages {
  /**
   * @param {import("../store.js").Store} store
   * @param {() => number} width of the lab, in its own pixels
   */
  constructor(store, width) {
    this.store = store;
    this.width = width;
    /** @type {string | null} */
    this.drawn = null;
    /** @type {Item[]} what is shown: messages, and what was done */
    this.items = [];
    /** @type {number[]} */
    this.times = [];
    this.first = 0;
    this.last = 0;
    this.scrolledAt = -1;
    this.sequence = new Sequence();
    this.beats = this.check("heartbeats without news");
    this.commits = this.check("commits");
    this.errors = this.check("only errors");
    this.only = this.check("only the selected member");
    this.count = make("span", { class: "rk-dim" });
    const looks = { class: "rk-sequence", tabindex: "0", role: "group", "aria-label": "Message diagram" };
    this.diagram = make("div", looks);
    this.rows = make("tbody", {});
    const table = tableOf(["sent", "from", "to", "message", "arrives"], this.rows);
    const twin = make("details", { class: "rk-timetext" }, make("summary", {}, "Messages as text"), table);
    const checks = [this.beats, this.commits, this.errors, this.only].map(({ node }) => node);
    const bar = make("div", { class: "rk-bar" }, ...checks, this.count);
    this.root = make("div", { class: "rk-view rk-messages" }, bar, this.diagram, twin);
  }

  /** @param {string} words */
  check(words) {
    const box = make("input", { type: "checkbox" });
    box.addEventListener("input", () => {
      this.drawn = null;
      this.paint(this.store.at);
    });
    return { box, node: make("label", { class: "rk-check" }, box, words) };
  }

  /** Messages that pass the checks. */
  chosen() {
    const { film, selected } = this.store;
    const [beats, commits, errors, only] = [this.beats, this.commits, this.errors, this.only].map(({ box }) =>
      box.checked
    );
    return film.messages.filter((message) =>
      (message.error || message.news || beats || message.kind !== "heartbeat") &&
      (message.error || commits || message.kind !== "commit") &&
      (!errors || message.error || message.arrives === null) && (!only || message.member === selected)
    );
  }

  /**
   * What was done, to whom it is shown.
   * @returns {Item[]}
   */
  events() {
    const { film, selected } = this.store;
    const { name } = film.members[selected] ?? { name: "" };
    return film.marks.filter((mark) =>
      EVENTS.has(mark.kind) && (!this.only.box.checked || mark.member === null || mark.member === name)
    ).map((mark) => ({ sent: mark.at, mark }));
  }

  /** @param {number} at */
  paint(at) {
    const { serial, selected, at: now } = this.store;
    const key = `${serial}/${selected}/${this.width()}`;
    const anew = this.drawn !== key;
    if (anew) {
      this.drawn = key;
      this.items = [...this.chosen(), ...this.events()].sort((a, b) => a.sent - b.sent);
      this.times = this.items.map((item) => item.sent);
    }
    const place = placeOf(this.times, at);
    if (anew || place < this.first + EDGE || place > this.last - EDGE) this.moveTo(place, anew);
    const sent = this.items.filter((item) => !item.mark);
    const before = sent.filter((message) => message.sent <= at).length;
    say(
      this.count,
      sent.length ? `${before} of ${sent.length} messages so far` : "No such message in this run.",
    );
    const y = this.sequence.mark(at);
    if (y === null || now === this.scrolledAt) return;
    this.diagram.scrollTop = y - this.diagram.clientHeight * 0.6;
    this.scrolledAt = now;
  }

  /**
   * Draw the messages around a place, unless they are drawn already.
   * @param {number} place
   * @param {boolean} anew
   */
  moveTo(place, anew) {
    const { film, selected, at } = this.store;
    const first = Math.max(0, Math.min(place - AROUND, this.items.length - 2 * AROUND));
    const last = Math.min(this.items.length, first + 2 * AROUND);
    if (!anew && this.first === first && this.last === last) return;
    this.first = first;
    this.last = last;
    const shown = this.items.slice(first, last);
    const letters = parseFloat(getComputedStyle(this.count).fontSize) - 1 || 12;
    this.diagram.replaceChildren(
      ...this.sequence.draw(film, shown, selected, at, this.width() - 70, letters),
    );
    this.rows.replaceChildren(...shown.map((item) => this.drawRow(item)));
  }

  /** @param {Item} item */
  drawRow(item) {
    if (item.mark) {
      const row = rowOf(item.mark.words, [""]);
      row.prepend(
        ...[milliseconds(item.sent), item.mark.member ?? "", ""].map((cell) => make("td", {}, cell)),
      );
      return row;
    }
    const { sent, arrives, member, api, request, error } = item;
    const { name } = this.store.film.members[member];
    const cells = request ? [name, "coordinator"] : ["coordinator", name];
    const words = `${api}${request ? "" : " answer"}${error ? ` ${error}` : ""}`;
    const row = rowOf(words, [arrives === null ? "lost" : milliseconds(arrives)]);
    row.prepend(...[milliseconds(sent), ...cells].map((cell) => make("td", {}, cell)));
    return row;
  }
}
