// Made of page/forensics/main.js by `make page`; edit there. Sources 322f7338b99cc99a, bundle 5063d9573767ad0a.
// shared/dom.js
var SVG = "http://www.w3.org/2000/svg";
function make(tag, attributes = {}, ...children) {
  const node = (
    /** @type {any} */
    tag.startsWith("svg:") ? document.createElementNS(SVG, tag.slice(4)) : document.createElement(tag)
  );
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === void 0 || value === false) continue;
    node.setAttribute(key, value === true ? "" : String(value));
  }
  for (const child of children) {
    if (child !== null && child !== void 0) node.append(child);
  }
  return node;
}
function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// lab/time/scale.js
var Scale = class {
  /**
   * @param {number} from
   * @param {number} to
   * @param {number} width
   */
  constructor(from, to, width) {
    this.from = from;
    this.to = to;
    this.width = width;
  }
  /**
   * Where a moment stands.
   * @param {number} at
   */
  x(at) {
    return (at - this.from) / Math.max(1, this.to - this.from) * this.width;
  }
  /**
   * Which moment stands there.
   * @param {number} x
   */
  at(x) {
    return this.from + x / this.width * (this.to - this.from);
  }
  /**
   * Moments of the axis: multiples of the smallest step that leaves at most so many of them.
   * @param {number[]} steps in seconds, rising
   * @param {number} most
   */
  ticks(steps, most) {
    const span = (this.to - this.from) / 1e3;
    const step = steps.find((each) => span / each <= most) ?? steps[steps.length - 1] * 2;
    const first = Math.ceil(this.from / 1e3 / step - 1e-9);
    const ticks = [];
    for (let count = first; count * step * 1e3 <= this.to; count += 1) ticks.push(count * step);
    return {
      step,
      ticks
    };
  }
  /**
   * The part of the width that a span covers, at least a pixel; null where none of it is seen.
   * @param {number} from
   * @param {number} until
   */
  clip(from, until) {
    const left = Math.max(0, this.x(from));
    const right = Math.min(this.width, this.x(until));
    return right <= 0 || left >= this.width ? null : {
      left,
      right,
      width: Math.max(1, right - left - 1)
    };
  }
};
function zoomed(scale, by, at, end, least) {
  const span = by ? Math.min(end, Math.max(least, (scale.to - scale.from) * by)) : end;
  const from = Math.max(0, Math.min(end - span, at - span / 2));
  return new Scale(from, from + span, scale.width);
}

// forensics/clock.js
var STEPS = [
  1e-3,
  2e-3,
  5e-3,
  0.01,
  0.02,
  0.05,
  0.1,
  0.2,
  0.5,
  1,
  2,
  5,
  10,
  15,
  20,
  30,
  60,
  120,
  300,
  600,
  1800,
  3600,
  7200,
  21600,
  43200,
  86400,
  172800,
  604800,
  2592e3
];
function tick(at, step) {
  const iso = new Date(at).toISOString();
  if (step >= 86400) return iso.slice(0, 10);
  if (step >= 60) return iso.slice(11, 16);
  return step >= 1 ? iso.slice(11, 19) : iso.slice(11, 23);
}
function clock(at) {
  return new Date(at).toISOString().slice(11, 23);
}
function lasting(ms) {
  if (ms < 1e3) return `${Math.round(ms)} ms`;
  return ms < 12e4 ? `${(ms / 1e3).toFixed(1)} s` : `${(ms / 6e4).toFixed(1)} min`;
}
function around(from, to, end) {
  const room = Math.max(1e3, (to - from) / 2);
  return [
    Math.max(0, from - room),
    Math.min(end, to + room)
  ];
}

// forensics/marks.js
function rows(places, width, most) {
  const ends = [];
  const found = places.map(() => null);
  const order = places.map((_, index) => index).sort((a, b) => places[a] - places[b] || a - b);
  for (const index of order) {
    const free = Array.from({
      length: most
    }, (_, row) => row).find((row) => (ends[row] ?? -Infinity) <= places[index]);
    if (free === void 0) continue;
    ends[free] = places[index] + width;
    found[index] = free;
  }
  return found;
}

