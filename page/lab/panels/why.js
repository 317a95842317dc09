// The account of the run; the step at the cursor is open and says its rule.

import { make } from "../../shared/dom.js";
import { Said } from "../numbers/said.js";
import { placeOf, seconds } from "../film/times.js";

/** The why tab. */
export class WhyView {
  /**
   * @param {import("../lab.js").Lab} lab
   * @param {() => number | null} [lit] the number of the entry that is open whatever the cursor says
   */
  constructor(lab, lit = () => null) {
    this.lab = lab;
    this.lit = lit;
    this.content = /** @type {import("./content.js").WhyContent} */ (/** @type {unknown} */ (null));
    /** @type {unknown} */
    this.drawn = null;
    /** @type {number[]} */
    this.times = [];
    /** @type {HTMLElement[]} */
    this.items = [];
    /** @type {HTMLElement | null} */
    this.here = null;
    /** @type {number | null} the entry that was clicked, while the cursor stands at its moment */
    this.chosen = null;
    this.root = make("ol", { class: "rk-view rk-why" });
  }

  /** @param {number} at */
  paint(at) {
    if (this.drawn !== this.content) this.draw();
    if (this.chosen !== null && this.times[this.chosen] !== at) this.chosen = null;
    const here = this.items[this.lit() ?? this.chosen ?? Math.max(0, placeOf(this.times, at))];
    if (this.here === here || !here) return;
    this.here?.removeAttribute("aria-current");
    here.setAttribute("aria-current", "step");
    this.here = here;
    const { clientHeight } = this.root;
    const above = Math.min(clientHeight * 0.35, clientHeight - here.offsetHeight - 8);
    this.root.scrollTop = here.offsetTop - Math.max(0, above);
  }

  draw() {
    const { entries } = this.content;
    this.drawn = this.content;
    this.here = null;
    this.times = entries.map(([at]) => at);
    this.items = entries.map(([at, words, rule, source], place) => {
      const told = make("span", {});
      new Said(this.lab, told).say(rule);
      const go = make("button", { type: "button" }, make("b", {}, seconds(at)), make("span", {}, words));
      go.addEventListener("click", () => {
        this.chosen = place;
        this.lab.seek(at, false);
      });
      return make("li", {}, go, make("p", {}, told, " ", make("cite", {}, ...humps(source))));
    });
    this.root.replaceChildren(...this.items);
  }
}

/**
 * Names of Kafka's classes and methods, which may break before a capital.
 * @param {string} source
 */
function humps(source) {
  return source.split(/(?<=[a-z])(?=[A-Z])/).flatMap((part) => [make("wbr", {}), part]);
}
