// What Kafka's own tools would print at the cursor.

import { make } from "../../shared/dom.js";
import { seconds } from "../film/times.js";
import { copyText } from "./copy.js";

/** The CLI tab. */
export class CliView {
  /** @param {(words: string) => void} tell */
  constructor(tell) {
    this.tell = tell;
    this.content = /** @type {import("./content.js").CliContent} */ (/** @type {unknown} */ (null));
    /** @type {unknown} */
    this.drawn = null;
    this.root = make("div", { class: "rk-view rk-cli", tabindex: "0" });
  }

  paint() {
    if (this.drawn === this.content) return;
    this.drawn = this.content;
    const { at, blocks } = this.content;
    this.root.replaceChildren(
      make("p", { class: "rk-dim" }, `As of ${seconds(at)}.`),
      ...blocks.flatMap(({ command, text }) => this.drawBlock(command, text)),
    );
  }

  /**
   * @param {string} command
   * @param {string} text
   */
  drawBlock(command, text) {
    const copy = make("button", { type: "button", "aria-label": `Copy ${command}` }, "Copy");
    copy.addEventListener(
      "click",
      () => copyText(`$ ${command}\n${text}`, this.tell, "Copied."),
    );
    return [
      make("div", { class: "rk-command" }, make("code", {}, `$ ${command}`), copy),
      make("pre", { class: "rk-output", tabindex: "0" }, text),
    ];
  }
}
