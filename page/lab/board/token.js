// A partition's token: it stands in its owner's lane or in the rail, and flies when it changes hands.

import { make, say, set } from "../../shared/dom.js";
import { GONE } from "../film/format.js";
import { positionAt } from "../film/positions.js";
import { placeOf } from "../film/times.js";
import { tokenWord } from "../words/lines.js";
import { paintDelivered, paintLag, paintRecords } from "./records.js";
import { tokenBox } from "./sizes.js";

const GHOST_MS = 1500;

/** One token of the stage. */
export class Token {
  /**
   * @param {string} name
   * @param {number} index
   * @param {HTMLElement} layer
   */
  constructor(name, index, layer) {
    this.name = name;
    this.index = index;
    this.layer = layer;
    this.word = make("span", { class: "rk-word" });
    this.records = make("span", { class: "rk-records" });
    this.lag = make("i", { class: "rk-lag" });
    this.twice = make("span", { class: "rk-twice" });
    this.skipped = make("span", { class: "rk-skipped" });
    this.box = { x: 0, y: 0, width: 0, height: 0 };
    this.key = "";
    this.colours = "";
    this.recordsKey = "";
    this.lagWidth = "";
    const cut = name.lastIndexOf("-") + 1;
    const topic = make("span", {}, name.slice(0, cut));
    this.node = make(
      "div",
      { class: "rk-token", "data-partition": name },
      make("i", { class: "rk-notch" }),
      make("span", { class: "rk-part" }, topic, make("b", {}, name.slice(cut))),
      this.word,
      this.records,
      this.lag,
      make("span", { class: "rk-delivered" }, this.twice, this.skipped),
    );
    layer.append(this.node);
  }

  /**
   * Draw one moment. `moving` lets the token fly.
   * @param {import("../film/format.js").Film} film
   * @param {import("../film/board.js").Board} board
   * @param {import("./sizes.js").LaneSizes} sizes
   * @param {boolean} moving
   */
  paint(film, board, sizes, moving) {
    const state = board.partitions[this.index];
    this.node.hidden = state.owner === GONE;
    if (state.owner === GONE) {
      this.key = "";
      return;
    }
    const track = film.slots[this.index];
    const slot = track.slots[Math.max(0, placeOf(track.times, board.at))];
    this.moveTo(
      tokenBox(sizes, state.owner, slot),
      moving ? ownerOf(film, state, "label", "no owner") : null,
      sizes,
    );
    this.colour(film, state);
    set(this.node, "data-owner", ownerOf(film, state, "name", ""));
    set(this.node, "data-word", state.word);
    set(this.node, "data-flows", state.flows ? "yes" : "no");
    say(this.word, tokenWord(film, this.index, state, board.at, this.box));
    const records = positionAt(film, this.index, board.at, state.flows);
    paintLag(this, records, film.mostLag);
    paintDelivered(this, film, board.at);
    if (this.box.height >= 50) {
      const { width } = this.box;
      const counts = width >= (state.flows ? 0.6 : 1) * sizes.counted;
      paintRecords(this, records, width, counts, width >= sizes.whole);
    }
  }

  /**
   * @param {import("./sizes.js").Box} box
   * @param {string | null} towards who gets it, where the token may fly
   * @param {import("./sizes.js").LaneSizes} sizes
   */
  moveTo(box, towards, { whole, worded }) {
    const key = `${box.x},${box.y},${box.width},${box.height}`;
    if (key === this.key) return;
    const flies = towards !== null && this.key !== "";
    if (flies) this.leaveGhost(towards);
    const { classList, style } = this.node;
    classList.toggle("rk-fly", flies);
    style.transform = `translate(${box.x}px,${box.y}px)`;
    style.width = `${box.width}px`;
    style.height = `${box.height}px`;
    classList.toggle("rk-bare", !!box.bare);
    classList.toggle("rk-chip", box.height < 50);
    classList.toggle("rk-mid", box.height >= 50 && box.width < whole);
    classList.toggle("rk-tiny", box.height < 50 && box.width < worded);
    this.key = key;
    this.box = box;
  }

  /**
   * The colour of its owner, or of the last one.
   * @param {import("../film/format.js").Film} film
   * @param {import("../film/format.js").PartitionState} state
   */
  colour(film, state) {
    const shown = state.owner >= 0 ? state.owner : state.last;
    const hue = shown >= 0 ? `--rk-m${film.members[shown].hue}` : "";
    if (this.colours === (hue || "none")) return;
    this.colours = hue || "none";
    this.node.style.setProperty("--hue", hue ? `var(${hue})` : "var(--rk-ink)");
    this.node.style.setProperty("--tint", hue ? `var(${hue}t)` : "var(--rk-surface)");
  }

  /**
   * For a moment it stays seen where the token left, and whom it went to.
   * @param {string} towards
   */
  leaveGhost(towards) {
    const { x, y, width, height } = this.box;
    const style = `transform:translate(${x}px,${y}px);width:${width}px;height:${height}px`;
    const words = width < 130 ? `→ ${towards}` : `${this.name} → ${towards}`;
    const ghost = make("div", { class: "rk-ghost", style }, words);
    this.layer.prepend(ghost);
    setTimeout(() => ghost.remove(), GHOST_MS);
  }
}

/**
 * @param {import("../film/format.js").Film} film
 * @param {import("../film/format.js").PartitionState} state
 * @param {"name" | "label"} key
 * @param {string} otherwise
 */
function ownerOf(film, state, key, otherwise) {
  return state.owner < 0 ? otherwise : film.members[state.owner][key];
}
