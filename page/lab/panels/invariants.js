// What must always hold, and where it did not.

import { make } from "../../shared/dom.js";
import { seconds } from "../film/times.js";

export class InvariantsView {
  constructor(lab) {
    this.lab = lab;
    this.root = make("div", { class: "rk-view rk-invariants", tabindex: "0" });
  }

  paint() {
    if (this.drawn === this.content) return;
    this.drawn = this.content;
    const { lights, rows } = this.content, broken = lights.filter((one) => one[2].length).length;
    this.root.replaceChildren(
      make(
        "p",
        {},
        broken
          ? `${broken} of ${lights.length} invariants are broken.`
          : `All ${lights.length} invariants hold in the ${rows.toLocaleString("en")} events of this run.`,
      ),
      make(
        "ul",
        {},
        ...lights.map(([name, statement, seen]) => {
          const found = seen.map(([at, words]) => {
            const go = make("button", { type: "button" }, `${seconds(at)}: ${words}`);
            go.addEventListener("click", () => this.lab.seek(at, false));
            return go;
          });
          return make(
            "li",
            { class: seen.length ? "rk-bad" : "rk-good" },
            make("b", { "aria-hidden": "true" }, seen.length ? "✗" : "✓"),
            make(
              "span",
              {},
              make("strong", {}, `${name}: ${seen.length ? "broken" : "holds"}`),
              make("span", {}, statement),
              ...found,
            ),
          );
        }),
      ),
    );
  }
}
