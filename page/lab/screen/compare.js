// Two or three runs on one clock: a live board per run, the whole run, the cost. What is least is said only where draws
// of the same deeds bear it out.

import { make, say } from "../../shared/dom.js";
import { boardAt } from "../film/board.js";
import { sentenceAt } from "../film/sentences.js";
import { Painter, sharpPen } from "../time/painter.js";
import { Scale } from "../time/scale.js";
import { doingLine, numberWord } from "../words/lines.js";
import { MiniBoard } from "./mini_board.js";
import { mostOf, spreadStrip } from "./quartiles.js";

const STRIP_HEIGHT = 36;
const MOST_MEMBERS = 16;
const MOST_CHIPS = 40;
const AXIS_STEPS_S = [5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600];
const MOST_TICKS = 6;

/** @typedef {import("../film/format.js").Film} Film */
/** @typedef {import("../film/board.js").Board} Board */
/** @typedef {{ name: string, cells: string[], least: number | null }} CostRow */
/** @typedef {{ labels: string[], table: CostRow[], answer: string[], differs: string[] }} Costs as the kernel compares the runs */

/** The comparison of some films. */
export class Compare {
  /**
   * @param {import("../lab.js").Lab} lab
   * @param {Costs} costs
   * @param {Film[]} films
   */
  constructor(lab, costs, films) {
    this.lab = lab;
    this.films = films;
    this.costs = costs;
    const members = films.flatMap((film) => film.members);
    this.names = [...new Set(members.map((member) => member.name))].slice(0, MOST_MEMBERS);
    this.end = Math.max(...films.map((film) => film.end));
    this.many = films.some((film) => film.partitions.length > MOST_CHIPS);
    this.heads = films.map(() => make("th", { scope: "col" }));
    this.cells = this.names.map(() => films.map(() => make("td", {})));
    this.orphans = films.map(() => make("td", {}));
    this.boards = this.many ? [] : films.map((film) => new MiniBoard(film, this.names));
    this.strips = films.map(() => make("canvas", { "aria-hidden": "true", class: "rk-mini" }));
    this.axes = films.map(() => make("div", { class: "rk-miniaxis", "aria-hidden": "true" }));
    this.drawnAt = "";
    /** @type {WeakMap<Element, string>} */
    this.filled = new WeakMap();
    const rows = this.names.map((name, place) => {
      const face = members.filter((member) => member.name === name).slice(0, 1).map(faceOf);
      return rowOf([...face, ` ${name}`], this.cells[place]);
    });
    const looks = { class: "rk-view rk-compare", tabindex: "0", role: "region", "aria-label": "Compare" };
    this.progress = make("small", { role: "status" });
    const head = make("thead", {}, make("tr", {}, make("td", {}), ...this.heads));
    this.costRows = costs.table.map((row) => new CostLine(row));
    const boards = this.boards.map(({ root }) => make("td", {}, root));
    const live = this.many ? [...rows, rowOf(["No owner"], this.orphans)] : [rowOf(["Members"], boards)];
    const body = make(
      "tbody",
      {},
      ...live,
      rowOf(["Whole run, s"], this.strips.map((canvas, column) => make("td", {}, canvas, this.axes[column]))),
      ...this.costRows.map((line) => line.node),
    );
    this.judged = make("span", {});
    const answer = make(
      "p",
      { class: "rk-answer" },
      make("b", {}, "What differs. "),
      `${costs.answer.join(" ")} `,
      this.judged,
    );
    const differs = make(
      "p",
      { class: "rk-differs" },
      make("b", {}, "Run by run. "),
      costs.differs.join(" "),
    );
    const drawn = make("p", { class: "rk-drawn" }, this.progress);
    this.root = make("div", looks, answer, make("table", { class: "rk-table" }, head, body), drawn, differs);
  }

  /** @param {number} at */
  paint(at) {
    this.films.forEach((film, column) => {
      const board = boardAt(film, Math.min(at, film.end));
      this.paintHead(film, board, column);
      if (!this.many) {
        this.boards[column].paint(board, this.columnWidth, this.lab.presenter.on);
        return;
      }
      this.names.forEach((name, row) => {
        const member = film.members.find((each) => each.name === name);
        this.fill(this.cells[row][column], member ? this.cellOf(film, board, member) : ["–"]);
      });
      const orphans = board.partitions.flatMap(({ owner }, partition) => owner === -1 ? partition : []);
      this.fill(this.orphans[column], orphans.length ? this.chips(film, board, orphans, null) : ["none"]);
    });
    this.paintStrips(at);
  }

  /**
   * @param {Film} film
   * @param {Board} board
   * @param {number} column
   */
  paintHead(film, board, column) {
    const { state, protocol, generation } = board.group;
    const number = generation === null ? "" : ` · ${numberWord(protocol)} ${generation}`;
    const [cause] = sentenceAt(film, board.at);
    this.fill(this.heads[column], [
      make("b", {}, this.costs.labels[column]),
      make("span", { class: "rk-count" }, `${board.flowing} of ${board.there} flow`),
      make("small", {}, `${state}${number}`),
      make("small", {}, cause),
    ]);
  }

  /**
   * @param {Film} film
   * @param {Board} board
   * @param {import("../film/format.js").Member} member
   */
  cellOf(film, board, member) {
    const words = make("small", {}, doingLine(film, board, member.index));
    return [...this.chips(film, board, board.owned[member.index], member), words];
  }