// forensics/lanes.js
var MARK = 24;
var MARK_ROWS = 3;
var [TICK_PX, LONG_TICK_PX] = [
  80,
  106
];
function axis(look, scale, height) {
  const [from, to] = [
    scale.from + look.begin,
    scale.to + look.begin
  ];
  const day = new Date(from).setUTCHours(0, 0, 0, 0);
  const whole = new Scale(from - day, to - day, scale.width);
  const most = (px) => Math.max(2, Math.floor(scale.width / px));
  const short = whole.ticks(STEPS, most(TICK_PX));
  const { step, ticks } = short.step < 1 ? whole.ticks(STEPS, most(LONG_TICK_PX)) : short;
  return make("svg:g", {
    class: "axis"
  }, ...ticks.flatMap((second) => {
    const x = scale.x(day + second * 1e3 - look.begin);
    const edge = x < 34 ? "start" : x > scale.width - 34 ? "end" : "middle";
    return [
      make("svg:line", {
        x1: x,
        x2: x,
        y1: 18,
        y2: height
      }),
      make("svg:text", {
        x,
        y: 12,
        "text-anchor": edge
      }, tick(day + second * 1e3, step))
    ];
  }));
}
function storms(look, scale, height) {
  return make("svg:g", {
    class: "storm"
  }, ...look.storms.map(([from, to]) => {
    const span = scale.clip(from, to);
    return span && make("svg:rect", {
      x: span.left,
      y: 18,
      width: span.width,
      height: height - 18
    });
  }));
}
function findings(look, scale, chosen) {
  const seen = look.findings.filter((mark) => mark.at >= scale.from && mark.at <= scale.to);
  const left = seen.map((mark) => Math.max(0, Math.min(scale.width - MARK, scale.x(mark.at) - MARK / 2)));
  const places = rows(left, MARK, MARK_ROWS);
  const nodes = seen.map((mark, index) => {
    const row = places[index];
    if (row === null) return null;
    const [x, y] = [
      left[index] + MARK / 2,
      row * MARK + MARK / 2
    ];
    const state = mark.card === chosen ? "mark chosen" : "mark";
    return make("svg:g", {
      class: state,
      "data-card": mark.card,
      transform: `translate(${x} ${y})`
    }, make("svg:circle", {
      r: MARK / 2 - 2
    }), make("svg:text", {
      y: 4.5,
      "text-anchor": "middle"
    }, mark.label));
  });
  const hidden = places.filter((row) => row === null).length;
  const more = hidden ? [
    make("svg:text", {
      class: "more",
      x: 0,
      y: MARK_ROWS * MARK + 12
    }, `+${hidden} more: zoom in`)
  ] : [];
  const height = MARK * Math.max(1, ...places.map((row) => (row ?? 0) + 1)) + (hidden ? 16 : 0);
  return {
    node: make("svg:g", {}, ...nodes, ...more),
    height
  };
}
function rebalances(look, scale, height) {
  const bars = look.rebalances.map((row) => {
    const span = scale.clip(row.from, row.to ?? look.end);
    if (!span) return null;
    const width = Math.max(3, span.width);
    const text = width > 18 ? make("svg:text", {
      x: span.left + 4,
      y: height / 2 + 4
    }, String(row.number)) : null;
    const lasted = row.to === null ? "no end here" : lasting(row.to - row.from);
    const title = make("svg:title", {}, `${row.number}. ${clock(look.begin + row.from)}, ${lasted}: ${row.why}`);
    const bar = make("svg:rect", {
      class: `bar h${row.hue}`,
      x: span.left,
      y: 2,
      width,
      height: height - 4,
      rx: 2
    }, title);
    return make("svg:g", {
      class: `on h${row.hue}`
    }, bar, text);
  });
  return make("svg:g", {}, ...bars);
}
function unread(look, scale, height, most) {
  const x = (at) => Math.max(-2, Math.min(scale.width + 2, scale.x(at)));
  let path = `M-2 ${height}`;
  for (const [at, count] of look.unread) {
    path += `H${x(at).toFixed(1)}V${(height - count / most * (height - 4)).toFixed(1)}`;
  }
  return make("svg:g", {
    class: "unread"
  }, make("svg:path", {
    d: `${path}H${scale.width + 2}V${height}Z`
  }));
}
function lives(look, member, scale, height) {
  const middle = height / 2;
  const nodes = member.lives.flatMap(([from, to, end]) => {
    const span = scale.clip(from, to ?? look.end);
    if (!span) return [];
    const until = to === null ? "still a member when the logs end" : `${end} ${clock(look.begin + to)}`;
    const title = make("svg:title", {}, `${member.name}: ${clock(look.begin + from)}, ${until}`);
    const bar = make("svg:rect", {
      class: `life h${member.hue}`,
      x: span.left,
      y: middle - 4,
      width: span.width,
      height: 8
    }, title);
    return [
      bar
    ];
  });
  const gaps = member.gaps.map(([from, to]) => {
    const span = scale.clip(from, to);
    const title = make("svg:title", {}, `partitions of ${member.name} unread: ${clock(look.begin + from)}, ${lasting(to - from)}`);
    return span && make("svg:rect", {
      class: "gap",
      x: span.left,
      y: middle - 2,
      width: span.width,
      height: 4
    }, title);
  });
  const ends = member.lives.flatMap(([, to, end]) => to === null || to < scale.from || to > scale.to ? [] : [
    ending(end, scale.x(to), middle)
  ]);
  return make("svg:g", {}, ...nodes, ...gaps, ...ends);
}
function ending(end, x, y) {
  const bad = end === "expired" || end === "fenced";
  const path = bad ? `M${x - 6} ${y - 6}l12 12m0 -12l-12 12` : `M${x} ${y - 7}v14`;
  const mark = make("svg:path", {
    class: bad ? "end bad" : "end",
    d: path
  });
  return bad ? make("svg:g", {}, make("svg:path", {
    class: "under",
    d: path
  }), mark) : mark;
}

