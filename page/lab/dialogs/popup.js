// What opens beside the board and never over it for long.

import { make } from "../../shared/dom.js";

/** A menu or a drawer; one at a time is open. */
export class Popup {
  /**
   * @param {import("../lab.js").Lab} lab
   * @param {string} kind
   * @param {string} label
   */
  constructor(lab, kind, label) {
    this.lab = lab;
    /** @type {HTMLElement | null} */
    this.opener = null;
    const looks = { class: `rk-popup rk-${kind}`, role: "dialog", "aria-label": label };
    this.root = make("div", { ...looks, hidden: true });
    this.root.addEventListener("keydown", (event) => this.onKey(event));
  }

  get open() {
    return !this.root.hidden;
  }

  /**
   * @param {HTMLElement | null} opener where the focus goes when it closes
   * @param {...(Node | string)} content
   */
  show(opener, ...content) {
    this.lab.popups.filter((other) => other !== this).forEach((other) => other.close(false));
    this.opener = opener;
    const closer = make("button", { type: "button", class: "rk-close", "aria-label": "Close" }, "×");
    closer.addEventListener("click", () => this.close(true));
    this.root.replaceChildren(closer, ...content);
    this.root.hidden = false;
    const first = this.root.querySelector("[autofocus], input, select, .rk-item");
    (first instanceof HTMLElement ? first : closer).focus();
  }

  /** @param {boolean} back whether the focus goes back to the opener */
  close(back) {
    if (this.root.hidden) return;
    this.root.hidden = true;
    if (back && this.opener?.isConnected) this.opener.focus();
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    event.stopPropagation();
    if (event.key === "Escape") {
      event.preventDefault();
      this.close(true);
    }
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    const items = [...this.root.querySelectorAll(".rk-item")];
    const at = items.findIndex((item) => item === document.activeElement);
    const next = items[(at + step + items.length) % items.length];
    if (!step || at < 0 || !(next instanceof HTMLElement)) return;
    event.preventDefault();
    next.focus();
  }
}
