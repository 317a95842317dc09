// What opens beside the board and never over it for long.

import { make } from "../../shared/dom.js";

export class Popup {
  constructor(lab, kind, label) {
    this.lab = lab;
    this.root = make("div", {
      class: `rk-popup rk-${kind}`,
      role: "dialog",
      "aria-label": label,
      hidden: true,
    });
    this.root.addEventListener("keydown", (event) => this.onKey(event));
  }

  get open() {
    return !this.root.hidden;
  }

  show(opener, ...content) {
    this.lab.popups.forEach((other) => {
      if (other !== this) other.close(false);
    });
    this.opener = opener;
    const closer = make("button", { type: "button", class: "rk-close", "aria-label": "Close" }, "×");
    closer.addEventListener("click", () => this.close(true));
    this.root.replaceChildren(closer, ...content);
    this.root.hidden = false;
    const first = this.root.querySelector("[autofocus], input, select, .rk-item") || closer;
    first.focus();
  }

  close(back) {
    if (this.root.hidden) return;
    this.root.hidden = true;
    if (back && this.opener && this.opener.isConnected) this.opener.focus();
  }

  onKey(event) {
    if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      this.close(true);
      return;
    }
    const items = [...this.root.querySelectorAll(".rk-item")], at = items.indexOf(document.activeElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && items.length && at >= 0) {
      event.preventDefault();
      items[(at + step + items.length) % items.length].focus();
    }
    event.stopPropagation();
  }
}
