// What must always hold, and where it did not.

import { make } from "../../shared/dom.js";
import { seconds } from "../film/times.js";

/** The invariants tab. */
export class InvariantsView {
  /** @param {(at: number, dragging: boolean) => void} seek */
  constructor(seek) {
    this.seek = seek;
    this.content = /** @type {import("./content.js").InvariantsContent} */ (/** @type {unknown} */ (null));
    /** @type {unknown} */
    this.drawn = null;
    this.root = make("div", { class: "rk-view rk-invariants", tabindex: "0" });
  }

  paint() {
    if (this.drawn === this.content) return;
    this.drawn = this.content;
    const { lights, rows } = this.content;
    const broken = lights.filter(([, , seen]) => seen.length).length;
    const events = rows.toLocaleString("en");
    const good = `All ${lights.length} invariants hold in the ${events} events of this run.`;
    const bad = `${broken} of ${lights.length} invariants are broken.`;
    this.root.replaceChildren(
      make("p", {}, broken ? bad : good),
      make("ul", {}, ...lights.map((light) => this.drawLight(light))),
    );
  }

  /** @param {import("./content.js").Light} light */
  drawLight([name, statement, seen]) {
    const broken = seen.length > 0;
    const places = seen.map(([at, words]) => {
      const go = make("button", { type: "button" }, `${seconds(at)}: ${words}`);
      go.addEventListener("click", () => this.seek(at, false));
      return go;
    });
    const says = make("strong", {}, `${name}: ${broken ? "broken" : "holds"}`);
    const sign = make("b", { "aria-hidden": "true" }, broken ? "✗" : "✓");
    const text = make("span", {}, says, make("span", {}, statement), ...places);
    return make("li", { class: broken ? "rk-bad" : "rk-good" }, sign, text);
  }
}
