// What opens beside the board and never over it for long.

import { make } from "../../shared/dom.js";

/** What a drawer takes of the lab's width, and of a narrower one; below that it lies over the board for want of room. */
const DRAWERS = [[1200, 380], [860, 330]];

/** A menu or a drawer; one at a time is open. */
export class Popup {
  /**
   * @param {import("../lab.js").Lab} lab
   * @param {string} kind
   * @param {string} label
   */
  constructor(lab, kind, label) {
    this.lab = lab;
    this.kind = kind;
    /** @type {HTMLElement | null} */
    this.opener = null;
    /** @type {HTMLElement | null} */
    this.home = null;
    const looks = { class: `rk-popup rk-${kind}`, role: "dialog", "aria-label": label };
    this.root = make("div", { ...looks, hidden: true });
    this.root.addEventListener("keydown", (event) => this.onKey(event));
    this.onOutside = (/** @type {Event} */ event) => {
      const target = /** @type {Node} */ (event.target);
      if (this.keeps(target) || this.root.contains(target) || this.opener?.contains(target)) return;
      this.close(false);
    };
  }

  /**
   * Whether a click there leaves the popup open: a drawer goes on while the board is looked at.
   * @param {Node} target
   */
  keeps(target) {
    return this.kind === "drawer" && this.lab.ui.root.contains(target);
  }

  get open() {
    return !this.root.hidden;
  }

  /**
   * The width that the board leaves to an open drawer; 0 where the drawer lies over the board for want of room.
   * @param {number} outer of the lab
   */
  besideOf(outer) {
    if (this.kind !== "drawer" || !this.open) return 0;
    const [, beside] = DRAWERS.find(([from]) => outer >= from) ?? [0, 0];
    this.lab.ui.root.style.setProperty("--rk-drawer", `${beside || DRAWERS[0][1]}px`);
    return beside;
  }

  /**
   * @param {HTMLElement | null} opener its button
   * @param {...(Node | string)} content
   */
  show(opener, ...content) {
    if (!this.lab.ui.help.hidden) this.lab.legend.toggle(); // what was asked for before the legend comes after it
    if (!this.open) this.home = this.lab.focus.home(opener);
    this.lab.popups.filter((other) => other !== this).forEach((other) => other.close(false));
    this.opener = opener;
    const closer = make("button", { type: "button", class: "rk-close", "aria-label": "Close" }, "×");
    closer.addEventListener("click", () => this.close(true));
    this.root.replaceChildren(closer, ...content);
    this.root.hidden = false;
    if (this.kind === "drawer") this.lab.screen.refit();
    this.place(opener);
    document.addEventListener("pointerdown", this.onOutside);
    const first = this.root.querySelector(":checked[type=radio]") ??
      this.root.querySelector("[autofocus], input[type=search], .rk-item, input, select");
    (first instanceof HTMLElement ? first : closer).focus();
  }

  /**
   * A menu opens where its button is: above it in the lower half of the lab, else below the header, and on its side.
   * @param {HTMLElement | null} opener
   */
  place(opener) {
    const home = this.lab.ui.root, { style } = this.root;
    if (opener && !opener.checkVisibility()) opener = this.lab.ui.menuButton; // folded into it
    const box = opener?.closest(".rk-actions, .rk-transport")?.getBoundingClientRect();
    const low = this.kind === "menu" && opener && box;
    this.root.classList.toggle("rk-low", !!low);
    style.left =
      style.right =
      style.bottom =
      style.height =
      style.maxHeight =
        "";
    if (this.kind === "drawer") this.endAbove(this.lab.ui.actionBar, this.lab.ui.transport);
    if (this.kind !== "menu" || !opener) return;
    const outer = home.getBoundingClientRect(), scale = outer.width / home.offsetWidth;
    const left = (opener.getBoundingClientRect().left - outer.left) / scale;
    if (!low) {
      if (left < home.offsetWidth / 3) {
        Object.assign(style, { left: `${Math.max(20, left)}px`, right: "auto" });
      }
      return;
    }
    style.bottom = `${(outer.bottom - box.top) / scale + 2}px`;
    style.maxHeight = `${(box.top - Math.max(outer.top, 0)) / scale - 6}px`; // title and × stay in sight
    style.left = `${Math.max(20, Math.min(left, home.offsetWidth - this.root.offsetWidth - 20))}px`;
  }

  /**
   * A drawer leaves the deeds, the buttons of time and the strip in sight, however high they become.
   * @param {...HTMLElement} bars of which the first that is shown ends it
   */
  endAbove(...bars) {
    const bar = bars.find((node) => node.offsetHeight > 0);
    if (!bar) return;
    this.root.style.bottom = "auto";
    this.root.style.height = `${bar.offsetTop - this.root.offsetTop}px`;
  }

  /** @param {boolean} back whether the focus goes back to where it was */
  close(back) {
    if (this.root.hidden) return;
    this.root.hidden = true;
    if (this.kind === "drawer") this.lab.screen.refit();
    document.removeEventListener("pointerdown", this.onOutside);
    if (back) this.lab.focus.giveBack(this.home);
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
    const searching = document.activeElement?.matches("input[type=search]");
    if (searching && items[0] instanceof HTMLElement && (step > 0 || event.key === "Enter")) {
      event.preventDefault();
      if (step) items[0].focus();
      else items[0].click();
      return;
    }
    const next = items[(at + step + items.length) % items.length];
    if (!step || at < 0 || !(next instanceof HTMLElement)) return;
    event.preventDefault();
    next.focus();
  }
}
