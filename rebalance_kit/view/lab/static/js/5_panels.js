// Tabs on one cursor. A tab's content is asked for when it is opened, once a run, and moved through by the page.

const TABS = [["flow", "Flow"], ["timeline", "Timeline"], ["messages", "Messages"], ["logs", "Logs"], ["cli", "CLI"], ["metrics", "Metrics"], ["members", "Members"], ["why", "Why"], ["invariants", "Invariants"]];
const FROM_KERNEL = new Set(["logs", "cli", "metrics", "members", "why", "invariants"]);
const REST_MS = 150;

class Panels {
  constructor(lab) {
    this.lab = lab;
    this.name = "flow";
    this.held = new Map();
    const key = Math.random().toString(36).slice(2);
    this.tabs = TABS.map(([name, words], place) => {
      const node = make("button", { type: "button", role: "tab", id: `rk-tab-${key}-${name}`, "aria-controls": `rk-panel-${key}`, "data-tab": name, title: `Alt+${place + 1}` }, words);
      node.addEventListener("click", () => this.open(name));
      return node;
    });
    this.list = make("div", { class: "rk-tabs", role: "tablist", "aria-label": "Views" }, ...this.tabs);
    this.list.addEventListener("keydown", (event) => this.onKey(event));
    this.panel = make("div", { class: "rk-panel" });
    this.home = lab.stageHome; // the one panel of all tabs
    set(this.home, "role", "tabpanel");
    set(this.home, "id", `rk-panel-${key}`);
    this.views = { timeline: new Timeline(lab), messages: new Messages(lab), logs: new LogsView(lab), cli: new CliView(), metrics: new MetricsView(lab), members: new MembersView(lab), why: new WhyView(lab), invariants: new InvariantsView(lab) };
    this.mark();
  }

  onKey(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const shown = this.tabs.filter((node) => !node.hidden);
    const next = shown[(shown.findIndex((node) => node.dataset.tab === this.name) + step + shown.length) % shown.length];
    this.open(next.dataset.tab);
    next.focus();
  }

  mark() {
    this.tabs.forEach((node) => {
      const chosen = node.dataset.tab === this.name;
      set(node, "aria-selected", chosen ? "true" : "false");
      set(node, "tabindex", chosen ? "0" : "-1");
      node.hidden = !!this.lab.alone && FROM_KERNEL.has(node.dataset.tab);
    });
    set(this.home, "aria-labelledby", this.tabs.find((node) => node.dataset.tab === this.name).id);
  }

  open(name) {
    if (this.lab.fogged && name !== "flow") { this.lab.tell("The future is hidden while you predict. Lock in, or press Esc."); return; }
    this.name = name;
    this.mark();
    this.lab.showStage();
    this.paint(false);
  }

  get view() {
    return this.views[this.name];
  }

  forget() {
    this.held.clear();
    Object.values(this.views).forEach((view) => { view.content = null; view.drawn = null; });
  }

  // Show the tab at the cursor; whatever the kernel has to say arrives later.
  paint(moving) {
    if (this.name === "flow") return;
    const view = this.view;
    if (view.root.parentNode !== this.panel) this.panel.replaceChildren(view.root);
    if (FROM_KERNEL.has(this.name)) this.want();
    if (view.content || !FROM_KERNEL.has(this.name)) view.paint(this.lab.player.at, moving);
    else if (!view.root.firstChild) view.root.append(make("p", { class: "rk-wait" }, "Asks the kernel…"));
  }

  // What identifies a content: a run; for the CLI the moment too, for metrics the member.
  keyOf(name) {
    const { lab } = this;
    const member = lab.film.members[lab.selected];
    return `${lab.serial}/${name === "cli" ? Math.round(lab.player.at) : ""}/${name === "metrics" ? member && member.name : ""}`;
  }

  want() {
    const { name } = this, key = this.keyOf(name);
    if (this.held.get(name) === key || this.asking) return;
    if (name === "cli" && this.view.content) {
      clearTimeout(this.resting);
      this.resting = setTimeout(() => this.fetch(name), REST_MS);
      return;
    }
    this.fetch(name);
  }

  async fetch(name) {
    if (this.asking) return;
    const key = this.keyOf(name), { lab } = this, member = lab.film.members[lab.selected];
    this.asking = name;
    const answer = await lab.talk.request({ type: "tab", tab: name, at_ms: Math.round(lab.player.at), member: member && member.name });
    const content = answer.buffers.length ? await inflate(answer.buffers[0]) : null;
    this.asking = null;
    if (!content) { lab.tell(answer.words || "The tab could not be filled."); return; }
    this.held.set(name, key);
    const view = this.views[name];
    view.content = content;
    view.drawn = null;
    if (this.name === name || !FROM_KERNEL.has(this.name)) this.paint(false);
    else this.want();
  }
}

function copyText(text, lab, said) {
  const done = () => lab.tell(said);
  const failed = () => lab.tell("The browser does not allow copying here.");
  if (!navigator.clipboard) { failed(); return; }
  navigator.clipboard.writeText(text).then(done, failed);
}

