// The account of the run; the step at the cursor is open and says its rule.

import { make } from "../../shared/dom.js";
import { placeOf, seconds } from "../film/times.js";

export class WhyView {
  constructor(lab) {
    this.lab = lab;
    this.root = make("ol", { class: "rk-view rk-why" });
  }

  paint(at) {
    const { content, lab } = this;
    if (this.drawn !== content) {
      this.drawn = content;
      this.times = content.entries.map((entry) => entry[0]);
      this.items = content.entries.map(([from, words, rule, source]) => {
        const go = make("button", { type: "button" }, make("b", {}, seconds(from)), make("span", {}, words));
        go.addEventListener("click", () => lab.seek(from, false));
        return make("li", {}, go, make("p", {}, rule, make("cite", {}, source)));
      });
      this.root.replaceChildren(...this.items);
      this.here = null;
    }
    const here = this.items[Math.max(0, placeOf(this.times, at))];
    if (this.here === here || !here) return;
    if (this.here) this.here.removeAttribute("aria-current");
    here.setAttribute("aria-current", "step");
    this.here = here;
    this.root.scrollTop = here.offsetTop - this.root.clientHeight * 0.35;
  }
}
