// The messages tab: which messages are shown, and the part of them around the cursor.

import { make, say } from "../../shared/dom.js";
import { milliseconds, placeOf } from "../film/times.js";
import { Sequence } from "./sequence.js";
import { rowOf, tableOf } from "./table.js";

const AROUND = 60;
const EDGE = 8;

/** @typedef {import("../film/format.js").Message} Message */

/** Messages as a sequence diagram and as a table. */
export class Messages {
  /** @param {import("../lab.js").Lab} lab */
  constructor(lab) {
    this.lab = lab;
    /** @type {string | null} */
    this.drawn = null;
    /** @type {Message[]} */
    this.messages = [];
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
      this.paint(this.lab.player.at);
    });
    return { box, node: make("label", { class: "rk-check" }, box, words) };
  }

  /** Messages that pass the checks. */
  chosen() {
    const { film, selected } = this.lab;
    const [beats, commits, errors, only] = [this.beats, this.commits, this.errors, this.only].map(({ box }) =>
      box.checked
    );
    return film.messages.filter((message) =>
      (message.error || message.news || beats || message.kind !== "heartbeat") &&
      (message.error || commits || message.kind !== "commit") &&
      (!errors || message.error || message.arrives === null) && (!only || message.member === selected)
    );
  }

  /** @param {number} at */
  paint(at) {
    const { serial, selected, screen, player } = this.lab;
    const key = `${serial}/${selected}/${screen.width}`;
    const anew = this.drawn !== key;
    if (anew) {
      this.drawn = key;
      this.messages = this.chosen();
      this.times = this.messages.map((message) => message.sent);
    }
    const place = placeOf(this.times, at);
    if (anew || place < this.first + EDGE || place > this.last - EDGE) this.moveTo(place, anew);
    const all = this.messages.length;
    say(this.count, all ? `${place + 1} of ${all} messages so far` : "No such message in this run.");
    const y = this.sequence.mark(at);
    if (y === null || player.at === this.scrolledAt) return;
    this.diagram.scrollTop = y - this.diagram.clientHeight * 0.6;
    this.scrolledAt = player.at;
  }

  /**
   * Draw the messages around a place, unless they are drawn already.
   * @param {number} place
   * @param {boolean} anew
   */
  moveTo(place, anew) {
    const { film, selected, screen, player } = this.lab;
    const first = Math.max(0, Math.min(place - AROUND, this.messages.length - 2 * AROUND));
    const last = Math.min(this.messages.length, first + 2 * AROUND);
    if (!anew && this.first === first && this.last === last) return;
    this.first = first;
    this.last = last;
    const shown = this.messages.slice(first, last);
    this.diagram.replaceChildren(...this.sequence.draw(film, shown, selected, player.at, screen.width - 70));
    this.rows.replaceChildren(...shown.map((message) => this.drawRow(message)));
  }

  /** @param {Message} message */
  drawRow({ sent, arrives, member, api, request, error }) {
    const { name } = this.lab.film.members[member];
    const cells = request ? [name, "coordinator"] : ["coordinator", name];
    const words = `${api}${request ? "" : " answer"}${error ? ` ${error}` : ""}`;
    const row = rowOf(words, [arrives === null ? "lost" : milliseconds(arrives)]);
    row.prepend(...[milliseconds(sent), ...cells].map((cell) => make("td", {}, cell)));
    return row;
  }
}