// Log lines around the cursor, from any source.
class LogsView {
  constructor(lab) {
    this.lab = lab;
    this.source = make("select", { "aria-label": "Source" });
    this.level = make("select", { "aria-label": "Level" }, ...["all levels", "WARN and ERROR"].map((words) => make("option", {}, words)));
    this.filter = make("input", { type: "search", placeholder: "filter", "aria-label": "Filter lines" });
    const copy = make("button", { type: "button" }, "Copy");
    this.count = make("span", { class: "rk-dim" });
    this.lines = make("div", { class: "rk-lines", role: "log", "aria-label": "Log lines", "aria-live": "off", tabindex: "0" });
    this.root = make("div", { class: "rk-view rk-logs" }, make("div", { class: "rk-bar" }, this.source, this.level, this.filter, copy, this.count), this.lines);
    for (const node of [this.source, this.level, this.filter]) node.addEventListener("input", () => { this.drawn = null; this.paint(lab.player.at); });
    copy.addEventListener("click", () => copyText(this.chosen().map((one) => one[3]).join("\n"), lab, "Lines copied."));
  }

  chosen() {
    const source = this.source.selectedIndex - 1, text = this.filter.value.toLowerCase(), bad = this.level.selectedIndex === 1;
    return this.content.lines.filter(([, from, level, line]) => (source < 0 || from === source) && (!bad || level === "WARN" || level === "ERROR") && (!text || line.toLowerCase().includes(text)));
  }

  paint(at) {
    if (this.source.options.length !== this.content.sources.length + 1) this.source.replaceChildren(make("option", {}, "all sources"), ...this.content.sources.map((name) => make("option", {}, name)));
    if (!this.drawn) { this.shown = this.chosen(); this.times = this.shown.map((one) => one[0]); }
    const place = placeOf(this.times, at), first = Math.max(0, place - 200), key = `${place}`;
    if (this.drawn === key) return;
    this.drawn = key;
    const { film } = this.lab;
    this.lines.replaceChildren(...this.shown.slice(first, place + 60).map(([, from, level, line], index) => {
      const here = first + index;
      const hue = from > 0 ? film.members[from - 1].hue : 0;
      return make("div", { class: `rk-line${here > place ? " rk-later" : ""}${here === place ? " rk-here" : ""} rk-${level.toLowerCase()}`, style: hue ? `--hue:var(--rk-m${hue})` : null, "aria-current": here === place ? "true" : null }, line);
    }));
    say(this.count, `${place + 1} of ${this.shown.length} lines so far${this.content.cut ? `, ${this.content.cut} more are not shown` : ""}`);
    const here = this.lines.querySelector(".rk-here");
    if (here) this.lines.scrollTop = here.offsetTop - this.lines.clientHeight * 0.6;
  }
}

class CliView {
  constructor() {
    this.root = make("div", { class: "rk-view rk-cli", tabindex: "0" });
  }

  paint() {
    if (this.drawn === this.content) return;
    this.drawn = this.content;
    this.root.replaceChildren(make("p", { class: "rk-dim" }, `As of ${seconds(this.content.at)}.`), ...this.content.blocks.flatMap(({ command, text }) => {
      const copy = make("button", { type: "button", "aria-label": `Copy ${command}` }, "Copy");
      copy.addEventListener("click", () => navigator.clipboard && navigator.clipboard.writeText(`$ ${command}\n${text}`));
      return [make("div", { class: "rk-command" }, make("code", {}, `$ ${command}`), copy), make("pre", { class: "rk-output", tabindex: "0" }, text)];
    }));
  }
}

// A value at the cursor and its course over the run.
class MetricsView {
  constructor(lab) {
    this.lab = lab;
    this.root = make("div", { class: "rk-view rk-metrics", tabindex: "0" });
  }

  paint(at) {
    const { content, lab } = this;
    if (this.drawn !== content) {
      this.drawn = content;
      this.rows = content.rows.map(([member, room, name, says, steps]) => this.row(member, room, name, says, steps));
      this.root.replaceChildren(make("table", { class: "rk-table" }, make("caption", {}, "Coordinator, and the selected member. Select another on the board."), make("thead", {}, make("tr", {}, ...["of", "metric", "now", "over the run", "what it counts"].map((words) => make("th", { scope: "col" }, words)))), make("tbody", {}, ...this.rows.map((row) => row.node))));
    }
    this.rows.forEach((row) => {
      const place = Math.max(0, placeOf(row.times, at));
      say(row.now, row.values[place].toLocaleString("en"));
      row.cursor.setAttribute("x1", (120 * at) / lab.film.end);
      row.cursor.setAttribute("x2", (120 * at) / lab.film.end);
    });
  }

