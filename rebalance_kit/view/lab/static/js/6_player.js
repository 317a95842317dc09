// The clock: play, pause, step, speed. Auto hurries through quiet time, slows down near events, and gives
// events that follow each other within moments enough time to be seen. The label always says the pace.

const SPEEDS = ["Auto", 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 100];
const STILL_MS = 1200;
const NEAR = 1000, FAST = 8, SLOW = 0.5, SEEN_MS = 450, SLOWEST = 0.02;

class Player {
  constructor(onTick, onStop, still) {
    this.still = still;
    this.at = 0;
    this.playing = false;
    this.speed = "Auto";
    this.onTick = onTick;
    this.onStop = onStop;
    this.film = null;
  }

  load(film) {
    this.film = film;
    this.at = Math.min(this.at, film.end);
    const times = [...film.marks.map((mark) => mark.at), ...film.groupTrack.times];
    if (film.slots.length <= 64) film.slots.forEach((track) => times.push(...track.times.slice(1)));
    this.busy = [...new Set(times)].sort((a, b) => a - b);
  }

  pace(at) {
    if (this.speed !== "Auto") return this.speed;
    const place = placeOf(this.busy, at);
    const gap = place >= 0 && place + 1 < this.busy.length ? this.busy[place + 1] - this.busy[place] : Infinity;
    if (gap < SEEN_MS * SLOW) return Math.max(SLOWEST, Math.round((100 * gap) / SEEN_MS) / 100);
    const near = (place >= 0 && at - this.busy[place] < NEAR) || (place + 1 < this.busy.length && this.busy[place + 1] - at < NEAR);
    return near ? SLOW : FAST;
  }

  play() {
    if (this.playing) return;
    if (this.at >= this.film.end) this.at = 0;
    this.playing = true;
    this.last = null;
    if (this.still()) this.walk(); else this.frame = requestAnimationFrame((now) => this.tick(now));
  }

  // With less motion, play goes from event to event and rests at each.
  walk() {
    this.pacing = setTimeout(() => {
      const from = this.at;
      this.step(1, this.film.events);
      this.onTick(from, this.at);
      if (this.at >= this.film.end) this.pause(); else if (this.playing) this.walk();
    }, STILL_MS);
  }

  pause() {
    if (!this.playing) return;
    this.playing = false;
    cancelAnimationFrame(this.frame);
    clearTimeout(this.pacing);
    this.onStop();
  }

  tick(now) {
    if (!this.playing) return;
    let left = this.last === null ? 0 : Math.min(100, now - this.last);
    this.last = now;
    const from = this.at;
    while (left > 0) {
      const piece = Math.min(left, 16);
      this.at += piece * this.pace(this.at);
      left -= piece;
    }
    this.at = Math.min(Math.round(this.at * 10) / 10, this.film.known);
    this.onTick(from, this.at);
    if (this.at >= this.film.end) { this.pause(); return; }
    this.frame = requestAnimationFrame((next) => this.tick(next));
  }

  seek(at) {
    this.at = Math.max(0, Math.min(Math.round(at), this.film.end));
  }

  step(direction, times) {
    if (direction > 0) {
      const next = times[placeOf(times, this.at) + 1];
      this.seek(next === undefined ? this.film.end : next);
    } else {
      let place = placeOf(times, this.at);
      if (place >= 0 && times[place] === Math.round(this.at)) place -= 1;
      this.seek(place < 0 ? 0 : times[place]);
    }
  }
}
