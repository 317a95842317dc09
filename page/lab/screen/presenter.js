// Presenting: the board fills the screen; what a room needs is large, and everything else is behind "⋯" and its keys.

import { set } from "../../shared/dom.js";

/** Full screen for a room. */
export class Presenter {
  /** @param {import("../lab.js").Lab} lab */
  constructor(lab) {
    this.lab = lab;
    this.on = false;
    this.onFull = () => {
      if (!document.fullscreenElement && this.on) this.toggle();
    };
    document.addEventListener("fullscreenchange", this.onFull);
  }

  close() {
    document.removeEventListener("fullscreenchange", this.onFull);
  }

  toggle() {
    const { ui, theme, screen } = this.lab;
    this.on = !this.on;
    set(ui.presentButton, "aria-pressed", this.on ? "true" : "false");
    ui.root.classList.toggle("rk-present", this.on);
    if (this.on) ui.root.requestFullscreen?.().catch(() => {});
    else if (document.fullscreenElement) document.exitFullscreen();
    ui.root.style.zoom = "";
    theme.apply();
    requestAnimationFrame(() => {
      screen.refit();
      if (this.on) screen.focusAfterChange();
    });
  }
}