  row(member, room, name, says, steps) {
    const times = [], values = [];
    for (let i = 0; i < steps.length; i += 2) { times.push(steps[i]); values.push(steps[i + 1]); }
    const most = Math.max(1, ...values), end = this.lab.film.end;
    let path = "";
    values.forEach((value, i) => { const y = 22 - (20 * value) / most; path += `${i ? "H" : "M"}${((120 * times[i]) / end).toFixed(1)}${i ? `V${y.toFixed(1)}` : ` ${y.toFixed(1)}`}`; });
    const cursor = make("svg:line", { y1: 0, y2: 24, class: "rk-now" });
    const now = make("td", { class: "rk-number2" });
    const spark = make("svg:svg", { width: 120, height: 24, viewBox: "0 0 120 24", role: "img", "aria-label": `from ${values[0]} to ${values[values.length - 1]}, at most ${Math.max(...values)}` }, make("svg:path", { d: `${path}H120`, class: "rk-spark" }), cursor);
    const node = make("tr", {}, make("td", {}, member || "group"), make("th", { scope: "row" }, name, make("small", {}, room)), now, make("td", {}, spark), make("td", { class: "rk-dim" }, says));
    return { node, now, cursor, times, values };
  }
}

class MembersView {
  constructor(lab) {
    this.lab = lab;
    this.root = make("div", { class: "rk-view rk-memberstab", tabindex: "0" });
  }

  paint(at) {
    const { film } = this.lab, board = boardAt(film, at), classic = board.group.protocol !== "consumer";
    const head = ["member", "state", classic ? "generation" : "epoch", "owned", classic ? "target" : "target, not yet its own", "to be given up", "session ends in", "started with"];
    const named = (list) => (list.length ? spoken(list.map((one) => film.partitions[one])) : "–");
    const rows = board.members.map((one) => {
      const owned = board.owned[one.index], waits = board.partitions.map((state, index) => (state.target === one.index ? index : -1)).filter((index) => index >= 0);
      const leaving = owned.filter((index) => ["give up", "was leaving"].includes(board.partitions[index].word));
      const ends = sessionEnds(film, one.index, at);
      const lives = this.content.started[one.index].filter(([from]) => from <= at), life = lives[lives.length - 1];
      const configs = life ? Object.entries(life[2]).map(([key, value]) => `${key}=${value}`).join(" ") || "defaults" : "–";
      return [one.name, doingLine(film, board, one.index), one.state.generation ?? one.state.epoch ?? "–", named(owned), classic ? "unknown to a classic group" : named(waits), named(leaving), ends === null ? "–" : seconds(Math.max(0, ends - at)), life && life[1] !== "java" ? `${life[1]} ${configs}` : configs];
    });
    const key = JSON.stringify(rows);
    if (this.drawn === key) return;
    this.drawn = key;
    this.root.replaceChildren(make("table", { class: "rk-table" }, make("thead", {}, make("tr", {}, ...head.map((words) => make("th", { scope: "col" }, words)))), make("tbody", {}, ...rows.map(([name, ...cells]) => make("tr", {}, make("th", { scope: "row" }, name), ...cells.map((cell) => make("td", {}, String(cell))))))));
  }
}

// The account of the run; the step at the cursor is open and says its rule.
class WhyView {
  constructor(lab) {
    this.lab = lab;
    this.root = make("ol", { class: "rk-view rk-why" });
  }

  paint(at) {
    const { content, lab } = this;
    if (this.drawn !== content) {
      this.drawn = content;
      this.times = content.entries.map((entry) => entry[0]);
      this.items = content.entries.map(([from, words, rule, source]) => {
        const go = make("button", { type: "button" }, make("b", {}, seconds(from)), make("span", {}, words));
        go.addEventListener("click", () => lab.seek(from, false));
        return make("li", {}, go, make("p", {}, rule, make("cite", {}, source)));
      });
      this.root.replaceChildren(...this.items);
      this.here = null;
    }
    const here = this.items[Math.max(0, placeOf(this.times, at))];
    if (this.here === here || !here) return;
    if (this.here) this.here.removeAttribute("aria-current");
    here.setAttribute("aria-current", "step");
    this.here = here;
    this.root.scrollTop = here.offsetTop - this.root.clientHeight * 0.35;
  }
}

class InvariantsView {
  constructor(lab) {
    this.lab = lab;
    this.root = make("div", { class: "rk-view rk-invariants", tabindex: "0" });
  }

  paint() {
    if (this.drawn === this.content) return;
    this.drawn = this.content;
    const { lights, rows } = this.content, broken = lights.filter((one) => one[2].length).length;
    this.root.replaceChildren(make("p", {}, broken ? `${broken} of ${lights.length} invariants are broken.` : `All ${lights.length} invariants hold in the ${rows.toLocaleString("en")} events of this run.`), make("ul", {}, ...lights.map(([name, statement, seen]) => {
      const found = seen.map(([at, words]) => {
        const go = make("button", { type: "button" }, `${seconds(at)}: ${words}`);
        go.addEventListener("click", () => this.lab.seek(at, false));
        return go;
      });
      return make("li", { class: seen.length ? "rk-bad" : "rk-good" }, make("b", { "aria-hidden": "true" }, seen.length ? "✗" : "✓"), make("span", {}, make("strong", {}, `${name}: ${seen.length ? "broken" : "holds"}`), make("span", {}, statement), ...found));
    })));
  }
}
