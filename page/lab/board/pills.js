// Messages that travel on the board as pills, each from the moment at which it is sent.

import { placeOf } from "../film/times.js";

/** Messages of a longer stretch are not shown: it was a jump, nobody could follow. */
const WITHIN_MS = 200;

/** The pills of the run that is shown. */
export class Pills {
  /**
   * @param {import("../store.js").Store} store
   * @param {import("../screen/theme.js").Options} options
   * @param {(message: import("../film/format.js").Message) => void} show lets one travel
   */
  constructor(store, options, show) {
    this.store = store;
    this.options = options;
    this.show = show;
    /** @type {import("../film/format.js").Film | null} */
    this.film = null;
    /** @type {number[]} */
    this.times = [];
  }

  /**
   * Let the messages of a moment travel.
   * @param {number} from
   * @param {number} to
   */
  upTo(from, to) {
    const { store: { film }, options } = this;
    if (to - from > WITHIN_MS || options.pills === "none") return;
    if (this.film !== film) {
      this.film = film;
      this.times = film.messages.map((message) => message.sent);
    }
    const { times } = this;
    for (let place = placeOf(times, from) + 1; place < times.length && times[place] <= to; place += 1) {
      const message = film.messages[place];
      if (options.pills === "all" || !message.quiet) this.show(message);
    }
  }
}
