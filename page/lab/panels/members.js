// Members as a table, at the cursor.

import { make } from "../../shared/dom.js";
import { boardAt } from "../film/board.js";
import { sessionEnds } from "../film/clocks.js";
import { seconds } from "../film/times.js";
import { doingLine, numberWord } from "../words/lines.js";
import { spoken } from "../words/twin.js";
import { rowOf, tableOf } from "./table.js";

const LEAVING = ["give up", "was leaving"];

/** The members tab. */
export class MembersView {
  /** @param {import("../store.js").Store} store */
  constructor(store) {
    this.store = store;
    this.content = /** @type {import("./content.js").MembersContent} */ (/** @type {unknown} */ (null));
    /** @type {string | null} */
    this.drawn = null;
    this.root = make("div", { class: "rk-view rk-memberstab", tabindex: "0" });
  }

  /** @param {number} at */
  paint(at) {
    const board = boardAt(this.store.film, at);
    const rows = board.members.map((member) => this.cells(board, member));
    const key = JSON.stringify(rows);
    if (this.drawn === key) return;
    this.drawn = key;
    const { protocol } = board.group;
    const heads = [
      "member",
      "state",
      numberWord(protocol),
      "owned",
      protocol === "consumer" ? "target, not yet its own" : "target",
      "to be given up",
      "session ends in",
      "started with",
    ];
    const body = make("tbody", {}, ...rows.map(([name, ...cells]) => rowOf(name, cells)));
    this.root.replaceChildren(tableOf(heads, body));
  }

  /**
   * @param {import("../film/board.js").Board} board
   * @param {import("../film/board.js").SeatedMember} member
   */
  cells(board, { index, name, state }) {
    const { film } = this.store;
    const named = (/** @type {number[]} */ list) =>
      list.length ? spoken(list.map((partition) => film.partitions[partition])) : "–";
    const waits = board.partitions.flatMap(({ target }, partition) => target === index ? partition : []);
    const leaving = board.owned[index].filter((partition) =>
      LEAVING.includes(board.partitions[partition].word)
    );
    const ends = sessionEnds(film, index, board.at);
    return [
      name,
      doingLine(film, board, index),
      String(state.generation ?? state.epoch ?? "–"),
      named(board.owned[index]),
      board.group.protocol === "consumer" ? named(waits) : "unknown to a classic group",
      named(leaving),
      ends === null ? "–" : seconds(Math.max(0, ends - board.at)),
      this.startedWith(index, board.at),
    ];
  }

  /**
   * The client and the configuration that its process was last started with.
   * @param {number} member
   * @param {number} at
   */
  startedWith(member, at) {
    const life = this.content.started[member].filter(([from]) => from <= at).at(-1);
    if (!life) return "–";
    const [, client, configs] = life;
    const words = Object.entries(configs).map(([key, value]) => `${key}=${value}`).join(" ") || "defaults";
    return client === "java" ? words : `${client} ${words}`;
  }
}