  /**
   * Partitions as small tokens, or their number where they are many.
   * @param {Film} film
   * @param {Board} board
   * @param {number[]} partitions
   * @param {import("../film/format.js").Member | null} member
   * @returns {(string | Element)[]}
   */
  chips(film, board, partitions, member) {
    if (this.many) {
      const stopped = partitions.filter((partition) => !board.partitions[partition].flows).length;
      return [`${partitions.length} partitions${stopped ? `, ${stopped} unread` : ""}`];
    }
    return partitions.map((partition) => {
      const { flows, owner, word } = board.partitions[partition];
      const name = film.partitions[partition];
      const hue = `--rk-m${member?.hue}`;
      const look = flows ? "" : owner < 0 ? " rk-loose" : " rk-halt";
      return make(
        "i",
        {
          class: `rk-small-token${look}`,
          title: `${name}: ${word}`,
          style: member && flows
            ? `background:var(${hue});color:var(${hue}o);border-color:var(${hue})`
            : null,
        },
        name.slice(name.lastIndexOf("-") + 1),
        flows ? "" : make("span", { class: "rk-status" }, ` ${word}`),
      );
    });
  }

  /**
   * The whole of each run as a small picture, drawn once per width and theme.
   * @param {number} at
   */
  paintStrips(at) {
    const { ui } = this.lab;
    const width = this.columnWidth;
    const key = `${width}${ui.root.className}`;
    const scale = new Scale(0, this.end, width);
    this.strips.forEach((canvas, column) => {
      if (this.drawnAt !== key) {
        const pen = sharpPen(canvas, width, STRIP_HEIGHT);
        new Painter(ui.root).drawRun(pen, this.films[column], scale, STRIP_HEIGHT);
        this.axes[column].replaceChildren(...this.ticksOf(scale));
      }
      canvas.parentElement?.style.setProperty("--at", `${scale.x(Math.min(at, this.end))}px`);
    });
    this.drawnAt = key;
  }

  /**
   * One axis for all runs, however long each of them is.
   * @param {Scale} scale
   */
  ticksOf(scale) {
    return scale.ticks(AXIS_STEPS_S, MOST_TICKS).ticks.map((at) =>
      make("span", { style: `left:${scale.x(at * 1000)}px` }, `${at}`)
    );
  }

  /**
   * Put this into a cell unless it stands there already.
   * @param {Element} cell
   * @param {(string | Element)[]} children
   */
  fill(cell, children) {
    const key = children.map((child) => typeof child === "string" ? child : child.outerHTML).join("");
    if (this.filled.get(cell) === key) return;
    this.filled.set(cell, key);
    cell.replaceChildren(...children);
  }

  get columnWidth() {
    const cell = this.heads[0].clientWidth || (this.lab.ui.stageHome.clientWidth - 270) / this.films.length;
    return Math.floor(cell) - 12;
  }

  /**
   * How the measures lie over draws of the same deeds; only they say what is least.
   * @param {import("./quartiles.js").Drawn} drawn
   */
  takeDraws({ count, done, wanted, rows, answer, same, window_ms: window }) {
    const what = same ? "the same actions" : "each column's own actions";
    const words = wanted
      ? `${count} of ${wanted} runs of ${what}${
        done ? "" : " …"
      }, each moved within one heartbeat and one commit ` +
        `interval (${
          window / 1000
        } s), with other latencies. Below each value: from the least to the most of them.`
      : "No draws of so large a run here; rebalance-kit run --protocol all makes them.";
    say(this.progress, words);
    say(this.judged, answer.join(" "));
    rows.forEach((row, place) => this.costRows[place].takeDraws(row, count));
  }

  /** The cost in words. */
  get twin() {
    const { labels, table, answer, differs } = this.costs;
    const rows = [["", ...labels], ...table.map((row) => [row.name, ...row.cells])];
    const told = `${answer.join(" ")} ${this.judged.textContent}`.trim();
    return `${told}\n${rows.map((row) => row.join("  |  ")).join("\n")}\n${differs.join(" ")}`;
  }
}

/**
 * @param {(string | Node)[]} head
 * @param {Node[]} cells
 */
function rowOf(head, cells) {
  return make("tr", {}, make("th", { scope: "row" }, ...head), ...cells);
}

/** One measure of the runs: its values, and how they lie over draws. */
class CostLine {
  /** @param {CostRow} row */
  constructor({ name, cells }) {
    this.chips = cells.map(() => make("span", {}));
    this.spreads = cells.map(() => make("span", {}));
    const columns = cells.map((cell, place) =>
      make("td", {}, make("b", {}, cell), this.spreads[place], this.chips[place])
    );
    this.verdict = make("small", { class: "rk-verdict" });
    this.node = rowOf([name, this.verdict], columns);
  }

  /**
   * @param {import("./quartiles.js").DrawnRow} drawn
   * @param {number} count
   */
  takeDraws({ cells, least, why }, count) {
    say(
      this.verdict,
      least === null && why ? `${why[0].toLowerCase()}${why.slice(1).split(/[:;.]/)[0]}` : "",
    );
    this.verdict.title = why;
    const most = mostOf(cells);
    cells.forEach((cell, place) => this.spreads[place].replaceChildren(...spreadStrip(cell, most, count)));
    this.chips.forEach((chip, place) =>
      chip.replaceChildren(place === least ? make("span", { class: "rk-least", title: why }, "least") : "")
    );
  }
}

/** @param {import("../film/format.js").Member} member */
function faceOf({ label, hue }) {
  const style = `--hue:var(--rk-m${hue});--on:var(--rk-m${hue}o)`;
  return make("i", { class: "rk-seat rk-in", style, "aria-hidden": "true" }, label);
}
