// The cursor that page and kernel share.

/** Sends the page's moment to the kernel, and follows the kernel's. */
export class Cursor {
  /** @param {import("../lab.js").Lab} lab */
  constructor(lab) {
    this.lab = lab;
    this.sent = -1;
  }

  /** The kernel has moved it. */
  follow() {
    const { film, player, model } = this.lab;
    const at = model.get("cursor_ms");
    if (!film || player.playing || at === this.sent || at === Math.round(player.at)) return;
    player.seek(at);
    this.lab.paint(false);
  }

  /** The page has moved it. */
  send() {
    const { player, model } = this.lab;
    this.sent = Math.round(player.at);
    if (model.get("cursor_ms") === this.sent) return;
    model.set("cursor_ms", this.sent);
    model.save_changes();
  }
}
