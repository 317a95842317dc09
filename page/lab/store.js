// What the parts of a lab share: the run that is shown, its moment, and what is chosen in it. The lab changes it, parts read it.

/** @typedef {import("./film/format.js").Film} Film */

/** One lab's state. */
export class Store {
  /** @param {import("./time/player.js").Player} player owns the moment */
  constructor(player) {
    this.player = player;
    this.film = /** @type {Film} */ (/** @type {unknown} */ (null)); // until the first one is inflated
    /** The number of the run that is shown, as the kernel counts them. */
    this.serial = 0;
    /** The place of the selected member. */
    this.selected = 0;
    /** @type {Map<string, import("./numbers/number.js").Setting>} settings that can be dragged, by name */
    this.numbers = new Map();
    /** @type {import("./numbers/spin.js").Spin | null} the number that is being dragged */
    this.dragged = null;
  }

  /** The moment that is shown, in milliseconds. */
  get at() {
    return this.player.at;
  }

  /** The selected member; undefined in a group without one. */
  get member() {
    return this.film.members[this.selected];
  }

  /**
   * Select the member at a place, or the nearest one that there is.
   * @param {number} place
   */
  select(place) {
    this.selected = Math.max(0, Math.min(place, this.film.members.length - 1));
  }
}
