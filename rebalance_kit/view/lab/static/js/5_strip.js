// The strip: all of time as one picture, under one slider. Bars are drawn once a film and theme.

const MANY_BARS = 24;

class Strip {
  constructor(onSeek) {
    this.marks = make("div", { class: "rk-marks", "aria-hidden": "true" });
    this.canvas = make("canvas", { "aria-hidden": "true" });
    this.cursor = make("i", { class: "rk-cursor", "aria-hidden": "true" }, make("b"));
    this.axis = make("div", { class: "rk-axis", "aria-hidden": "true" });
    this.slider = make("input", { type: "range", class: "rk-slider", min: 0, step: 100, "aria-label": "Time" });
    this.root = make("div", { class: "rk-strip" }, this.marks, this.canvas, this.axis, this.cursor, this.slider);
    this.slider.addEventListener("input", () => onSeek(Number(this.slider.value), true));
    this.slider.addEventListener("change", () => onSeek(Number(this.slider.value), false));
  }

  show(film, width) {
    this.film = film;
    this.width = width - 40;
    set(this.slider, "max", film.end);
    this.drawMarks();
    this.drawAxis();
    this.drawBars();
  }

  x(at) {
    return (at / Math.max(1, this.film.end)) * this.width;
  }

  drawMarks() {
    const all = this.film.marks.filter((mark) => mark.kind !== "done" && mark.at > 0);
    const shown = all.filter((mark) => mark.kind !== "rebalance" || !all.some((other) => other.kind !== "rebalance" && Math.abs(this.x(other.at) - this.x(mark.at)) < 9));
    const weight = { fault: 0, timer: 1, action: 2, rebalance: 3 };
    const taken = shown.map((mark) => [this.x(mark.at) - 6, this.x(mark.at) + 6, mark]);
    const labels = new Map();
    [...shown].sort((a, b) => weight[a.kind] - weight[b.kind] || a.at - b.at).forEach((mark) => {
      if (mark.kind === "rebalance") return;
      const x = this.x(mark.at), room = mark.words.length * 6.6 + 16, flip = x + room > this.width;
      const [left, right] = flip ? [x - room, x] : [x, x + room];
      if (taken.some(([from, to, other]) => other !== mark && from < right && to > left)) return;
      taken.push([left, right, mark]);
      labels.set(mark, flip);
    });
    this.marks.replaceChildren(...shown.map((mark) => {
      const sign = { fault: "×", rebalance: "◆", timer: "◷", action: "+" }[mark.kind];
      return make("span", { class: `rk-mark rk-${mark.kind}${labels.get(mark) ? " rk-flip" : ""}`, style: `left:${this.x(mark.at)}px` }, make("i", {}, sign), labels.has(mark) ? mark.words : "");
    }));
  }

