// Members as a table, at the cursor.

import { make } from "../../shared/dom.js";
import { boardAt } from "../film/board.js";
import { sessionEnds } from "../film/clocks.js";
import { seconds } from "../film/times.js";
import { doingLine } from "../words/lines.js";
import { spoken } from "../words/twin.js";

export class MembersView {
  constructor(lab) {
    this.lab = lab;
    this.root = make("div", { class: "rk-view rk-memberstab", tabindex: "0" });
  }

  paint(at) {
    const { film } = this.lab, board = boardAt(film, at), classic = board.group.protocol !== "consumer";
    const head = [
      "member",
      "state",
      classic ? "generation" : "epoch",
      "owned",
      classic ? "target" : "target, not yet its own",
      "to be given up",
      "session ends in",
      "started with",
    ];
    const named = (list) => (list.length ? spoken(list.map((one) => film.partitions[one])) : "–");
    const rows = board.members.map((one) => {
      const owned = board.owned[one.index],
        waits = board.partitions.map((state, index) => (state.target === one.index ? index : -1)).filter((
          index,
        ) => index >= 0);
      const leaving = owned.filter((index) =>
        ["give up", "was leaving"].includes(board.partitions[index].word)
      );
      const ends = sessionEnds(film, one.index, at);
      const lives = this.content.started[one.index].filter(([from]) => from <= at),
        life = lives[lives.length - 1];
      const configs = life
        ? Object.entries(life[2]).map(([key, value]) => `${key}=${value}`).join(" ") || "defaults"
        : "–";
      return [
        one.name,
        doingLine(film, board, one.index),
        one.state.generation ?? one.state.epoch ?? "–",
        named(owned),
        classic ? "unknown to a classic group" : named(waits),
        named(leaving),
        ends === null ? "–" : seconds(Math.max(0, ends - at)),
        life && life[1] !== "java" ? `${life[1]} ${configs}` : configs,
      ];
    });
    const key = JSON.stringify(rows);
    if (this.drawn === key) return;
    this.drawn = key;
    this.root.replaceChildren(
      make(
        "table",
        { class: "rk-table" },
        make("thead", {}, make("tr", {}, ...head.map((words) => make("th", { scope: "col" }, words)))),
        make(
          "tbody",
          {},
          ...rows.map(([name, ...cells]) =>
            make(
              "tr",
              {},
              make("th", { scope: "row" }, name),
              ...cells.map((cell) => make("td", {}, String(cell))),
            )
          ),
        ),
      ),
    );
  }
}