// forensics/timeline.js
var TOP = 22;
var LEAST_MS = 20;
var NARROW = 620;
var Timeline = class {
  /**
   * @param {HTMLElement} place
   * @param {Look} look
   * @param {(card: string) => void} choose is told which finding was clicked
   */
  constructor(place, look, choose2) {
    this.look = look;
    this.choose = choose2;
    this.scale = new Scale(0, look.end, 1);
    this.chosen = null;
    this.most = look.unread.reduce((most, [, count]) => Math.max(most, count), 0);
    this.chart = make("svg:svg", {
      role: "img",
      "aria-label": place.dataset.words
    });
    this.range = make("span", {
      class: "range"
    });
    this.holder = make("div", {
      class: "chart",
      tabindex: 0,
      role: "group",
      "aria-label": "Timeline. Arrows move, plus and minus zoom, 0 shows all, n and p go from finding to finding."
    }, this.chart);
    place.append(this.buttons(), this.holder);
    this.listen();
    new ResizeObserver(() => this.draw()).observe(this.holder);
  }
  buttons() {
    const button = (sign, name, act) => {
      const node = make("button", {
        type: "button",
        "aria-label": name,
        title: name
      }, sign);
      node.addEventListener("click", act);
      return node;
    };
    return make("div", {
      class: "tools"
    }, button("\u2212", "zoom out (-)", () => this.zoom(2)), button("+", "zoom in (+)", () => this.zoom(0.5)), button("All", "show all (0)", () => this.zoom(0)), button("\u2039", "previous finding (p)", () => this.step(-1)), button("\u203A", "next finding (n)", () => this.step(1)), this.range);
  }
  listen() {
    this.holder.addEventListener("keydown", (event) => {
      const act = this.keys()[event.key];
      if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      act();
    });
    this.holder.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.scale.at(this.inside(event)));
    }, {
      passive: false
    });
    this.chart.addEventListener("click", (event) => {
      const mark = event.target instanceof Element ? event.target.closest("[data-card]") : null;
      if (mark) this.choose(mark.getAttribute("data-card") ?? "");
    });
    this.drag();
  }
  /** @returns {Record<string, () => void>} */
  keys() {
    const span = this.scale.to - this.scale.from;
    return {
      ArrowLeft: () => this.move(-span / 5),
      ArrowRight: () => this.move(span / 5),
      Home: () => this.move(-this.look.end),
      End: () => this.move(this.look.end),
      "+": () => this.zoom(0.5),
      "=": () => this.zoom(0.5),
      "-": () => this.zoom(2),
      "0": () => this.zoom(0),
      n: () => this.step(1),
      p: () => this.step(-1)
    };
  }
  /** Moving by dragging; a click stays a click. */
  drag() {
    let last = null;
    this.holder.addEventListener("pointerdown", (event) => {
      last = event.clientX;
    });
    this.holder.addEventListener("pointermove", (event) => {
      if (last === null || !event.buttons) return;
      this.move((last - event.clientX) / this.scale.width * (this.scale.to - this.scale.from));
      last = event.clientX;
    });
    for (const name of [
      "pointerup",
      "pointerleave"
    ]) this.holder.addEventListener(name, () => last = null);
  }
  /** @param {MouseEvent} event */
  inside(event) {
    return event.clientX - this.chart.getBoundingClientRect().left - this.gutter();
  }
  gutter() {
    const longest = Math.max(10, ...this.look.members.map((member) => member.name.length));
    return this.holder.clientWidth < NARROW ? 0 : Math.min(200, 14 + longest * 7.2);
  }
  /**
   * Zoom by a factor about a moment; by 0 to all.
   * @param {number} by
   * @param {number} [at]
   */
  zoom(by, at = (this.scale.from + this.scale.to) / 2) {
    this.scale = zoomed(this.scale, by, at, this.look.end, LEAST_MS);
    this.draw();
  }
  /** @param {number} by milliseconds */
  move(by) {
    const span = this.scale.to - this.scale.from;
    const from = Math.max(0, Math.min(this.look.end - span, this.scale.from + by));
    this.scale = new Scale(from, from + span, this.scale.width);
    this.draw();
  }
  /** @param {number} by */
  step(by) {
    const marks = [
      ...this.look.findings
    ].sort((a, b) => a.at - b.at);
    if (!marks.length) return;
    const now = marks.findIndex((mark) => mark.card === this.chosen);
    const next = now < 0 && by < 0 ? marks.length - 1 : (now + by + marks.length) % marks.length;
    this.choose(marks[next].card);
  }
  /**
   * Show a finding and what belongs to it; false where it has no moment.
   * @param {string} card
   */
  show(card) {
    this.chosen = card;
    const mark = this.look.findings.find((each) => each.card === card);
    if (mark) {
      const [from, to] = around(mark.from, mark.to, this.look.end);
      this.scale = new Scale(from, to, this.scale.width);
    }
    this.draw();
    return mark !== void 0;
  }
  draw() {
    const whole = this.holder.clientWidth;
    if (!whole) return;
    const gutter = this.gutter();
    this.scale = new Scale(this.scale.from, this.scale.to, Math.max(50, whole - gutter - 2));
    const lanes = this.lanes(gutter === 0);
    const height = lanes.reduce((sum, lane) => sum + lane.height, TOP);
    const content = make("svg:g", {
      transform: `translate(${gutter} 0)`
    }, storms(this.look, this.scale, height), axis(this.look, this.scale, height));
    let y = TOP;
    for (const lane of lanes) {
      const above = gutter ? 0 : 15;
      content.append(make("svg:text", {
        class: "lane",
        x: gutter ? -gutter + 2 : 2,
        y: gutter ? y + lane.middle + 4 : y + 11
      }, lane.name), make("svg:g", {
        transform: `translate(0 ${y + above})`
      }, lane.node));
      y += lane.height;
    }
    this.chart.setAttribute("viewBox", `0 0 ${whole} ${height}`);
    this.chart.setAttribute("width", String(whole));
    this.chart.setAttribute("height", String(height));
    this.chart.replaceChildren(content);
    const { from, to } = this.scale;
    say(this.range, `${clock(this.look.begin + from).slice(0, 8)} + ${lasting(to - from)}`);
  }
  /**
   * Each lane: its name, its height, what stands in it.
   * @param {boolean} narrow names stand above the lanes
   */
  lanes(narrow) {
    const above = narrow ? 15 : 0;
    const { look, scale } = this;
    const roomy = !narrow && look.members.length <= 16;
    const small = look.members.length > 40 ? 14 : roomy ? 34 : 24;
    const tall = roomy ? 80 : 52;
    const marks = findings(look, scale, this.chosen);
    const lanes = [
      {
        name: "findings",
        height: marks.height + 6 + above,
        middle: marks.height / 2,
        node: marks.node
      },
      {
        name: "rebalances",
        height: 24 + 6 + above,
        middle: 12,
        node: rebalances(look, scale, 24)
      }
    ];
    if (this.most) {
      const name = narrow ? `unread partitions (at most ${this.most})` : `unread \u2264 ${this.most}`;
      lanes.push({
        name,
        height: tall + 6 + above,
        middle: tall / 2,
        node: unread(look, scale, tall, this.most)
      });
    }
    for (const member of look.members) {
      lanes.push({
        name: clipped(member.name),
        height: small + above,
        middle: small / 2,
        node: lives(look, member, scale, small)
      });
    }
    return lanes;
  }
};
function clipped(name) {
  return name.length > 26 ? `${name.slice(0, 12)}\u2026${name.slice(-12)}` : name;
}

