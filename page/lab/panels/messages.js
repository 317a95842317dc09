// Messages as a sequence diagram: time runs down, one life line per actor; quiet time is folded, so that a
// burst of a few milliseconds can be read. More members than fit are one line with a count.

import { make, say, set } from "../../shared/dom.js";
import { boardAt } from "../film/board.js";
import { milliseconds, placeOf, seconds } from "../film/times.js";
import { stateAt } from "../film/tracks.js";

const LINES = 7;
const STEP = 26;
const AROUND = 60;
const FOLD_MS = 1500;

export class Messages {
  constructor(lab) {
    this.lab = lab;
    const check = (words, on) => {
      const box = make("input", { type: "checkbox", checked: on });
      box.checked = on;
      box.addEventListener("input", () => {
        this.drawn = null;
        this.paint(lab.player.at);
      });
      return { box, node: make("label", { class: "rk-check" }, box, words) };
    };
    this.beats = check("heartbeats without news", false);
    this.commits = check("commits", false);
    this.errors = check("only errors", false);
    this.only = check("only the selected member", false);
    this.count = make("span", { class: "rk-dim" });
    this.diagram = make("div", {
      class: "rk-sequence",
      tabindex: "0",
      role: "group",
      "aria-label": "Message diagram",
    });
    this.rows = make("tbody", {});
    const twin = make(
      "details",
      { class: "rk-timetext" },
      make("summary", {}, "Messages as text"),
      make(
        "table",
        { class: "rk-table" },
        make(
          "thead",
          {},
          make(
            "tr",
            {},
            ...["sent", "from", "to", "message", "arrives"].map((words) =>
              make("th", { scope: "col" }, words)
            ),
          ),
        ),
        this.rows,
      ),
    );
    this.root = make(
      "div",
      { class: "rk-view rk-messages" },
      make(
        "div",
        { class: "rk-bar" },
        this.beats.node,
        this.commits.node,
        this.errors.node,
        this.only.node,
        this.count,
      ),
      this.diagram,
      twin,
    );
  }

  chosen() {
    const { film, selected } = this.lab,
      beats = this.beats.box.checked,
      commits = this.commits.box.checked,
      errors = this.errors.box.checked,
      only = this.only.box.checked;
    return film.messages.filter((message) =>
      (message.error || message.news || beats || message.kind !== "heartbeat") &&
      (message.error || commits || message.kind !== "commit") &&
      (!errors || message.error || message.arrives === null) && (!only || message.member === selected)
    );
  }

  paint(at) {
    const { selected } = this.lab,
      key = `${this.lab.serial}/${selected}/${this.lab.screen.width}/${
        [this.beats, this.commits, this.errors, this.only].map((one) => one.box.checked)
      }`;
    if (this.key !== key || !this.drawn) {
      this.key = key;
      this.all = this.chosen();
      this.times = this.all.map((one) => one.sent);
      this.window = null;
      this.drawn = true;
    }
    const place = placeOf(this.times, at);
    if (!this.window || place < this.window[0] + 8 || place > this.window[1] - 8) {
      const first = Math.max(0, Math.min(place - AROUND, this.all.length - 2 * AROUND));
      const last = Math.min(this.all.length, first + 2 * AROUND);
      if (!this.window || this.window[0] !== first || this.window[1] !== last) {
        this.window = [first, last];
        this.draw();
      }
    }
    say(
      this.count,
      this.all.length ? `${place + 1} of ${this.all.length} messages so far` : "No such message in this run.",
    );
    this.mark(at);
  }

  // Who has a line of its own: the coordinator's partners in this window, the selected one and the leader first.
  actors(shown) {
    const { film, selected } = this.lab, board = boardAt(film, this.lab.player.at);
    const counted = new Map();
    shown.forEach((one) => counted.set(one.member, (counted.get(one.member) || 0) + (one.error ? 3 : 1)));
    const leader = board.members.findIndex((one) => one.state.leader);
    const order = [...counted.keys()].sort((a, b) =>
      (b === selected) - (a === selected) || (b === leader) - (a === leader) ||
      counted.get(b) - counted.get(a) || a - b
    );
    const own = order.slice(0, order.length > LINES ? LINES - 1 : LINES).sort((a, b) => a - b);
    return { own, others: order.length - own.length };
  }

