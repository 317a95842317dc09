// Talking with the kernel: one change at a time (one more waits), and looks that are answered by number.

const SLOW_MS = 300;
const DEAD_MS = 6000;

/** Requests under way. */
export class Talk {
  /**
   * @param {import("../../shared/model.js").Model} model
   * @param {(busy: boolean) => void} onBusy
   * @param {(dead: boolean) => void} onDead
   */
  constructor(model, onBusy, onDead) {
    this.model = model;
    this.onBusy = onBusy;
    this.onDead = onDead;
    /** @type {Map<number, { done: (answer: any) => void, slow: number, dead: number }>} */
    this.open = new Map();
    this.lastId = Math.floor(Math.random() * 1e9) * 1000; // two views of one lab hear each other's answers
    this.changing = false;
    /** @type {[Record<string, unknown>, (answer: any) => void] | null} */
    this.queued = null;
  }

  /**
   * A look or a change: a promise of the answer with its inflated contents; refusals arrive as answers too.
   * @param {any} message
   * @param {boolean} [quiet] nobody waits for it, so nothing says that it is under way
   */
  request(message, quiet = false) {
    const id = (this.lastId += 1);
    return new Promise((done) => {
      const waiting = { done, slow: 0, dead: 0 };
      this.open.set(id, waiting);
      this.whenReady(() => {
        if (!this.open.has(id)) return;
        waiting.slow = setTimeout(() => quiet || this.onBusy(true), SLOW_MS);
        waiting.dead = setTimeout(() => this.onDead(true), DEAD_MS);
      });
      try {
        this.model.send({ ...message, id });
      } catch {
        this.onDead(true);
      }
    });
  }

  /**
   * Nobody is late who has not begun: a page of the site is there before its Python.
   * @param {() => void} begin
   */
  whenReady(begin) {
    const { ready } = this.model;
    if (ready) ready.then(begin);
    else begin();
  }

  /**
   * @param {any} message
   * @param {DataView[]} buffers
   */
  hear(message, buffers) {
    const waiting = this.open.get(message.id);
    if (!waiting) return;
    this.open.delete(message.id);
    clearTimeout(waiting.slow);
    clearTimeout(waiting.dead);
    this.onBusy(false);
    this.onDead(false);
    waiting.done({ ...message, buffers: buffers || [] });
  }

  /**
   * Changes do not pile up: while one is on its way the latest of the others waits.
   * @param {any} message
   * @param {(answer: any) => void} follow
   */
  async change(message, follow) {
    if (this.changing) {
      this.queued = [message, follow];
      return;
    }
    this.changing = true;
    follow(await this.request(message));
    this.changing = false;
    const next = this.queued;
    this.queued = null;
    if (next) this.change(...next);
  }
}
