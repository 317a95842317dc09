// A number in a text that is dragged with the pointer or stepped with keys.

import { make, say, set } from "../../shared/dom.js";
import { showSettings } from "../dialogs/settings.js";
import { Drag } from "./drag.js";
import { inWords, PIXELS, stepsOfKey } from "./number.js";

/** @typedef {import("./number.js").Setting} Setting */

/** The number of one setting, wherever it stands. */
export class Spin {
  /**
   * @param {import("../lab.js").Lab} lab
   * @param {string} name of the setting
   * @param {HTMLElement} [handle] what is dragged instead of a number in a text
   */
  constructor(lab, name, handle) {
    this.lab = lab;
    this.name = name;
    /** @type {Drag | null} */
    this.drag = null;
    this.from = 0;
    this.shown = NaN;
    this.inText = handle === undefined;
    this.node = handle ??
      make("b", { class: "rk-number-spin", tabindex: "0", role: "spinbutton", "aria-label": name });
    this.node.addEventListener("pointerdown", (event) => this.press(event));
    this.node.addEventListener("pointermove", (event) => this.move(event));
    this.node.addEventListener("pointerup", () => this.lift());
    this.node.addEventListener("pointercancel", () => this.giveBack());
    this.node.addEventListener("keydown", (event) => this.onKey(event));
    this.node.addEventListener("blur", () => this.release());
    /** @type {(value: number, refused: string) => void} */
    this.onValue = (value, refused) => this.show(value, refused);
  }

  /** @returns {Setting | undefined} */
  get setting() {
    return this.lab.store.numbers.get(this.name);
  }

  get active() {
    return this.drag !== null || document.activeElement === this.node;
  }

  /** Show the value that holds; while it is dragged, where it was dragged to. */
  paint() {
    const { setting } = this;
    if (setting && !this.drag && setting.value !== this.shown) this.show(setting.value, "");
  }

  /**
   * @param {number} value
   * @param {string} refused
   */
  show(value, refused) {
    this.shown = value;
    const words = inWords(this.name, value);
    say(this.node, words);
    set(this.node, "aria-valuenow", value);
    set(this.node, "aria-valuetext", refused ? `${words}, refused: ${refused}` : words);
    set(this.node, "aria-valuemin", this.setting?.least ?? 0);
    set(this.node, "aria-invalid", refused ? "true" : null);
    if (refused) this.lab.refuse(refused);
  }

  begin() {
    const { setting, lab } = this;
    if (this.drag || !setting || lab.alone || lab.predict.on) return;
    lab.player.pause();
    lab.store.dragged = this;
    this.drag = new Drag(lab, setting, (value, refused) => this.onValue(value, refused));
  }

  /** @param {PointerEvent} event */
  press(event) {
    if (event.button !== 0) return;
    event.preventDefault();
    event.stopPropagation();
    this.node.focus();
    this.begin();
    this.from = event.clientX;
    this.node.setPointerCapture(event.pointerId);
  }

  /** @param {PointerEvent} event */
  move(event) {
    if (!this.drag || !this.node.hasPointerCapture(event.pointerId)) return;
    this.drag.to(Math.trunc((event.clientX - this.from) / PIXELS));
  }

  /** A click that dragged nothing, and Enter, open the field of the number in Settings. */
  open() {
    const { lab, name, setting } = this;
    if (setting && !lab.alone && !lab.predict.on) void showSettings(lab, lab.ui.settingsButton, name);
  }

  lift() {
    const clicked = this.drag?.steps === 0 && this.inText;
    this.release();
    if (clicked) this.open();
  }

  release() {
    this.end()?.keep();
    this.paint();
  }

  giveBack() {
    this.end()?.back();
  }

  end() {
    const { drag } = this;
    this.drag = null;
    if (drag) this.lab.store.dragged = null;
    return drag;
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const steps = stepsOfKey(event.key);
    const opens = event.key === "Enter" && !this.drag && this.inText;
    if (steps === null && !opens && !(this.drag && ["Escape", "Enter"].includes(event.key))) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === "Escape") this.giveBack();
    else if (opens) this.open();
    else if (event.key === "Enter") this.release();
    else {
      this.begin();
      this.drag?.to(this.drag.steps + (steps ?? 0));
    }
  }
}
