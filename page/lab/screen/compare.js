// Two or three runs on one clock: a column per run, a row per member, then what has no owner, the whole run, the
// cost. What is least is said to be the least; a tie has none.

import { make } from "../../shared/dom.js";
import { boardAt } from "../film/board.js";
import { sentenceAt } from "../film/sentences.js";
import { Painter, sharpPen } from "../time/painter.js";
import { Scale } from "../time/scale.js";
import { doingLine, numberWord } from "../words/lines.js";

const STRIP_HEIGHT = 36;

export class Compare {
  constructor(lab, table, films) {
    this.lab = lab;
    this.films = films;
    this.table = table;
    this.names = [...new Set(films.flatMap((film) => film.members.map((one) => one.name)))].slice(0, 16);
    this.end = Math.max(...films.map((film) => film.end));
    const many = films.some((film) => film.partitions.length > 40);
    this.many = many;
    this.cells = this.names.map(() => films.map(() => make("td", {})));
    this.heads = films.map(() => make("th", { scope: "col" }));
    this.orphans = films.map(() => make("td", {}));
    this.strips = films.map(() => make("canvas", { "aria-hidden": "true", class: "rk-mini" }));
    const rowOf = (head, cells) => make("tr", {}, make("th", { scope: "row" }, ...head), ...cells);
    const faces = this.names.map((name) => {
      const film = films.find((one) => one.members.some((each) => each.name === name)),
        one = film.members.find((each) => each.name === name);
      return make("i", {
        class: "rk-seat rk-in",
        style: `--hue:var(--rk-m${one.hue});--on:var(--rk-m${one.hue}o)`,
        "aria-hidden": "true",
      }, one.label);
    });
    const cost = table.table.map((row) =>
      rowOf(
        [row.name],
        row.cells.map((cell, place) =>
          make(
            "td",
            {},
            make("b", {}, cell),
            place === row.least ? make("span", { class: "rk-least" }, "least") : null,
          )
        ),
      )
    );
    this.root = make(
      "div",
      { class: "rk-view rk-compare", tabindex: "0", role: "region", "aria-label": "Compare" },
      make(
        "table",
        { class: "rk-table" },
        make("thead", {}, make("tr", {}, make("td", {}), ...this.heads)),
        make(
          "tbody",
          {},
          ...this.names.map((name, place) => rowOf([faces[place], ` ${name}`], this.cells[place])),
          rowOf(["No owner"], this.orphans),
          rowOf(["Whole run"], this.strips.map((canvas) => make("td", {}, canvas))),
          ...cost,
        ),
      ),
      make("p", { class: "rk-differs" }, make("b", {}, "What differs. "), table.differs.join(" ")),
    );
    this.drawnAt = "";
  }

  paint(at) {
    this.films.forEach((film, column) => {
      const moment = Math.min(at, film.end),
        board = boardAt(film, moment),
        [cause] = sentenceAt(film, moment);
      fill(this.heads[column], [
        make("b", {}, this.table.labels[column]),
        make("span", { class: "rk-count" }, `${board.flowing} of ${board.there} flow`),
        make(
          "small",
          {},
          `${board.group.state}${
            board.group.generation === null
              ? ""
              : ` · ${numberWord(board.group.protocol)} ${board.group.generation}`
          }`,
        ),
        make("small", {}, cause),
      ]);
      this.names.forEach((name, row) => {
        const member = film.members.find((one) => one.name === name);
        fill(
          this.cells[row][column],
          member
            ? [
              ...this.chips(film, board, board.owned[member.index], member),
              make("small", {}, doingLine(film, board, member.index)),
            ]
            : ["–"],
        );
      });
      const loose = board.partitions.map((one, index) => (one.owner === -1 ? index : -1)).filter((index) =>
        index >= 0
      );
      fill(this.orphans[column], loose.length ? this.chips(film, board, loose, null) : ["none"]);
    });
    this.strip(at);
  }

  chips(film, board, held, member) {
    if (this.many) {
      const stopped = held.filter((one) => !board.partitions[one].flows).length;
      return [`${held.length} partitions${stopped ? `, ${stopped} stopped` : ""}`];
    }
    return held.map((one) => {
      const state = board.partitions[one], number = film.partitions[one].match(/(\d+)$/)[1];
      return make(
        "i",
        {
          class: `rk-small-token${state.flows ? "" : state.owner < 0 ? " rk-loose" : " rk-halt"}`,
          title: `${film.partitions[one]}: ${state.word}`,
          style: member && state.flows
            ? `background:var(--rk-m${member.hue});color:var(--rk-m${member.hue}o);border-color:var(--rk-m${member.hue})`
            : null,
        },
        number,
        state.flows ? "" : make("span", { class: "rk-status" }, ` ${state.word}`),
      );
    });
  }

  // The whole of each run as a small picture, drawn once per width and theme.
  strip(at) {
    const { screen, ui } = this.lab;
    const width = Math.floor((screen.width - 230) / this.films.length) - 24;
    const key = `${width}${ui.root.className}`;
    const scale = new Scale(0, this.end, width);
    this.strips.forEach((canvas, column) => {
      if (this.drawnAt !== key) {
        const pen = sharpPen(canvas, width, STRIP_HEIGHT);
        new Painter(ui.root).drawRun(pen, { ...this.films[column], end: this.end }, scale, STRIP_HEIGHT);
      }
      canvas.parentElement?.style.setProperty("--at", `${scale.x(Math.min(at, this.end))}px`);
    });
    this.drawnAt = key;
  }

  get twin() {
    const rows = [["", ...this.table.labels], ...this.table.table.map((row) => [row.name, ...row.cells])];
    return `${rows.map((row) => row.join("  |  ")).join("\n")}\n${this.table.differs.join(" ")}`;
  }
}

function fill(node, children) {
  const key = children.map((one) => (one.outerHTML || one)).join("");
  if (node.rkKey === key) return;
  node.rkKey = key;
  node.replaceChildren(...children);
}
