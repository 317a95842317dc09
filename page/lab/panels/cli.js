// What Kafka's own tools would print at the cursor.

import { make } from "../../shared/dom.js";
import { seconds } from "../film/times.js";

export class CliView {
  constructor() {
    this.root = make("div", { class: "rk-view rk-cli", tabindex: "0" });
  }

  paint() {
    if (this.drawn === this.content) return;
    this.drawn = this.content;
    this.root.replaceChildren(
      make("p", { class: "rk-dim" }, `As of ${seconds(this.content.at)}.`),
      ...this.content.blocks.flatMap(({ command, text }) => {
        const copy = make("button", { type: "button", "aria-label": `Copy ${command}` }, "Copy");
        copy.addEventListener(
          "click",
          () => navigator.clipboard && navigator.clipboard.writeText(`$ ${command}\n${text}`),
        );
        return [
          make("div", { class: "rk-command" }, make("code", {}, `$ ${command}`), copy),
          make("pre", { class: "rk-output", tabindex: "0" }, text),
        ];
      }),
    );
  }
}
