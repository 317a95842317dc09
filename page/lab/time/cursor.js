// The cursor that page and kernel share.

/** Sends the page's moment to the kernel, and follows the kernel's. */
export class Cursor {
  /**
   * @param {import("../store.js").Store} store
   * @param {import("../../shared/model.js").Model} model
   * @param {() => void} paint
   */
  constructor(store, model, paint) {
    this.store = store;
    this.model = model;
    this.paint = paint;
    this.sent = -1;
  }

  /** The kernel has moved it. */
  follow() {
    const { store: { film, player }, model } = this;
    const at = model.get("cursor_ms");
    if (!film || player.playing || at === this.sent || at === Math.round(player.at)) return;
    player.seek(at);
    this.paint();
  }

  /** The page has moved it. */
  send() {
    const { store: { player }, model } = this;
    this.sent = Math.round(player.at);
    if (model.get("cursor_ms") === this.sent) return;
    model.set("cursor_ms", this.sent);
    model.save_changes();
  }
}
