// All of time in one chart: the group, each member, each partition. Bars of one look are one bar; a bar
// narrower than a pixel is still drawn, so that no short stop vanishes.

const LABEL = 118, SIDE = 96, ROW = 24, MOST_ROWS = 60, ALL_ROWS = 24;

class Timeline {
  constructor(lab) {
    this.lab = lab;
    this.from = 0;
    this.sort = make("select", { "aria-label": "Order of partitions" }, ...["by number", "by owner", "most stopped first"].map((words) => make("option", {}, words)));
    this.sort.addEventListener("input", () => { this.drawn = null; this.paint(lab.player.at); });
    const tool = (words, label, by) => { const node = make("button", { type: "button", "aria-label": label }, words); node.addEventListener("click", () => this.zoom(by)); return node; };
    this.range = make("span", { class: "rk-dim" });
    this.canvas = make("canvas", { "aria-hidden": "true" });
    this.names = make("div", { class: "rk-rownames", "aria-hidden": "true" });
    this.line = make("i", { class: "rk-tcursor", "aria-hidden": "true" });
    this.chart = make("div", { class: "rk-chart" }, this.names, this.canvas, this.line);
    this.table = make("tbody", {});
    const twin = make("details", { class: "rk-timetext" }, make("summary", {}, "Timeline as text"), make("table", { class: "rk-table" }, make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "partition"), make("th", { scope: "col" }, "stopped"), make("th", { scope: "col" }, "owners"))), this.table));
    this.root = make("div", { class: "rk-view rk-timeline", tabindex: "0" }, make("div", { class: "rk-bar" }, this.sort, tool("−", "Zoom out", 2), tool("+", "Zoom in", 0.5), tool("Whole run", "Whole run", 0), this.range), this.chart, twin);
    this.canvas.addEventListener("click", (event) => this.click(event));
    this.canvas.addEventListener("wheel", (event) => { if (event.ctrlKey) { event.preventDefault(); this.zoom(event.deltaY > 0 ? 1.3 : 1 / 1.3); } }, { passive: false });
  }

  // Zoom about the cursor; 0 shows all.
  zoom(by) {
    const { film, player } = this.lab, span = by ? Math.min(film.end, Math.max(500, (this.to - this.from) * by)) : film.end;
    this.from = Math.max(0, Math.min(film.end - span, player.at - span / 2));
    this.to = this.from + span;
    this.drawn = null;
    this.paint(player.at);
  }

  rows() {
    const { film } = this.lab, rows = [["Group", "group", 0]];
    const members = film.members.length <= 12 ? film.members : film.members.filter((one) => film.memberTracks[one.index].times.filter((at) => at > film.settled).length > 2).slice(0, 8);
    members.forEach((one) => rows.push([one.name, "member", one.index]));
    let partitions = film.partitions.map((name, index) => ({ name, index, stopped: this.stopped(index) }));
    this.others = 0;
    if (partitions.length > ALL_ROWS) {
      const changed = partitions.filter((one) => film.partitionTracks[one.index].times.some((at) => at > film.settled));
      this.others = partitions.length - Math.min(changed.length, MOST_ROWS);
      partitions = changed;
    }
    if (this.sort.selectedIndex === 1) partitions.sort((a, b) => this.owner(a.index) - this.owner(b.index) || a.index - b.index);
    if (this.sort.selectedIndex === 2) partitions.sort((a, b) => b.stopped - a.stopped || a.index - b.index);
    partitions.slice(0, MOST_ROWS).forEach((one) => rows.push([one.name, "partition", one.index, one.stopped]));
    return rows;
  }

  owner(index) {
    return stateAt(this.lab.film.partitionTracks[index], this.lab.film.partitionStates, this.lab.player.at).owner;
  }

  stopped(index) {
    const { film } = this.lab;
    return bars(film.partitionTracks[index], film.partitionStates, film.end).reduce((sum, [from, until, state]) => sum + (state.flows ? 0 : Math.max(0, until - Math.max(from, film.settled))), 0);
  }

  paint(at) {
    const { film } = this.lab;
    if (this.film !== film) { this.film = film; this.from = 0; this.to = film.end; this.drawn = null; }
    if (at < this.from || at > this.to) { const span = this.to - this.from; this.from = Math.max(0, Math.min(film.end - span, at - span / 4)); this.to = this.from + span; this.drawn = null; }
    const theme = this.lab.root.className, width = this.lab.width - 44, key = `${theme}/${width}`;
    if (this.drawn !== key) { this.drawn = key; this.draw(width); }
    this.line.style.transform = `translateX(${LABEL + this.x(at)}px)`;
    this.line.style.height = `${this.height}px`;
    say(this.line, "");
  }

  x(at) {
    return ((at - this.from) / (this.to - this.from)) * this.wide;
  }

  draw(width) {
    const { film } = this.lab, ratio = Math.min(2, window.devicePixelRatio || 1);
    this.shown = this.rows();
    this.wide = width - LABEL - SIDE - 20;
    this.height = 20 + this.shown.length * ROW;
    Object.assign(this.canvas, { width: Math.round(this.wide * ratio), height: Math.round(this.height * ratio) });
    Object.assign(this.canvas.style, { width: `${this.wide}px`, height: `${this.height}px`, left: `${LABEL}px` });
    this.chart.style.height = `${this.height + (this.others ? 24 : 0)}px`;
    const pen = this.canvas.getContext("2d");
    pen.scale(ratio, ratio);
    this.css = getComputedStyle(this.lab.root);
    this.brush = this.lab.strip;
    this.axis(pen);
    this.shown.forEach((row, place) => this[row[1]](pen, row[2], 20 + place * ROW));
    const most = Math.max(1, ...this.shown.map((row) => row[3] || 0));
    this.names.replaceChildren(...this.shown.map(([name, kind, , stopped], place) => make("div", { class: `rk-rowname rk-of-${kind}`, style: `top:${20 + place * ROW}px` }, make("span", {}, name), kind === "partition" ? make("em", { style: `left:${LABEL + this.wide + 8}px` }, stopped ? seconds(stopped) : "–", make("i", { style: `width:${(30 * (stopped || 0)) / most}px` })) : null)),
      this.others ? make("div", { class: "rk-rowname", style: `top:${this.height + 2}px;width:100%` }, `${this.others} other partitions flowed all the time.`) : "");
    say(this.range, `${seconds(this.from)} to ${seconds(this.to)}`);
    this.table.replaceChildren(...this.shown.filter((row) => row[1] === "partition").map(([name, , index, stopped]) => make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, seconds(stopped)), make("td", {}, this.told(index)))));
  }

  told(index) {
    const { film } = this.lab;
    return bars(film.partitionTracks[index], film.partitionStates, film.end).map(([from, , state]) => `${seconds(from)} ${state.owner === GONE ? "not there" : state.owner < 0 ? "no owner" : film.members[state.owner].name}${state.flows || state.owner < 0 ? "" : ` (${state.word})`}`).join(", ");
  }

  axis(pen) {
    const span = (this.to - this.from) / 1000, step = [0.01, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800].find((each) => span / each <= 11) || 3600;
    pen.fillStyle = this.colour("ink2");
    pen.strokeStyle = this.colour("hairline");
    pen.font = "11.5px system-ui, sans-serif";
    pen.textAlign = "center";
    for (let at = Math.ceil(this.from / 1000 / step) * step; at * 1000 <= this.to; at += step) {
      const x = this.x(at * 1000);
      pen.fillText(step < 1 ? at.toFixed(2) : String(Math.round(at)), Math.max(10, Math.min(this.wide - 10, x)), 12);
      pen.beginPath(); pen.moveTo(x, 18); pen.lineTo(x, this.height); pen.stroke();
    }
  }

  colour(name) {
    return this.css.getPropertyValue(`--rk-${name}`).trim();
  }

  box(pen, from, until, y, fill, words, ink) {
    const left = Math.max(0, this.x(from)), right = Math.min(this.wide, this.x(until));
    if (right <= 0 || left >= this.wide) return;
    const width = Math.max(1, right - left - 1);
    pen.fillStyle = fill;
    pen.fillRect(left, y + 3, width, ROW - 6);
    if (!words || !ink) return;
    pen.font = "600 12px system-ui, sans-serif";
    pen.textAlign = "left";
    if (pen.measureText(words).width + 10 > width) return;
    pen.fillStyle = ink;
    pen.fillText(words, left + 5, y + 16);
  }

  group(pen, _index, y) {
    const { film } = this.lab;
    bars(film.groupTrack, film.groupStates, film.end, (one) => `${one.state}${one.generation}`).forEach(([from, until, state]) => {
      const steady = state.state === "Stable" || state.state === "Empty";
      const words = `${state.state}${state.generation === null ? "" : ` · ${state.generation}`}`;
      this.box(pen, from, until, y, this.colour(steady ? "sunk" : "ink"), words, this.colour(steady ? "ink" : "surface"));
    });
  }

  member(pen, index, y) {
    const { film } = this.lab, hue = this.colour(`m${film.members[index].hue}`), surface = this.colour("surface");
    bars(film.memberTracks[index], film.memberStates, film.end, (one) => one.doing).forEach(([from, until, state]) => {
      if (["absent", "closed"].includes(state.life) || state.doing === "gone") return;
      if (["crashed", "frozen", "died"].includes(state.life)) { this.box(pen, from, until, y, this.brush.pattern(pen, "cross", this.colour("alert"))); this.tag(pen, from, until, y, state.doing); return; }
      if (state.callback) { this.box(pen, from, until, y, this.brush.pattern(pen, "diagonal", hue)); this.tag(pen, from, until, y, state.callback); return; }
      if (state.doing !== "polls") { this.box(pen, from, until, y, hue); this.box(pen, from, until, y, surface); pen.strokeStyle = hue; const left = this.x(from); pen.strokeRect(left + 0.5, y + 3.5, Math.max(1, this.x(until) - left - 2), ROW - 7); this.tag(pen, from, until, y, state.doing); return; }
      pen.fillStyle = hue;
      pen.fillRect(this.x(from), y + ROW / 2 - 1, Math.max(1, this.x(until) - this.x(from)), 2.5);
    });
  }

  tag(pen, from, until, y, words) {
    const left = Math.max(0, this.x(from));
    pen.font = "600 11.5px system-ui, sans-serif";
    const width = pen.measureText(words).width;
    if (Math.min(this.wide, this.x(until)) - left < width + 14) return;
    pen.fillStyle = this.colour("surface");
    pen.fillRect(left + 4, y + 5, width + 6, ROW - 10);
    pen.fillStyle = this.colour("ink");
    pen.textAlign = "left";
    pen.fillText(words, left + 7, y + 16);
  }

  partition(pen, index, y) {
    const { film } = this.lab;
    bars(film.partitionTracks[index], film.partitionStates, film.end).forEach(([from, until, state]) => {
      if (state.owner === GONE) return;
      const owner = state.owner < 0 ? null : film.members[state.owner];
      if (state.flows) { this.box(pen, from, until, y, this.colour(`m${owner.hue}`), owner.name, this.colour(`m${owner.hue}o`)); return; }
      const bad = ALERTING.has(state.word) && state.owner >= 0;
      this.box(pen, from, until, y, this.brush.pattern(pen, state.owner < 0 ? "dots" : bad ? "cross" : "diagonal", state.owner < 0 ? this.colour("ink") : bad ? this.colour("alert") : this.colour(`m${owner.hue}`)));
      this.tag(pen, from, until, y, state.word);
    });
  }

  click(event) {
    const box = this.canvas.getBoundingClientRect(), at = this.from + ((event.clientX - box.left) / box.width) * (this.to - this.from);
    const row = this.shown[Math.floor(((event.clientY - box.top) * (this.height / box.height) - 20) / ROW)];
    this.lab.seek(at, false);
    if (!row) return;
    const member = row[1] === "member" ? row[2] : row[1] === "partition" ? this.owner(row[2]) : -1;
    if (member >= 0) { this.lab.selected = member; this.lab.paint(false); }
  }
}

// A track as [from, until, state]; neighbours that look the same are one.
function bars(track, table, end, look = (one) => `${one.owner}${one.word}`) {
  const found = [];
  track.times.forEach((from, place) => {
    const until = place + 1 < track.times.length ? track.times[place + 1] : end, state = table[track.states[place]];
    const last = found[found.length - 1];
    if (last && look(last[2]) === look(state)) last[1] = until; else found.push([from, until, state]);
  });
  return found;
}