  drawAxis() {
    const step = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600].find((each) => this.film.end / 1000 / each <= 10) || 7200;
    const ticks = [];
    for (let at = 0; at * 1000 <= this.film.end; at += step) ticks.push(make("span", { style: `left:${this.x(at * 1000)}px` }, String(at)));
    this.axis.replaceChildren(...ticks);
  }

  drawBars() {
    const { film } = this, ratio = Math.min(2, window.devicePixelRatio || 1), height = 36;
    this.canvas.width = Math.max(1, Math.round(this.width * ratio));
    this.canvas.height = height * ratio;
    this.canvas.style.width = `${this.width}px`;
    const pen = this.canvas.getContext("2d");
    pen.scale(ratio, ratio);
    this.css = getComputedStyle(this.root);
    this.patterns = new Map();
    if (film.partitions.length <= MANY_BARS) this.drawOwners(pen, height); else this.drawCounts(pen);
  }

  colour(name) {
    return this.css.getPropertyValue(`--rk-${name}`).trim();
  }

  drawOwners(pen, height) {
    const { film } = this, each = Math.min(7, height / film.partitions.length), bar = Math.max(1, each - 1.6);
    film.partitionTracks.forEach((track, index) => track.times.forEach((from, place) => {
      const until = place + 1 < track.times.length ? track.times[place + 1] : film.end;
      const state = film.partitionStates[track.states[place]];
      const x = this.x(from), width = Math.max(this.x(until) - x, state.flows ? 0 : 1);
      this.drawBar(pen, state, x, index * each, width, bar);
    }));
  }

  drawBar(pen, state, x, y, width, height) {
    if (state.owner === GONE) return;
    const hue = state.owner < 0 ? "" : this.colour(`m${this.film.members[state.owner].hue}`);
    if (state.flows) { pen.fillStyle = hue; pen.fillRect(x, y, width, height); return; }
    const bad = ALERTING.has(state.word) && state.word !== "no owner";
    pen.fillStyle = this.pattern(pen, state.owner < 0 ? "dots" : bad ? "cross" : "diagonal", state.owner < 0 ? this.colour("ink") : bad ? this.colour("alert") : hue);
    pen.fillRect(x, y, width, height);
  }

  pattern(pen, kind, colour) {
    const key = kind + colour;
    if (this.patterns.has(key)) return this.patterns.get(key);
    const tile = make("canvas", { width: 4, height: 4 }), brush = tile.getContext("2d");
    brush.fillStyle = this.colour("surface");
    brush.fillRect(0, 0, 4, 4);
    brush.strokeStyle = brush.fillStyle = colour;
    brush.beginPath();
    if (kind === "dots") brush.fillRect(0, 1, 1.5, 1.5);
    else { brush.moveTo(0, 4); brush.lineTo(4, 0); if (kind === "cross") { brush.moveTo(0, 0); brush.lineTo(4, 4); } }
    brush.stroke();
    this.patterns.set(key, pen.createPattern(tile, "repeat"));
    return this.patterns.get(key);
  }

  // Two rows for many partitions: is the group stable, and how many stand still (the worst of each pixel).
  drawCounts(pen) {
    const { film } = this, stopped = new Float64Array(Math.ceil(this.width) + 1);
    const edges = [];
    film.partitionTracks.forEach((track) => {
      track.times.forEach((from, place) => {
        const until = place + 1 < track.times.length ? track.times[place + 1] : film.end;
        if (!film.partitionStates[track.states[place]].flows) edges.push([from, 1], [Math.min(until, film.known), -1]);
      });
    });
    edges.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
    let now = 0, last = 0;
    edges.forEach(([at, by]) => {
      const to = Math.floor(this.x(at));
      for (let x = last; x <= to; x += 1) stopped[x] = Math.max(stopped[x], now);
      now += by;
      last = to;
      stopped[to] = Math.max(stopped[to], now);
    });
    for (let x = last; x < stopped.length; x += 1) stopped[x] = Math.max(stopped[x], now);
    film.groupTrack.times.forEach((from, place) => {
      const until = place + 1 < film.groupTrack.times.length ? film.groupTrack.times[place + 1] : film.end;
      const steady = film.groupStates[film.groupTrack.states[place]].state === "Stable";
      pen.fillStyle = this.colour(steady ? "sunk" : "ink");
      pen.fillRect(this.x(from), 0, Math.max(1, this.x(until) - this.x(from)), 12);
    });
    pen.fillStyle = this.colour("alert");
    stopped.forEach((count, x) => { const tall = (count / film.partitions.length) * 20; if (count) pen.fillRect(x, 36 - Math.max(1, tall), 1, Math.max(1, tall)); });
  }

  paint(at, words) {
    this.cursor.style.transform = `translateX(${this.x(at)}px)`;
    this.root.style.setProperty("--rk-fog", `${this.x(at)}px`);
    say(this.cursor.firstChild, seconds(at));
    const shift = Math.max(26 - this.x(at), Math.min(0, this.width - 26 - this.x(at)));
    this.cursor.firstChild.style.marginLeft = `${Math.round(shift)}px`;
    this.slider.value = at;
    set(this.slider, "aria-valuetext", words);
  }
}
