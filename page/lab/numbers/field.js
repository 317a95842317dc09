// A field of Settings whose number is stepped with keys, or dragged by its label.

import { Drag } from "./drag.js";
import { asKafkaWrites, PIXELS, stepsOfKey } from "./number.js";

const KEYS = new Set(["ArrowUp", "ArrowDown", "PageUp", "PageDown"]);

/** What a drag of a field tells: the value that it was dragged to, or Kafka's words against it. */
export class FieldDrag {
  /**
   * @param {import("../lab.js").Lab} lab
   * @param {string} name of the setting
   * @param {HTMLInputElement} input
   * @param {HTMLElement} handle
   * @param {(value: number, refused: string) => void} show
   * @param {(words: string) => void} told
   */
  constructor(lab, name, input, handle, show, told) {
    this.lab = lab;
    this.name = name;
    this.input = input;
    this.handle = handle;
    this.show = show;
    this.told = told;
    /** @type {Drag | null} */
    this.drag = null;
    this.from = 0;
    handle.classList.add("rk-drags");
    handle.title = "Drag to change; the arrow keys step it in the field";
    handle.addEventListener("pointerdown", (event) => this.press(event));
    handle.addEventListener("pointermove", (event) => this.move(event));
    handle.addEventListener("pointerup", () => this.release());
    handle.addEventListener("pointercancel", () => this.giveBack());
    input.addEventListener("blur", () => this.release());
  }

  /** A drag goes on from what stands in the field. */
  begin() {
    const setting = this.lab.store.numbers.get(this.name);
    const typed = asKafkaWrites(this.name, this.input.value).trim();
    const value = Number(typed);
    if (this.drag || !setting || typed === "" || !Number.isFinite(value)) return;
    this.lab.player.pause();
    this.drag = new Drag(this.lab, { ...setting, value }, this.show);
    this.drag.onTold = this.told;
  }

  /** @param {PointerEvent} event */
  press(event) {
    if (event.button !== 0) return;
    event.preventDefault();
    this.input.focus();
    this.begin();
    this.from = event.clientX;
    this.handle.setPointerCapture(event.pointerId);
  }

  /** @param {PointerEvent} event */
  move(event) {
    if (!this.handle.hasPointerCapture(event.pointerId)) return;
    this.drag?.to(Math.trunc((event.clientX - this.from) / PIXELS));
  }

  release() {
    const { drag } = this;
    this.drag = null;
    drag?.keep();
  }

  giveBack() {
    const { drag } = this;
    this.drag = null;
    drag?.back();
  }

  /**
   * Whether the key was the field's: a step, or Esc while it is being changed.
   * @param {KeyboardEvent} event
   */
  takes(event) {
    if (event.key === "Escape" && this.drag) this.giveBack();
    else if (KEYS.has(event.key)) {
      this.begin();
      const steps = (stepsOfKey(event.key) ?? 0) * (event.shiftKey ? 10 : 1);
      this.drag?.to(this.drag.steps + steps);
    } else return false;
    return true;
  }
}
