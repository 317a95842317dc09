// Where the keys go after the mouse: back to the board, so that Space plays and presses no button once more.

/** Follows whether the hand is at the mouse or at the keys. */
export class Focus {
  /** @param {import("../lab.js").Lab} lab */
  constructor(lab) {
    this.lab = lab;
    this.byMouse = false;
    /** @type {Element | null} what had the focus last, until it goes elsewhere */
    this.last = null;
    this.onLostKey = (/** @type {KeyboardEvent} */ event) => this.afterLoss(event);
  }

  listen() {
    const { root } = this.lab.ui;
    root.addEventListener("pointerdown", () => (this.byMouse = true), true);
    root.addEventListener("keydown", () => (this.byMouse = false), true);
    root.addEventListener("focusin", ({ target }) => (this.last = /** @type {Element} */ (target)));
    root.addEventListener("focusout", ({ target, relatedTarget }) => {
      const gone = !(/** @type {Element} */ (target).checkVisibility());
      if (!gone && !(relatedTarget instanceof Node && root.contains(relatedTarget))) this.last = null;
    });
    document.addEventListener("keydown", this.onLostKey, true);
    root.addEventListener("click", (event) => {
      this.afterClick(event);
      this.afterClickOnNothing(event);
    });
  }

  close() {
    document.removeEventListener("keydown", this.onLostKey, true);
  }

  /**
   * A key that reaches nobody, because what had the focus was hidden or taken out by what was done, is the lab's still; so
   * is any such key while the lab fills the screen or its legend is open.
   * @param {KeyboardEvent} event
   */
  afterLoss(event) {
    const { lab, last } = this;
    if (event.target !== document.body) return;
    const hidden = last !== null && !(last.isConnected && last.checkVisibility());
    if (!hidden && !lab.presenter.on && lab.ui.help.hidden) return;
    const open = lab.popups.find((popup) => popup.open);
    if (open) open.root.focus();
    else lab.screen.focusAfterChange();
    lab.onKey(event);
  }

  /** @param {MouseEvent} event */
  afterClick({ detail, target }) {
    const node = /** @type {Element} */ (target).closest(".rk-head button, .rk-transport button, .rk-share");
    const { activeElement } = document;
    if (!node || !detail || (activeElement !== node && activeElement !== document.body)) return;
    this.lab.screen.focusAfterChange();
  }

  /**
   * A click on something that takes no focus leaves the keys with the lab, unless text is being selected.
   * @param {MouseEvent} event
   */
  afterClickOnNothing({ target }) {
    const { lab } = this;
    if (lab.ui.root.contains(document.activeElement) || !document.getSelection()?.isCollapsed) return;
    if (/** @type {Element} */ (target).closest(".rk-popup, .rk-keys, .rk-twin")) return;
    lab.screen.focusAfterChange();
  }

  /**
   * Where the focus goes when what opens now is closed: where it was; the board where it was opened by mouse.
   * @param {HTMLElement | null} opener
   * @returns {HTMLElement | null}
   */
  home(opener) {
    const { activeElement } = document;
    if (this.byMouse) return null;
    const inside = activeElement instanceof HTMLElement && this.lab.ui.root.contains(activeElement) &&
      !activeElement.closest(".rk-popup");
    return inside ? activeElement : opener;
  }

  /** @param {HTMLElement | null} home as `home` said */
  giveBack(home) {
    if (home?.isConnected && home.checkVisibility()) home.focus();
    else this.lab.screen.focusAfterChange();
  }
}
