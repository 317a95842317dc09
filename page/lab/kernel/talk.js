// Talking with the kernel: one change at a time (one more waits), and looks that are answered by number.

const SLOW_MS = 300;
const DEAD_MS = 6000;

export class Talk {
  constructor(model, onBusy, onDead) {
    this.model = model;
    this.onBusy = onBusy;
    this.onDead = onDead;
    this.open = new Map();
    this.lastId = Math.floor(Math.random() * 1e9) * 1000; // two views of one lab hear each other's answers
    this.changing = false;
    this.queued = null;
  }

  // A look or a change: a promise of the answer with its inflated contents; refusals arrive as answers too.
  request(message) {
    const id = (this.lastId += 1);
    return new Promise((done) => {
      const slow = setTimeout(() => this.onBusy(true), SLOW_MS);
      const dead = setTimeout(() => this.onDead(true), DEAD_MS);
      this.open.set(id, { done, slow, dead, begun: performance.now() });
      try {
        this.model.send({ ...message, id });
      } catch {
        this.onDead(true);
      }
    });
  }

  hear(message, buffers) {
    const waiting = this.open.get(message.id);
    if (!waiting) return;
    this.open.delete(message.id);
    clearTimeout(waiting.slow);
    clearTimeout(waiting.dead);
    this.roundTrip = performance.now() - waiting.begun;
    this.onBusy(false);
    this.onDead(false);
    waiting.done({ ...message, buffers: buffers || [] });
  }

  // Changes do not pile up: while one is on its way the latest of the others waits.
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