  draw() {
    const { film } = this.lab, [first, last] = this.window, shown = this.all.slice(first, last);
    const { own, others } = this.actors(shown), width = this.lab.screen.width - 70;
    const lines = own.length + (others ? 1 : 0), gap = (width - 190) / Math.max(1, lines);
    const xOf = (member) => 150 + gap * ((own.indexOf(member) < 0 ? lines - 1 : own.indexOf(member)) + 0.75);
    const parts = [], places = [];
    const parked = new Map();
    let y = 18, before = null, generation = null;
    shown.forEach((one) => {
      if (before !== null && one.sent - before > FOLD_MS) {
        parts.push(
          make("svg:text", { x: 40, y: y + 4, class: "rk-fold" }, `≈ ${seconds(one.sent - before)}`),
        );
        y += 24;
      }
      before = one.sent;
      const group = stateAt(film.groupTrack, film.groupStates, one.sent);
      if (generation !== null && group.generation !== null && group.generation !== generation) {
        parts.push(...this.band(group, width, y));
        y += 24;
      }
      generation = group.generation;
      this.park(parked, parts, one, y);
      places.push([one.sent, y]);
      parts.push(...this.arrow(one, xOf(one.member), y));
      y += STEP;
    });
    const heads = [
      make("svg:text", { x: 92, y: 20, class: "rk-actor", "text-anchor": "middle" }, "Coordinator"),
      ...own.map((member) =>
        make(
          "svg:text",
          { x: xOf(member), y: 20, class: "rk-actor", "text-anchor": "middle" },
          film.members[member].name,
        )
      ),
      others
        ? make(
          "svg:text",
          { x: xOf(-1), y: 20, class: "rk-actor", "text-anchor": "middle" },
          `${others} others`,
        )
        : null,
    ];
    const lives = [
      make("svg:line", { x1: 92, x2: 92, y1: 0, y2: y, class: "rk-life" }),
      ...own.map((member) =>
        make("svg:line", {
          x1: xOf(member),
          x2: xOf(member),
          y1: 0,
          y2: y,
          class: "rk-life",
          style: `stroke:var(--rk-m${film.members[member].hue})`,
        })
      ),
    ];
    if (others) lives.push(make("svg:line", { x1: xOf(-1), x2: xOf(-1), y1: 0, y2: y, class: "rk-life" }));
    this.cursor = make("svg:line", { x1: 0, x2: width, class: "rk-now" });
    this.places = places;
    const label = `${shown.length} messages between the coordinator and ${
      own.map((member) => film.members[member].name).join(", ") || "nobody"
    }${others ? ` and ${others} others` : ""}; the table below lists them`;
    this.diagram.replaceChildren(
      make("svg:svg", { class: "rk-heads", width, height: 28, "aria-hidden": "true" }, ...heads),
      make(
        "svg:svg",
        { width, height: y + 8, role: "img", "aria-label": label },
        ...lives,
        ...parts,
        this.cursor,
      ),
    );
    this.rows.replaceChildren(...shown.map((one) => {
      const name = film.members[one.member].name;
      return make(
        "tr",
        {},
        make("td", {}, milliseconds(one.sent)),
        make("td", {}, one.request ? name : "coordinator"),
        make("td", {}, one.request ? "coordinator" : name),
        make(
          "th",
          { scope: "row" },
          `${one.api}${one.request ? "" : " answer"}${one.error ? ` ${one.error}` : ""}`,
        ),
        make("td", {}, one.arrives === null ? "lost" : milliseconds(one.arrives)),
      );
    }));
  }

  // A new generation or epoch, across all lines.
  band(group, width, y) {
    const words = `${group.protocol === "consumer" ? "group epoch" : "generation"} ${group.generation}`;
    return [
      make("svg:rect", { x: 0, y: y - 10, width, height: 18, class: "rk-bandline" }),
      make("svg:text", { x: width - 10, y: y + 3, "text-anchor": "end", class: "rk-fold" }, words),
    ];
  }

  // A request that waits at the coordinator, as a bar beside its line from the request to its answer.
  park(parked, parts, one, y) {
    if (one.kind !== "waits") return;
    const key = `${one.api}/${one.member}`, since = parked.get(key);
    if (one.request) {
      parked.set(key, y + 7);
      return;
    }
    parked.delete(key);
    if (since === undefined || y - since < 10) return;
    parts.push(
      make("svg:rect", {
        x: 96 + (one.member % 5) * 5,
        y: since,
        width: 3.5,
        height: y - since,
        style: `fill:var(--rk-m${this.lab.film.members[one.member].hue})`,
      }, make("svg:title", {}, `${one.api} of ${this.lab.film.members[one.member].name} waits`)),
    );
  }

  arrow(one, x, y) {
    const from = one.request ? x : 92, to = one.request ? 92 : x, lost = one.arrives === null;
    const end = lost ? (from + to) / 2 : to, side = Math.sign(to - from), slant = 7;
    const kind = `rk-arrow${one.request ? "" : " rk-reply"}${one.error || lost ? " rk-error" : ""}`;
    const words = `${one.api}${one.error ? ` ${one.error}` : ""}${lost ? " lost" : ""}`;
    return [
      make("svg:text", { x: 8, y: y + 4, class: "rk-when" }, milliseconds(one.sent)),
      make("svg:line", { x1: from, y1: y, x2: end - side * 6, y2: y + slant, class: kind }),
      lost
        ? make(
          "svg:text",
          { x: end, y: y + slant + 5, class: "rk-error rk-cross", "text-anchor": "middle" },
          "×",
        )
        : make("svg:path", { d: `M${end} ${y + slant}l${-side * 8} -4v8z`, class: `${kind} rk-head` }),
      make("svg:text", {
        x: x > this.lab.screen.width * 0.72 ? x - 12 : x + 8,
        y: y + 5 - (x > this.lab.screen.width * 0.72 ? 3 : 0),
        "text-anchor": x > this.lab.screen.width * 0.72 ? "end" : "start",
        class: `rk-said${one.error ? " rk-error" : ""}`,
      }, words),
    ];
  }

  mark(at) {
    if (!this.cursor || !this.places.length) return;
    const place = placeOf(this.places.map((one) => one[0]), at);
    const y = place < 0 ? 6 : this.places[place][1] + STEP / 2;
    set(this.cursor, "y1", y);
    set(this.cursor, "y2", y);
    if (this.lab.player.at !== this.scrolled) {
      this.diagram.scrollTop = y - this.diagram.clientHeight * 0.6;
      this.scrolled = this.lab.player.at;
    }
  }
}
