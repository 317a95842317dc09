// Presenting: the board fills the screen, and everything else comes back for four seconds at any key or move.

import { set } from "../../shared/dom.js";

const AWAKE_MS = 4000;

/** Full screen for a room. */
export class Presenter {
  /** @param {import("../lab.js").Lab} lab */
  constructor(lab) {
    this.lab = lab;
    this.on = false;
    this.sleeping = 0;
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
    if (this.on) this.awake();
    else ui.root.classList.remove("rk-quiet");
    theme.apply();
    requestAnimationFrame(() => {
      screen.refit();
      if (this.on) screen.focusTarget().focus();
    });
  }

  awake() {
    if (!this.on) return;
    const { root } = this.lab.ui;
    root.classList.remove("rk-quiet");
    clearTimeout(this.sleeping);
    this.sleeping = setTimeout(() => {
      if (!this.on || root.querySelector(".rk-popup:not([hidden])")) return;
      root.classList.add("rk-quiet");
      const { activeElement } = document;
      const hidden = activeElement?.closest(".rk-tabs, .rk-actions, .rk-transport, .rk-head > button");
      if (activeElement === document.body || hidden) this.lab.screen.focusTarget().focus();
    }, AWAKE_MS);
  }
}