// forensics/main.js
var THEMES = ["light", "dark", "projector"];
var drawn = /* @__PURE__ */ new Map();
function open(group) {
  const place = (
    /** @type {HTMLElement | null} */
    group.querySelector(".timeline")
  );
  const data = group.querySelector("script[type='application/json']");
  if (!group.open || !place || !data || drawn.has(group)) return;
  drawn.set(
    group,
    new Timeline(place, JSON.parse(data.textContent ?? ""), (card) => choose(group, card, true))
  );
}
function choose(group, card, toCard) {
  const timeline = drawn.get(group);
  const chosen = document.getElementById(card);
  if (!timeline || !chosen) return;
  timeline.show(card);
  for (const each of group.querySelectorAll(".card.chosen")) each.classList.remove("chosen");
  chosen.classList.add("chosen");
  const target = toCard ? chosen : timeline.holder;
  target.scrollIntoView({ block: "nearest" });
  if (!toCard) timeline.holder.focus({ preventScroll: true });
}
function addShow(card) {
  const group = card.closest("details.group");
  if (!(group instanceof HTMLDetailsElement) || card.dataset.at === void 0) return;
  const button = make("button", { type: "button", class: "show" }, "Show on the timeline");
  button.addEventListener("click", () => choose(group, card.id, false));
  card.querySelector(".do")?.after(button);
}
function addCopy(code) {
  const button = make("button", { type: "button", class: "copy" }, "Copy");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(code.textContent ?? "");
      say(button, "Copied");
    } catch {
      getSelection()?.selectAllChildren(code);
      say(button, "Selected: copy it with Ctrl-C");
    }
  });
  code.after(button);
}
function dress(theme) {
  document.body.className = `rk-${theme}`;
}
function begin() {
  const asked = new URLSearchParams(location.search).get("theme") ?? "";
  const own = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  const select = make(
    "select",
    { id: "theme", "aria-label": "colours" },
    ...THEMES.map((theme) => make("option", { value: theme }, theme))
  );
  select.value = THEMES.includes(asked) ? asked : own;
  select.addEventListener("change", () => dress(select.value));
  document.querySelector("header")?.append(select);
  dress(select.value);
  for (const card of document.querySelectorAll(".card")) addShow(
    /** @type {HTMLElement} */
    card
  );
  for (const code of document.querySelectorAll("code.command")) addCopy(
    /** @type {HTMLElement} */
    code
  );
  for (const group of document.querySelectorAll("details.group")) {
    const details = (
      /** @type {HTMLDetailsElement} */
      group
    );
    details.addEventListener("toggle", () => open(details));
    open(details);
  }
}
function follow() {
  const target = document.getElementById(location.hash.slice(1));
  const group = target?.closest("details.group");
  if (!target || !(group instanceof HTMLDetailsElement)) return;
  group.open = true;
  open(group);
  if (target.classList.contains("card")) choose(group, target.id, true);
  else group.scrollIntoView();
}
begin();
follow();
addEventListener("hashchange", follow);
