// Made of page/lab/main.js by `make page`; edit there. Sources 42d8b27f0a7f171e, bundle 82307cac00541557.
// shared/model.js
function bytesOf(text3) {
  return new DataView(Uint8Array.from(atob(text3), (letter) => letter.charCodeAt(0)).buffer);
}
var PageModel = class {
  /**
   * @param {Record<string, unknown>} state
   * @param {Kernel} [kernel]
   */
  constructor(state, kernel = {}) {
    this.state = {
      ...state
    };
    this.kernel = kernel;
    this.listeners = /* @__PURE__ */ new Map();
  }
  /** @param {string} key */
  get(key) {
    return (
      /** @type {any} */
      this.state[key]
    );
  }
  /**
   * @param {string} key
   * @param {unknown} value
   */
  set(key, value) {
    this.state[key] = value;
  }
  save_changes() {
    this.kernel.save?.(this.state);
  }
  /** @param {object} message */
  send(message) {
    this.kernel.send?.(message);
  }
  /**
   * @param {string} name
   * @param {(...args: any[]) => void} listener
   */
  on(name, listener) {
    const known = this.listeners.get(name) ?? /* @__PURE__ */ new Set();
    this.listeners.set(name, known.add(listener));
  }
  /**
   * @param {string} name
   * @param {(...args: any[]) => void} listener
   */
  off(name, listener) {
    this.listeners.get(name)?.delete(listener);
  }
  /**
   * Take new values from the kernel, all before any of them is told of; one that is the same is no change, as in Jupyter.
   * @param {Record<string, unknown>} state
   */
  receive(state) {
    const changed = Object.keys(state).filter((key) => this.state[key] !== state[key]);
    Object.assign(this.state, state);
    changed.forEach((key) => this.tell(`change:${key}`));
  }
  /**
   * Take a message from the kernel.
   * @param {object} message
   * @param {DataView[]} buffers
   */
  hear(message, buffers) {
    this.tell("msg:custom", message, buffers);
  }
  /**
   * @param {string} name
   * @param {...unknown} values
   */
  tell(name, ...values) {
    for (const listener of [
      ...this.listeners.get(name) ?? []
    ]) listener(...values);
  }
};

// lab/film/times.js
function placeOf(times, at) {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = low + high >> 1;
    if (times[middle] <= at) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
function sums(waits) {
  let at = 0;
  return waits.map((wait) => at += wait);
}
function seconds(ms) {
  return `${((ms % 1e3 === 250 ? ms - 1 : ms) / 1e3).toFixed(1)} s`;
}
function milliseconds(ms) {
  return `${(ms / 1e3).toFixed(3)} s`;
}

// lab/film/positions.js
function decodePositions(flat) {
  const looks = [];
  let last = [
    0,
    0,
    0,
    0
  ];
  for (let i = 0; i < flat.length; i += 4) {
    last = /** @type {Look} */
    last.map((value, k) => value + flat[i + k]);
    looks.push(last);
  }
  return looks;
}
function positionBetween(looks, at, flows) {
  if (!looks || !looks.length) return null;
  const place = placeOf(looks.map((look) => look[0]), at);
  if (place < 0) return null;
  const [since, position, end, committed] = looks[place];
  const next = looks[place + 1];
  const [until, thenPosition, thenEnd] = next || [
    at,
    0,
    end + Math.round(growth(looks, place) * (at - since))
  ];
  const share = until > since ? (at - since) / (until - since) : 1;
  const logEnd = Math.max(end, Math.round(end + (thenEnd - end) * share));
  if (!flows) return {
    position,
    end: logEnd,
    committed
  };
  if (next && thenEnd - thenPosition > Math.max(2, end - position)) {
    return {
      position: Math.round(position + (thenPosition - position) * share),
      end: logEnd,
      committed
    };
  }
  const behind = next ? Math.max(0, thenEnd - thenPosition) : 0;
  return {
    position: Math.max(position, logEnd - behind),
    end: Math.max(logEnd, position),
    committed
  };
}
function growth(looks, place) {
  const [first, here] = [
    looks[0],
    looks[place]
  ];
  return here[0] > first[0] ? (here[2] - first[2]) / (here[0] - first[0]) : 0;
}
function positionAt(film, partition, at, flows) {
  return positionBetween(film.positions?.[partition], at, flows);
}

// lab/film/sentences.js
function decodeSentences({ words, track }) {
  const times = [];
  const said = [];
  let at = 0;
  for (let i = 0; i < track.length; i += 3) {
    at += track[i];
    times.push(at);
    said.push([
      words[track[i + 1]],
      words[track[i + 2]]
    ]);
  }
  return {
    times,
    said
  };
}
function sentenceAt(film, at) {
  const place = Math.max(0, placeOf(film.sentences.times, at));
  const [cause, effect] = film.sentences.said[place] || [
    "",
    ""
  ];
  return [
    fillClock(cause, at),
    fillClock(effect, at),
    place
  ];
}
function fillClock(text3, at) {
  return text3.replace(/\{(left|ago):(\d+)\}/g, (_, way, ms) => seconds(Math.max(0, way === "left" ? ms - at : at - ms)));
}

// lab/film/tracks.js
function decodeTrack(flat) {
  const times = [];
  const states = [];
  let at = 0;
  for (let i = 0; i < flat.length; i += 2) {
    at += flat[i];
    times.push(at);
    states.push(flat[i + 1]);
  }
  return {
    times,
    states
  };
}
function stateAt(track, table, at) {
  return table[track.states[Math.max(0, placeOf(track.times, at))]];
}
function sinceWhen(track, table, at, same) {
  let place = Math.max(0, placeOf(track.times, at));
  while (place > 0 && same(table[track.states[place - 1]])) place -= 1;
  return track.times[place];
}
function bars(track, table, end, look) {
  const merged2 = [];
  track.times.forEach((from, place) => {
    const until = place + 1 < track.times.length ? track.times[place + 1] : end;
    const state = table[track.states[place]];
    const last = merged2.at(-1);
    if (last && look(last[2]) === look(state)) last[1] = until;
    else merged2.push([
      from,
      until,
      state
    ]);
  });
  return merged2;
}
function partitionBars(track, table, end) {
  return bars(track, table, end, (state) => `${state.owner}${state.word}${state.flows}`);
}

// lab/film/slots.js
function placeTokens(tracks, states, members, settled) {
  const room = new Room(tracks.length, members, settled);
  const moves = movesOf(tracks, states);
  for (let i = 0; i < moves.length; ) {
    let end = i;
    while (end < moves.length && moves[end].at === moves[i].at) end += 1;
    room.move(moves.slice(i, end));
    i = end;
  }
  room.rest();
  return {
    slots: room.slots,
    mostIn: room.mostIn,
    mostInRail: room.mostInRail
  };
}
function movesOf(tracks, states) {
  const moves = [];
  tracks.forEach((track, partition) => {
    let before;
    track.times.forEach((at) => {
      const { owner } = stateAt(track, states, at);
      if (owner !== before) moves.push({
        at,
        partition,
        owner
      });
      before = owner;
    });
  });
  return moves.sort((a, b) => a.at - b.at || a.partition - b.partition);
}
var Room = class {
  /**
   * @param {number} partitions
   * @param {number} members
   * @param {number} settled
   */
  constructor(partitions, members, settled) {
    this.settled = settled;
    this.slots = Array.from({
      length: partitions
    }, () => ({
      times: [],
      slots: []
    }));
    this.mostIn = Array(members).fill(0);
    this.mostInRail = 0;
    this.taken = /* @__PURE__ */ new Map();
    this.here = /* @__PURE__ */ new Map();
    this.rested = false;
  }
  /**
   * All moves of one moment: first everybody leaves, then everybody arrives.
   * @param {Move[]} moves
   */
  move(moves) {
    if (moves[0].at > this.settled) this.rest();
    for (const { partition } of moves) {
      const left = this.here.get(partition);
      if (left) this.taken.get(left.owner)?.delete(left.slot);
    }
    for (const { at, partition, owner } of moves) {
      const slot = this.take(owner);
      this.here.set(partition, {
        owner,
        slot
      });
      this.slots[partition].times.push(at);
      this.slots[partition].slots.push(slot);
      if (owner === -1) this.mostInRail = Math.max(this.mostInRail, slot + 1);
      else if (at > this.settled) this.count(owner, slot);
    }
  }
  /**
   * The first free slot of an owner.
   * @param {number} owner
   */
  take(owner) {
    const used = this.taken.get(owner) ?? /* @__PURE__ */ new Set();
    this.taken.set(owner, used);
    let slot = 0;
    while (used.has(slot)) slot += 1;
    used.add(slot);
    return slot;
  }
  /** What the lanes hold when the group settles counts; what they held while it formed does not. */
  rest() {
    if (this.rested) return;
    this.rested = true;
    this.here.forEach(({ owner, slot }) => this.count(owner, slot));
  }
  /**
   * @param {number} owner
   * @param {number} slot
   */
  count(owner, slot) {
    if (owner >= 0) this.mostIn[owner] = Math.max(this.mostIn[owner], slot + 1);
  }
};

// lab/film/format.js
var FILM_VERSION = 5;
var GONE = -2;
var COLUMNS = Object.freeze({
  memberStates: [
    "life",
    "standing",
    "doing",
    "generation",
    "leader",
    "parked",
    "sending",
    "callback",
    "error",
    "instanceId",
    "protocol",
    "epoch",
    "session"
  ],
  partitionStates: [
    "owner",
    "word",
    "flows",
    "last",
    "target",
    "also"
  ],
  groupStates: [
    "state",
    "protocol",
    "generation",
    "targetEpoch",
    "assignor",
    "reason",
    "up",
    "phase",
    "former"
  ],
  members: [
    "name",
    "label",
    "hue",
    "pattern"
  ],
  marks: [
    "at",
    "kind",
    "member",
    "words"
  ],
  deliveries: [
    "at",
    "kind",
    "partition",
    "member",
    "count",
    "first"
  ],
  messages: [
    "sent",
    "flight",
    "member",
    "api",
    "request",
    "error",
    "news"
  ]
});
var FilmError = class extends Error {
};
function checkVersion(raw) {
  const version = raw?.version ?? "none";
  if (version === FILM_VERSION) return;
  throw new FilmError(`This page reads films of version ${FILM_VERSION}; the kernel sent one of version ${version}. Restart the kernel, reload the page, and run the cell again.`);
}
async function readFilm(bytes) {
  return decodeFilm(await inflate(bytes));
}
async function inflate(bytes) {
  const { readable, writable } = new DecompressionStream("deflate");
  const writer = writable.getWriter();
  const written = writer.write(bytes).then(() => writer.close());
  const [value] = await Promise.all([
    new Response(readable).json(),
    written
  ]);
  return value;
}
function decodeFilm(raw) {
  checkVersion(raw);
  const partitionStates = raw.partitionStates.map(partitionState);
  const partitionTracks = raw.partitionTracks.map(decodeTrack);
  const positions = (
    /** @type {import("./positions.js").Look[][] | null} */
    raw.positions && raw.positions.map(decodePositions)
  );
  const film = {
    label: (
      /** @type {string} */
      raw.label
    ),
    group: (
      /** @type {string} */
      raw.group
    ),
    end: (
      /** @type {number} */
      raw.end
    ),
    known: (
      /** @type {number} */
      raw.known ?? raw.end
    ),
    settled: (
      /** @type {number} */
      raw.settled
    ),
    steps: (
      /** @type {Record<string, string[]>} */
      raw.steps
    ),
    heartbeats: (
      /** @type {Record<string, string>} */
      raw.heartbeats
    ),
    seats: (
      /** @type {string[]} */
      raw.seats
    ),
    partitions: (
      /** @type {string[]} */
      raw.partitions
    ),
    members: rows("members", raw).map((member, index) => (
      /** @type {Member} */
      {
        ...member,
        index
      }
    )),
    memberStates: (
      /** @type {MemberState[]} */
      rows("memberStates", raw)
    ),
    partitionStates: (
      /** @type {PartitionState[]} */
      partitionStates
    ),
    groupStates: rows("groupStates", raw).map((state) => (
      /** @type {GroupState} */
      {
        ...state,
        up: !!state.up
      }
    )),
    memberTracks: (
      /** @type {import("./tracks.js").Track[]} */
      raw.memberTracks.map(decodeTrack)
    ),
    seatTracks: (
      /** @type {import("./tracks.js").Track[]} */
      raw.seatTracks.map(decodeTrack)
    ),
    partitionTracks,
    groupTrack: decodeTrack(raw.groupTrack),
    beats: (
      /** @type {number[][]} */
      raw.beats.map(sums)
    ),
    polls: (
      /** @type {number[][]} */
      raw.polls
    ),
    sentences: decodeSentences(raw.sentences),
    positions,
    mostLag: mostLag(positions ?? []),
    callbacks: sums(raw.callbacks),
    marks: (
      /** @type {Mark[]} */
      rows("marks", raw)
    ),
    deliveries: (
      /** @type {Delivery[]} */
      rows("deliveries", raw)
    ),
    messages: rows("messages", raw).map((message) => messageOf(message, raw.apis)),
    ...placeTokens(partitionTracks, partitionStates, raw.members.length, raw.settled)
  };
  return {
    ...film,
    events: eventTimes(film)
  };
}
function rows(table, raw) {
  const columns = COLUMNS[table];
  return raw[table].map((row) => Object.fromEntries(columns.map((column, place) => [
    column,
    row[place]
  ])));
}
function partitionState([owner, word, flows, last, target, also]) {
  return {
    owner: word === "not there" ? GONE : owner,
    word,
    flows: !!flows,
    last,
    target,
    also
  };
}
function messageOf({ sent, flight, member, api, request, error, news }, apis) {
  const kind = apis[api] ?? "";
  const quiet = (kind === "heartbeat" || kind === "commit") && !error && !news;
  const arrives = flight < 0 ? null : sent + flight;
  return {
    sent,
    arrives,
    member,
    api,
    kind,
    request: !!request,
    error,
    news: !!news,
    quiet
  };
}
function mostLag(positions) {
  return Math.max(20, ...positions.flatMap((looks) => looks.map(([, position, end]) => end - position)));
}
function eventTimes({ marks, groupTrack, slots, partitionTracks }) {
  const tracks = partitionTracks.length <= 100 ? partitionTracks : [];
  const times = [
    groupTrack,
    ...slots,
    ...tracks
  ].flatMap((track) => track.times);
  return [
    .../* @__PURE__ */ new Set([
      ...marks.map((mark) => mark.at),
      ...times
    ])
  ].sort((a, b) => a - b);
}

// lab/film/board.js
function boardAt(film, at) {
  const members = film.members.map((member) => ({
    ...member,
    state: stateAt(film.memberTracks[member.index], film.memberStates, at),
    seat: stateAt(film.seatTracks[member.index], film.seats, at)
  }));
  const partitions = film.partitionTracks.map((track) => stateAt(track, film.partitionStates, at));
  const group3 = stateAt(film.groupTrack, film.groupStates, at);
  const owned = members.map(() => []);
  partitions.forEach((state, index) => {
    if (state.owner >= 0) owned[state.owner].push(index);
  });
  const seated = (seat) => members.filter((member) => member.seat === seat);
  return {
    at,
    members,
    partitions,
    group: group3,
    phase: group3.phase,
    joined: seated("joined"),
    awaited: seated("awaited"),
    coming: seated("coming"),
    owned,
    there: partitions.filter((state) => state.owner !== GONE).length,
    flowing: partitions.filter((state) => state.flows && state.owner !== GONE).length
  };
}

// lab/kernel/alone.js
function playAlone(render2) {
  const played = [
    ...document.querySelectorAll("script[data-rebalance-run]")
  ].flatMap((island) => {
    const el = (
      /** @type {Place | null} */
      document.getElementById(island.getAttribute("data-rebalance-run") || "rebalance-lab")
    );
    if (!el) return [];
    const state = JSON.parse(island.textContent ?? "");
    island.remove();
    render2({
      model: new PageModel({
        ...state,
        film: bytesOf(state.film)
      }),
      el
    });
    return [
      el
    ];
  });
  if (played.length !== 1) return;
  document.addEventListener("keydown", (event) => {
    if (event.target === document.body) played[0].rebalanceLab?.onKey(event);
  });
}

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
function say(node, text3) {
  if (node.textContent !== text3) node.textContent = text3;
}
function set(node, key, value) {
  const text3 = value === null || value === void 0 ? null : String(value);
  if (node.getAttribute(key) === text3) return;
  if (text3 === null) node.removeAttribute(key);
  else node.setAttribute(key, text3);
}

// lab/kernel/still.js
function hidingStill(mark) {
  const picture2 = `[data-rk-still="${CSS.escape(mark ?? "")}"]`;
  return mark ? make("style", {}, `${picture2}, .jp-OutputArea-child:has(${picture2}) { display: none; }`) : "";
}

// lab/screen/controls.js
var SHOWN_BRANCHES = 4;
function showControls(lab, controls) {
  const { ui } = lab;
  say(ui.title, controls.title);
  set(ui.presetButton, "title", controls.title);
  set(ui.presetButton, "aria-label", `Lessons: ${controls.title}`);
  set(ui.root, "aria-label", `Rebalance lab, ${controls.title}`);
  const lesson = `${controls.lesson}. Try: ${controls.try} Watch: ${controls.watch}.`;
  say(ui.lesson, controls.try ? lesson : "");
  set(ui.lesson, "title", controls.try ? lesson : null);
  say(ui.storyText, controls.story ?? "");
  ui.story.hidden = !controls.story;
  showProtocols(lab, controls);
  showBranches(ui.branches, controls);
  ui.undo.disabled = !controls.undo;
  ui.redo.disabled = !controls.redo;
  set(ui.undo, "title", controls.undo || "Nothing to undo");
  set(ui.redo, "title", controls.redo || "Nothing to redo");
}
function showProtocols(lab, { protocols, protocol, own = [] }) {
  const { ui } = lab;
  if (ui.protocols.children.length !== protocols.length) {
    ui.protocols.replaceChildren(...protocols.map(([name, words, says]) => {
      const node = make("button", {
        type: "button",
        "data-protocol": name,
        "data-says": says
      }, words);
      node.addEventListener("click", () => showProtocol(lab, name));
      return node;
    }));
  }
  const shown = protocol || (own.length === 1 ? own[0] : "");
  for (const node of ui.protocols.children) {
    const name = node.getAttribute("data-protocol");
    const chosen = name === shown && !lab.comparison.view;
    set(node, "aria-pressed", chosen ? "true" : "false");
    const says = node.getAttribute("data-says");
    set(node, "title", name === shown && !protocol ? `${says} The lesson's members are set to it.` : says);
  }
  const named = protocols.filter(([name]) => own.includes(name)).map(([, words]) => words);
  const mixed = !shown && named.length > 1;
  say(ui.mixed, mixed ? "Mixed" : "");
  set(ui.mixed, "title", mixed ? `The members of this lesson speak several: ${named.join(" and ")}.` : null);
  ui.mixed.hidden = !mixed || lab.alone;
}
function showProtocol(lab, name) {
  if (lab.comparison.view) lab.comparison.end();
  lab.ask({
    type: "set",
    name: "protocol",
    value: name
  });
}
function showBranches(node, { branches, here }) {
  const shown = branches?.[here];
  if (!branches || !shown) return;
  const dots = branches.slice(-SHOWN_BRANCHES);
  node.replaceChildren(...dots.map((branch) => make("i", {
    class: branch === shown ? "rk-hereB" : ""
  })), shown[0]);
  const count2 = `${branches.length} branch${branches.length === 1 ? "" : "es"}`;
  set(node, "aria-label", `History: ${count2}, ${shown[0]} is shown`);
}

// lab/acting/arguments.js
var ALL = "all topics";
function seconds2(key, usual) {
  return {
    key,
    kind: "number",
    usual: () => String(usual),
    read: (text3) => Math.round(Number(text3) * 1e3)
  };
}
function count(key, usual) {
  return {
    key,
    kind: "number",
    usual: (lab) => String(usual(lab)),
    read: Number
  };
}
function text(key, usual) {
  return {
    key,
    kind: "text",
    usual: () => usual,
    read: (text3) => text3.trim()
  };
}
function choice(key, options, usual) {
  return {
    key,
    kind: "choice",
    options,
    usual,
    read: (text3) => text3
  };
}
function topicList(key) {
  const names = (lab) => topicsOf(lab).map(([name]) => name);
  return {
    key,
    kind: "choice",
    options: (lab) => [
      ALL,
      ...names(lab)
    ],
    usual: () => ALL,
    read: (text3, lab) => text3 === ALL ? names(lab) : [
      text3
    ]
  };
}
function config(key, usual) {
  const read = (text3) => {
    const [name, value = ""] = text3.split("=").map((part) => part.trim());
    return {
      [name]: /^\d+$/.test(value) ? Number(value) : value
    };
  };
  return {
    key,
    kind: "text",
    usual: () => usual,
    read
  };
}
function topicsOf(lab) {
  return lab.model.get("controls").topics;
}

// lab/acting/actions.js
var GROUPS = Object.freeze(
  /** @type {[string, string][]} */
  [
    [
      "application",
      "Application"
    ],
    [
      "process",
      "Process"
    ],
    [
      "network",
      "Network"
    ],
    [
      "broker",
      "Broker"
    ],
    [
      "topics",
      "Topics"
    ],
    [
      "group",
      "Group"
    ]
  ]
);
var CRASH = {
  do: "crash",
  key: "C",
  words: "Crash",
  group: "process",
  member: true
};
var LEAVE = {
  do: "leave",
  key: "L",
  words: "Leave",
  group: "process",
  member: true
};
var FREEZE = {
  do: "freeze",
  key: "Z",
  words: "Freeze",
  group: "process",
  member: true
};
var RESTART = {
  do: "restart",
  key: "R",
  words: "Restart",
  group: "process",
  member: true
};
var ACTIONS = [
  CRASH,
  LEAVE,
  FREEZE,
  RESTART
];
var APIS = [
  "JoinGroup",
  "SyncGroup",
  "Heartbeat",
  "ConsumerGroupHeartbeat",
  "OffsetCommit",
  "LeaveGroup"
];
var MORE = [
  {
    do: "stall",
    key: "W",
    words: "Stop polling for {} s",
    group: "application",
    member: true,
    asks: [
      seconds2("for_ms", 20)
    ]
  },
  {
    do: "slow_down",
    words: "Need {} ms a record from now on",
    group: "application",
    member: true,
    asks: [
      count("processing_ms", () => 100)
    ]
  },
  {
    do: "slow_callback",
    words: "Take {} s in each callback",
    group: "application",
    member: true,
    asks: [
      seconds2("callback_ms", 5)
    ]
  },
  {
    do: "subscribe",
    words: "Subscribe to {}",
    group: "application",
    member: true,
    asks: [
      topicList("topics")
    ]
  },
  {
    do: "enforce_rebalance",
    key: "E",
    words: "enforceRebalance()",
    group: "application",
    member: true
  },
  CRASH,
  LEAVE,
  FREEZE,
  RESTART,
  {
    do: "freeze_for",
    words: "Freeze for {} s",
    group: "process",
    member: true,
    asks: [
      seconds2("for_ms", 20)
    ]
  },
  {
    do: "reconfigure",
    words: "Bounce with {}, away for {} s",
    group: "process",
    member: true,
    asks: [
      config("configs", "max.poll.records=50"),
      seconds2("after_ms", 2)
    ]
  },
  {
    do: "duplicate",
    key: "D",
    words: "Start a second process with its group.instance.id",
    group: "process",
    member: true,
    args: (lab, member) => ({
      as: fresh(lab, member.name)
    })
  },
  {
    do: "cut_network",
    key: "X",
    words: "Cut it off from the coordinator",
    group: "network",
    member: true
  },
  {
    do: "heal_network",
    words: "Let it reach the coordinator again",
    group: "network",
    member: true
  },
  {
    do: "drop_next",
    key: "Delete",
    words: "Lose its next {}",
    group: "network",
    member: true,
    asks: [
      choice("api", () => APIS, beatOf)
    ]
  },
  {
    do: "delay_next",
    words: "Delay its next {} by {} s",
    group: "network",
    member: true,
    asks: [
      choice("api", () => APIS, beatOf),
      seconds2("by_ms", 5)
    ]
  },
  {
    do: "broker_down",
    key: "B",
    words: "Stop the coordinator's broker",
    group: "broker"
  },
  {
    do: "broker_up",
    words: "Start the coordinator's broker",
    group: "broker"
  },
  {
    do: "coordinator_failover",
    key: "O",
    words: "Move the coordinator, {} s without one",
    group: "broker",
    asks: [
      seconds2("for_ms", 2)
    ]
  },
  {
    do: "add_partitions",
    key: "P",
    words: "Let {} grow to {} partitions",
    group: "topics",
    asks: [
      choice("topic", topicNames, topicName),
      count("partitions", (lab) => topicOf(lab)[1] + 2)
    ]
  },
  {
    do: "create_topic",
    words: "Create topic {} with {} partitions",
    group: "topics",
    asks: [
      text("topic", "more"),
      count("partitions", () => 2)
    ]
  },
  {
    do: "delete_topic",
    words: "Delete topic {}",
    group: "topics",
    asks: [
      choice("topic", topicNames, topicName)
    ]
  },
  {
    do: "add",
    key: "M",
    words: "Add a member",
    group: "group"
  },
  {
    do: "scale_to",
    words: "Scale to {} members, {} s apart",
    group: "group",
    asks: [
      count("members", (lab) => running(lab) + 2),
      seconds2("every_ms", 0)
    ]
  },
  {
    do: "rolling_restart",
    words: "Restart all, {} s apart, away for {} s",
    group: "group",
    asks: [
      seconds2("every_ms", 10),
      seconds2("after_ms", 2)
    ]
  },
  {
    do: "remove",
    words: "Remove it as an administrator",
    group: "group",
    member: true
  }
];
function actionOf(name) {
  return MORE.find((action) => action.do === name);
}
function argsOf(lab, what, chosen = []) {
  const action = actionOf(what);
  if (!action) return {};
  const member = boardAt(lab.film, lab.player.at).members[lab.selected];
  const asked = (action.asks ?? []).map((each, place) => [
    each.key,
    each.read(chosen[place] ?? each.usual(lab), lab)
  ]);
  return {
    ...action.args?.(lab, member),
    ...Object.fromEntries(asked)
  };
}
function wordsOf(lab, { words, asks = [] }, chosen = []) {
  const texts = asks.map((each, place) => chosen[place] ?? each.usual(lab));
  return texts.reduce((told, each) => told.replace("{}", each), words);
}
function topicNames(lab) {
  return topicsOf(lab).map(([name]) => name);
}
function topicName(lab) {
  return topicOf(lab)[0];
}
function topicOf(lab) {
  const { partition } = lab.marker;
  const marked = partition === null ? "" : lab.film.partitions[partition].replace(/-\d+$/, "");
  const topics = topicsOf(lab);
  return topics.find(([name]) => name === marked) ?? topics[0];
}
function fresh(lab, name) {
  let number = 2;
  while (lab.film.members.some((member) => member.name === `${name}-copy${number}`)) number += 1;
  return `${name}-copy${number}`;
}
function beatOf({ film, player }) {
  return film.heartbeats[stateAt(film.groupTrack, film.groupStates, player.at).protocol];
}
function running({ film, player }) {
  return boardAt(film, player.at).members.filter(({ state }) => [
    "alive",
    "frozen"
  ].includes(state.life)).length;
}

// lab/acting/deeds.js
var WHY = (
  /** @type {Record<string, string>} */
  {
    crashed: "has crashed",
    died: "has died",
    closed: "has left",
    absent: "has not started"
  }
);
var ALWAYS = /* @__PURE__ */ new Set([
  "restart",
  "heal_network",
  "remove"
]);
function refusalOf(lab, what) {
  const member = boardAt(lab.film, lab.player.at).members[lab.selected];
  if (!member) return "Nobody is in the group. Add a member (M).";
  const { life } = member.state;
  if (life === "alive" || life === "frozen" && what !== "leave" || ALWAYS.has(what)) return "";
  if (life === "frozen") return `${member.name} is frozen. Thaw it first.`;
  return `${member.name} ${WHY[life]}. Restart it first.`;
}
function thawInstead(what, member) {
  if (what === "freeze_for") return "freeze";
  return what === "freeze" && member?.state.life === "frozen" ? "thaw" : what;
}
function act(lab, what, chosen = []) {
  const action = actionOf(what);
  if (lab.alone || !action) return;
  const refused = action.member ? refusalOf(lab, what) : "";
  if (refused) {
    lab.refuse(refused);
    return;
  }
  const board = boardAt(lab.film, lab.player.at);
  const member = board.members[lab.selected];
  lab.player.pause();
  const down = what === "broker_down" && !board.group.up;
  lab.costs.keep(what);
  const message = {
    type: "act",
    do: down ? "broker_up" : thawInstead(what, member),
    member: action.member ? member.name : null,
    args: argsOf(lab, what, chosen),
    at_ms: Math.round(lab.player.at)
  };
  const words = `${wordsOf(lab, action, chosen)}${action.member ? `, ${member.name}` : ""}`;
  if (lab.predict.on) lab.predict.ask({
    ...message,
    words
  });
  else lab.ask(message);
}
function walk(lab, how) {
  lab.player.pause();
  lab.ask({
    type: how
  });
}
function nextProtocol(lab) {
  const { protocols, protocol } = lab.model.get("controls");
  const place = protocols.findIndex(([name]) => name === protocol);
  showProtocol(lab, protocols[(place + 1) % protocols.length][0]);
}

// lab/acting/costs.js
var REST_MS = 150;
var SLOW_MS = 150;
var Costs = class {
  /** @param {import("../lab.js").Lab} lab */
  constructor(lab) {
    this.lab = lab;
    this.asking = false;
    this.waiting = 0;
    this.at = null;
    this.preview = null;
    this.foreseen = null;
  }
  /**
   * A button that is hovered or focused for a moment says what it will cost, and shows it pale on the strip; the kernel
   * keeps the run for the click.
   * @param {HTMLElement} node
   * @param {string} what
   * @param {() => Record<string, unknown>} [args] of the deed
   */
  watch(node, what, args) {
    const begin = () => this.want(node, {
      what,
      args: args ?? (() => argsOf(this.lab, what))
    });
    const end = () => this.leave(node);
    node.addEventListener("pointerenter", begin);
    node.addEventListener("focus", begin);
    node.addEventListener("pointerleave", end);
    node.addEventListener("blur", end);
  }
  /**
   * @param {HTMLElement} node
   * @param {Wanted} wanted
   */
  want(node, wanted) {
    clearTimeout(this.waiting);
    this.at = node;
    this.waiting = setTimeout(() => this.ask(wanted), REST_MS);
  }
  /** @param {HTMLElement} node */
  leave(node) {
    if (this.at !== node) return;
    clearTimeout(this.waiting);
    this.at = null;
    this.lab.strip.unghost();
    say(this.lab.ui.cost, "");
  }
  /** @param {string} what */
  mayAsk(what) {
    const { lab } = this;
    if (lab.alone || lab.talk.changing || lab.player.playing || lab.predict.on) return false;
    return !actionOf(what)?.member || !refusalOf(lab, what);
  }
  /** @param {Wanted} wanted */
  async ask(wanted) {
    const { lab, at: node } = this;
    const { what } = wanted;
    if (this.asking || !this.mayAsk(what)) return;
    this.asking = true;
    const at = Math.round(lab.player.at);
    const member = actionOf(what)?.member ? lab.film.members[lab.selected].name : null;
    const name = thawInstead(what, boardAt(lab.film, lab.player.at).members[lab.selected]);
    const slow = setTimeout(() => say(lab.ui.cost, "computing\u2026"), SLOW_MS);
    const answer = await lab.talk.request({
      type: "preview",
      do: name,
      member,
      at_ms: at,
      args: wanted.args()
    });
    clearTimeout(slow);
    this.asking = false;
    if (this.at !== node) {
      if (this.at) this.at.dispatchEvent(new Event("pointerenter"));
      return;
    }
    const done = answer.type === "done";
    say(lab.ui.cost, done ? answer.words : answer.words ?? "");
    if (!done || at !== Math.round(lab.player.at)) return;
    if (answer.cost !== void 0) this.preview = {
      what,
      member: lab.selected,
      at,
      cost: answer.cost
    };
    if (answer.buffers.length) await this.show(answer, at, node);
  }
  /**
   * @param {any} answer
   * @param {number} at
   * @param {HTMLElement | null} node whose future it is
   */
  async show(answer, at, node) {
    const { lab } = this;
    const then = decodeFilm(await inflate(answer.buffers[0]));
    if (this.at === node && lab.player.at === at && !lab.talk.changing) {
      lab.strip.ghost(then, at, `What would be: ${answer.would}`);
    }
  }
  /**
   * Keep what was foreseen of the deed that is done now.
   * @param {string} what
   */
  keep(what) {
    const { player, selected } = this.lab;
    const { preview } = this;
    const same = preview?.what === what && preview.member === selected && preview.at === Math.round(player.at);
    this.foreseen = same ? preview : null;
  }
  /** @param {string} words */
  say(words) {
    say(this.lab.ui.cost, words);
  }
  /**
   * After a deed: what was foreseen beside what it came to.
   * @param {{ cost: number, without: number, twice: number, skipped: number }} answer
   */
  tell({ cost, without, twice, skipped }) {
    const foreseen = this.foreseen ? `foreseen ${thousands(this.foreseen.cost)}, ` : "";
    const words = `Stopped from here on: ${thousands(cost)} partition-seconds`;
    const records = [
      [
        twice,
        "twice"
      ],
      [
        skipped,
        "skipped"
      ]
    ].filter(([count2]) => count2).map(([count2, how]) => `${Number(count2).toLocaleString("en")} ${how}`).join(", ");
    const also = records ? ` Records: ${records}.` : "";
    say(this.lab.ui.cost, `${words} (${foreseen}without it ${thousands(without)}).${also}`);
    this.foreseen = this.preview = null;
  }
};
function thousands(value) {
  return value.toLocaleString("en", {
    minimumFractionDigits: 1,
    maximumFractionDigits: 1
  });
}

// lab/dialogs/items.js
function menuItem(lab, content, run, looks = {}) {
  const node = make("button", {
    type: "button",
    class: "rk-item",
    ...looks
  }, ...content);
  node.addEventListener("click", () => {
    lab.popup.close(true);
    run();
  });
  return node;
}
function selectOf(label, options, value, run) {
  const select = make("select", {
    "aria-label": label
  });
  select.append(...options.map(([name, words]) => make("option", {
    value: name
  }, words)));
  select.value = value;
  select.addEventListener("input", () => run(select.value));
  return select;
}

// lab/dialogs/history.js
var LONGEST_NAME = 40;
function showHistory(lab, opener2) {
  const { branches, here, done } = lab.model.get("controls");
  const ticked = /* @__PURE__ */ new Set([
    here
  ]);
  const note = make("p", {
    role: "status"
  }, "");
  const compare = make("button", {
    type: "button",
    class: "rk-primary"
  }, "Compare the ticked");
  compare.addEventListener("click", () => {
    if (ticked.size < 2 || ticked.size > 3) {
      say(note, "Tick two or three branches.");
      return;
    }
    lab.popup.close(true);
    lab.comparison.toggle([
      ...ticked
    ].sort((a, b) => a - b));
  });
  const deeds = done.map(([at, words]) => make("li", {}, `${seconds(at)} ${words}`));
  lab.popup.show(opener2, make("h2", {}, "History"), make("ol", {
    class: "rk-deeds"
  }, ...deeds), ...branches.map((_, number) => branchRow(lab, branches, number, number === here, ticked)), compare, note);
}
function branchRow(lab, branches, number, isHere, ticked) {
  const [name, parent, from, count2] = branches[number];
  const box = make("input", {
    type: "checkbox",
    "aria-label": `Compare ${name}`
  });
  box.checked = isHere;
  box.addEventListener("input", () => void (box.checked ? ticked.add(number) : ticked.delete(number)));
  const left = parent < 0 ? "" : `, left ${branches[parent][0]} at ${seconds(from)}`;
  const content = [
    make("b", {}, name),
    make("span", {}, `${count2} deed${count2 === 1 ? "" : "s"}${left}`)
  ];
  const go = menuItem(lab, content, () => lab.ask({
    type: "branch",
    number
  }), {
    "aria-current": isHere ? "true" : null
  });
  const rename = make("button", {
    type: "button",
    "aria-label": `Rename ${name}`
  }, "Rename");
  rename.addEventListener("click", () => askName(lab, go, number, name));
  const drop = menuItem(lab, [
    "Delete"
  ], () => lab.ask({
    type: "branch",
    do: "delete",
    number
  }), {
    "aria-label": `Delete ${name}`,
    class: null
  });
  const style = `margin-left:${parent < 0 ? 0 : 18}px`;
  return make("div", {
    class: "rk-branchrow",
    style
  }, box, go, rename, drop);
}
function askName(lab, entry, number, name) {
  const looks = {
    type: "text",
    value: name,
    maxlength: LONGEST_NAME,
    "aria-label": "Name of the branch"
  };
  const field = make("input", looks);
  entry.replaceWith(field);
  field.focus();
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    lab.popup.close(true);
    lab.ask({
      type: "branch",
      do: "rename",
      number,
      name: field.value
    });
  });
}

// lab/dialogs/lessons.js
var SEEN = "rk-seen";
async function showPresets(lab, opener2) {
  if (!lab.presets) {
    const answer = await lab.talk.request({
      type: "presets"
    });
    lab.presets = await inflate(answer.buffers[0]);
  }
  const lessons = (
    /** @type {Lesson[]} */
    lab.presets
  );
  const looks = {
    type: "search",
    placeholder: "search lessons",
    "aria-label": "Search lessons"
  };
  const search = make("input", {
    ...looks,
    autofocus: true
  });
  const list = make("div", {
    class: "rk-presetlist"
  });
  const seen = new Set(seenLessons());
  const fill = () => list.replaceChildren(...lessonItems(lab, lessons, search.value.toLowerCase(), seen));
  const surprise = make("button", {
    type: "button"
  }, "Surprise me");
  surprise.addEventListener("click", () => {
    const unseen = lessons.filter((lesson) => !seen.has(lesson.name));
    const choices = unseen.length ? unseen : lessons;
    openLesson(lab, choices[Math.floor(Math.random() * choices.length)], seen);
    lab.popup.close(true);
  });
  search.addEventListener("input", fill);
  fill();
  lab.popup.show(opener2, make("h2", {}, "Lessons"), make("div", {
    class: "rk-bar"
  }, search, surprise), list);
}
function lessonItems(lab, lessons, words, seen) {
  const shown = lessons.filter((lesson) => {
    const text3 = [
      lesson.title,
      lesson.try,
      lesson.watch,
      lesson.finds,
      lesson.group,
      lesson.name
    ].join(" ");
    return words.split(" ").every((word) => text3.toLowerCase().includes(word));
  });
  if (!shown.length) return [
    make("p", {}, "No lesson has these words.")
  ];
  const here = lab.model.get("controls").preset;
  return shown.flatMap((lesson, place) => {
    const title = `${lessons.indexOf(lesson) + 1}  ${lesson.title}`;
    const mark = seen.has(lesson.name) ? make("small", {}, " \u2713 seen") : null;
    const says = make("span", {}, `Try: ${lesson.try} Watch: ${lesson.watch}.`);
    const content = [
      make("b", {}, title, mark),
      says
    ];
    const item = menuItem(lab, content, () => openLesson(lab, lesson, seen), {
      class: "rk-item rk-preset",
      "aria-current": lesson.name === here ? "true" : null,
      "data-preset": lesson.name
    });
    return lesson.group === shown[place - 1]?.group ? [
      item
    ] : [
      make("h3", {}, lesson.group),
      item
    ];
  });
}
function openLesson(lab, lesson, seen) {
  try {
    localStorage.setItem(SEEN, JSON.stringify([
      ...seen,
      lesson.name
    ]));
  } catch {
  }
  lab.ask({
    type: "preset",
    name: lesson.name
  });
}
function seenLessons() {
  try {
    return JSON.parse(localStorage.getItem(SEEN) ?? "[]");
  } catch {
    return [];
  }
}

// lab/panels/copy.js
function copyText(text3, tell, said) {
  const done = () => tell(said);
  const failed = () => tell("The browser does not allow copying here.");
  if (!navigator.clipboard) {
    failed();
    return;
  }
  navigator.clipboard.writeText(text3).then(done, failed);
}

// lab/dialogs/link.js
async function showLink(lab) {
  const answer = await lab.talk.request({
    type: "link",
    at_ms: Math.round(lab.player.at)
  });
  if (answer.type === "refused") {
    lab.refuse(answer.words);
    return;
  }
  const { token: token2 } = answer;
  const address = new URL(location.href);
  address.hash = "";
  address.searchParams.set("rebalance-lab", token2);
  const note = make("p", {
    role: "status",
    class: "rk-told"
  });
  const tell = (words) => say(note, words);
  lab.popup.show(lab.ui.shareButton, make("h2", {}, "Link to this moment"), make("p", {}, `${token2.length} characters: scenario, what was done, cursor. No code.`), copyRow(tell, "link", token2), copyRow(tell, "in a notebook", `Lab.from_link("${token2}")`), copyRow(tell, "in a terminal", `rebalance-kit lab ${token2}`), copyRow(tell, "address of this page", address.href), openRow(lab, tell), note);
  copyText(address.href, tell, "The address is copied. It opens this moment in the first lab of the page.");
}
function copyRow(tell, words, text3) {
  const field = make("input", {
    type: "text",
    readonly: true,
    value: text3,
    "aria-label": words
  });
  const copy = make("button", {
    type: "button",
    "aria-label": `Copy ${words}`
  }, "Copy");
  copy.addEventListener("click", () => {
    field.select();
    copyText(text3, tell, "Copied.");
  });
  return make("div", {
    class: "rk-field"
  }, make("span", {}, words), make("div", {
    class: "rk-bar"
  }, field, copy));
}
function openRow(lab, tell) {
  const field = make("input", {
    type: "text",
    "aria-label": "Link to open",
    placeholder: "rk1.\u2026 or the whole address"
  });
  const open = make("button", {
    type: "button"
  }, "Open");
  open.addEventListener("click", () => lab.ask({
    type: "open",
    token: field.value
  }, (answer) => {
    if (answer.type === "refused") tell(answer.words);
    else lab.popup.close(true);
  }));
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    open.click();
  });
  return make("div", {
    class: "rk-field"
  }, make("span", {}, "Open a link"), make("div", {
    class: "rk-bar"
  }, field, open));
}

// lab/dialogs/more.js
function showMore(lab, opener2) {
  const member = lab.film.members[lab.selected];
  const { partition } = lab.marker;
  const marked = partition === null ? "" : lab.film.partitions[partition];
  const note = make("p", {}, `${marked} is marked: what is done to a topic is done to its topic.`);
  const title = member ? `What can be done, now to ${member.name}` : "Nobody is selected";
  lab.popup.show(opener2, make("h2", {}, title), marked ? note : "", make("div", {
    class: "rk-deedgroups"
  }, ...GROUPS.map(([name, words]) => drawGroup(lab, name, words))));
}
function drawGroup(lab, name, words) {
  const rows2 = MORE.filter(({ group: group3 }) => group3 === name).map((action) => drawDeed(lab, action));
  return make("section", {
    class: "rk-deedgroup",
    "aria-label": words
  }, make("h3", {}, words), ...rows2);
}
function drawDeed(lab, action) {
  const [head, ...between] = action.words.split("{}");
  const fields = (action.asks ?? []).map((argument) => drawField(lab, action, argument));
  const chosen = () => fields.map((field) => field.value);
  const key = action.key ? make("kbd", {
    "aria-hidden": "true"
  }, action.key) : null;
  const run = () => lab.act(action.do, chosen());
  const looks = {
    "data-do": action.do,
    "aria-label": wordsOf(lab, action)
  };
  const item = menuItem(lab, [
    make("span", {}, head.trim()),
    key
  ], run, looks);
  lab.costs.watch(item, action.do, () => argsOf(lab, action.do, chosen()));
  fields.forEach((field) => {
    field.addEventListener("input", () => item.setAttribute("aria-label", wordsOf(lab, action, chosen())));
    field.addEventListener("keydown", (event) => {
      if (
        /** @type {KeyboardEvent} */
        event.key !== "Enter"
      ) return;
      event.preventDefault();
      item.click();
    });
  });
  return make("div", {
    class: "rk-deed"
  }, item, ...fields.flatMap((field, place) => [
    field,
    between[place]
  ]));
}
function drawField(lab, action, { key, kind, usual, options }) {
  const label = `${action.words.split("{}")[0].trim()}: ${key}`;
  const value = usual(lab);
  if (kind === "choice") {
    const names = options?.(lab) ?? [];
    const select = make("select", {
      "aria-label": label,
      "data-argument": key
    });
    select.append(...names.map((name) => make("option", {
      value: name
    }, name)));
    select.value = value;
    return select;
  }
  const number = kind === "number" ? {
    type: "number",
    min: 0,
    step: "any"
  } : {
    type: "text"
  };
  return make("input", {
    ...number,
    value,
    "aria-label": label,
    "data-argument": key,
    autocomplete: "off"
  });
}

// lab/numbers/number.js
var PIXELS = 6;
function settingsOf({ numbers = {}, alone }) {
  const rows2 = Object.entries(alone ? {} : numbers);
  return new Map(rows2.map(([name, [value, least, most]]) => [
    name,
    {
      name,
      value,
      least,
      most
    }
  ]));
}
function stepOf(value) {
  return Math.max(1, 10 ** (String(Math.floor(Math.abs(value))).length - 2));
}
function moved({ value, least, most }, steps) {
  return Math.max(least, Math.min(most, value + Math.round(steps) * stepOf(value)));
}
function stepsOfKey(key) {
  const known = (
    /** @type {Record<string, number>} */
    {
      ArrowUp: 1,
      ArrowRight: 1,
      ArrowDown: -1,
      ArrowLeft: -1,
      PageUp: 10,
      PageDown: -10
    }
  );
  return known[key] ?? null;
}
function inWords(name, value) {
  if (!/[._]ms$/.test(name)) return String(value);
  return value >= 1e3 ? seconds(value) : `${value} ms`;
}
function changeWords(name, was, is) {
  const [before, after] = [
    was,
    is
  ].map((text3) => text3.trim() && Number.isFinite(Number(text3)) ? inWords(name, Number(text3)) : text3 || "none");
  return `${name} ${before} \u2192 ${after}`;
}
function pieces(text3, settings) {
  const found = [];
  let from = 0;
  for (const match of text3.matchAll(places(settings))) {
    const { all, name, value } = (
      /** @type {Record<string, string | undefined>} */
      match.groups
    );
    const setting = all ? theOnly(settings, Number(all)) : name;
    if (!setting) continue;
    const words = all ? "All " : value ? `${name} (` : `${name} `;
    found.push(text3.slice(from, match.index) + words, {
      name: setting
    });
    from = match.index + (all ? `All ${all}`.length : match[0].length - (value ? 1 : 0));
  }
  if (from < text3.length || !found.length) found.push(text3.slice(from));
  return found;
}
function places(settings) {
  const names = [
    ...settings.keys()
  ].filter((name) => /[._]/.test(name) && !name.startsWith("partitions.")).sort((a, b) => b.length - a.length).map((name) => name.replaceAll(".", "\\."));
  const value = "(?: \\((?<value>[\\d.,]+ (?:s|ms))\\))?";
  return new RegExp(`(?<![\\w.])(?<name>${names.join("|") || "(?!)"})(?![\\w.=])${value}|All (?<all>\\d+) partitions`, "g");
}
function theOnly(settings, count2) {
  const topics = [
    ...settings.values()
  ].filter(({ name }) => name.startsWith("partitions."));
  return topics.length === 1 && topics[0].value === count2 ? topics[0].name : null;
}

// lab/numbers/drag.js
function unreadWords({ cost, without }) {
  return `unread from here on: ${cost} partition-seconds (before ${without})`;
}
var Drag = class {
  /**
   * @param {import("../lab.js").Lab} lab
   * @param {Setting} setting as it is at the beginning
   * @param {(value: number, refused: string) => void} show
   */
  constructor(lab, setting, show) {
    this.lab = lab;
    this.setting = setting;
    this.show = show;
    this.number = lab.talk.lastId += 1;
    this.value = setting.value;
    this.taken = setting.value;
    this.steps = 0;
    this.onTold = () => {
    };
  }
  /** @param {number} steps in all since the beginning */
  to(steps) {
    this.steps = steps;
    this.jump(moved(this.setting, steps));
  }
  /** @param {number} value */
  jump(value) {
    if (value === this.value) return;
    this.value = value;
    this.show(value, "");
    this.ask("step", (answer) => this.follow(value, answer));
  }
  /**
   * @param {"step" | "keep" | "back"} how
   * @param {(answer: any) => void} then
   */
  ask(how, then) {
    const { name } = this.setting;
    this.lab.ask({
      type: "drag",
      number: this.number,
      how,
      name,
      value: String(this.value)
    }, then);
  }
  /**
   * @param {number} value
   * @param {any} answer
   */
  follow(value, answer) {
    if (answer.type === "refused") {
      if (value === this.value) this.show(value, answer.words);
      return;
    }
    this.taken = value;
    this.tell(answer);
  }
  /** @param {any} answer */
  tell({ dragged }) {
    const { name, value } = this.setting;
    const change = changeWords(name, String(value), String(this.taken));
    const words = dragged === void 0 ? "the first second is shown" : unreadWords(dragged);
    this.lab.costs.say(`${change}: ${words}.`);
    this.onTold(`${change}: ${words}.`);
  }
  /** Let it stay; a value that Kafka refuses falls back to the last one that it took. */
  keep() {
    if (this.taken === this.setting.value && this.value === this.taken) return;
    const sent = this.value;
    this.ask("keep", (answer) => {
      if (answer.type === "refused") this.fallBack(answer.words);
      else {
        this.taken = sent;
        this.tell(answer);
      }
    });
  }
  /** @param {string} words */
  fallBack(words) {
    this.lab.refuse(words);
    this.value = this.taken;
    this.show(this.value, "");
    if (this.taken !== this.setting.value) this.keep();
  }
  /** As if nothing had been dragged. */
  back() {
    this.value = this.setting.value;
    this.show(this.value, "");
    this.lab.costs.say("");
    this.ask("back", () => {
    });
  }
};

// lab/numbers/field.js
var KEYS = /* @__PURE__ */ new Set([
  "ArrowUp",
  "ArrowDown",
  "PageUp",
  "PageDown"
]);
var FieldDrag = class {
  /**
   * @param {import("../lab.js").Lab} lab
   * @param {string} name of the setting
   * @param {HTMLInputElement} input
   * @param {HTMLElement} handle
   * @param {(value: number, refused: string) => void} show
   * @param {(words: string) => void} told
   */
  constructor(lab, name, input, handle, show, told) {
    this.lab = lab;
    this.name = name;
    this.input = input;
    this.handle = handle;
    this.show = show;
    this.told = told;
    this.drag = null;
    this.from = 0;
    handle.classList.add("rk-drags");
    handle.title = "Drag to change; the arrow keys step it in the field";
    handle.addEventListener("pointerdown", (event) => this.press(event));
    handle.addEventListener("pointermove", (event) => this.move(event));
    handle.addEventListener("pointerup", () => this.release());
    handle.addEventListener("pointercancel", () => this.giveBack());
    input.addEventListener("blur", () => this.release());
  }
  /** A drag goes on from what stands in the field. */
  begin() {
    const setting = this.lab.numbers.get(this.name);
    const value = Number(this.input.value);
    if (this.drag || !setting || this.input.value.trim() === "" || !Number.isFinite(value)) return;
    this.lab.player.pause();
    this.drag = new Drag(this.lab, {
      ...setting,
      value
    }, this.show);
    this.drag.onTold = this.told;
  }
  /** @param {PointerEvent} event */
  press(event) {
    if (event.button !== 0) return;
    event.preventDefault();
    this.input.focus();
    this.begin();
    this.from = event.clientX;
    this.handle.setPointerCapture(event.pointerId);
  }
  /** @param {PointerEvent} event */
  move(event) {
    if (!this.handle.hasPointerCapture(event.pointerId)) return;
    this.drag?.to(Math.trunc((event.clientX - this.from) / PIXELS));
  }
  release() {
    const { drag } = this;
    this.drag = null;
    drag?.keep();
  }
  giveBack() {
    const { drag } = this;
    this.drag = null;
    drag?.back();
  }
  /**
   * Whether the key was the field's: a step, or Esc while it is being changed.
   * @param {KeyboardEvent} event
   */
  takes(event) {
    if (event.key === "Escape" && this.drag) this.giveBack();
    else if (KEYS.has(event.key)) {
      this.begin();
      const steps = (stepsOfKey(event.key) ?? 0) * (event.shiftKey ? 10 : 1);
      this.drag?.to(this.drag.steps + steps);
    } else return false;
    return true;
  }
};

// lab/dialogs/settings.js
async function showSettings(lab, opener2, name = "") {
  const answer = await lab.talk.request({
    type: "fields"
  });
  const drawer = new Drawer(lab, opener2, await inflate(answer.buffers[0]));
  drawer.show();
  const input = drawer.entries.get(name)?.input;
  input?.focus();
  input?.select();
}
var Drawer = class _Drawer {
  /**
   * @param {Lab} lab
   * @param {HTMLElement} opener
   * @param {Group[]} groups
   */
  constructor(lab, opener2, groups) {
    this.lab = lab;
    this.opener = opener2;
    this.groups = groups;
    this.entries = /* @__PURE__ */ new Map();
    this.note = make("p", {
      role: "status",
      class: "rk-dim"
    }, this.changes());
  }
  /** What stands at another value than its default, and who has changed it. */
  changes() {
    const fields = this.groups.flatMap(({ fields: fields2 }) => fields2);
    const words = [
      [
        "here",
        "Changed here"
      ],
      [
        "lesson",
        `Changed by the ${this.base}`
      ]
    ].flatMap(([by, says]) => {
      const names = fields.filter(({ changed }) => changed === by).map(({ name }) => name);
      return names.length ? `${says}: ${names.join(", ")}.` : [];
    });
    return words.join(" ") || "All at their defaults.";
  }
  /** What the run began as. */
  get base() {
    return this.lab.model.get("controls").lesson ? "lesson" : "scenario";
  }
  show() {
    const { assignors, assignor } = this.lab.model.get("controls");
    const names = assignors.map((name) => [
      name,
      name
    ]);
    const choose = (value) => this.lab.ask({
      type: "set",
      name: "assignor",
      value
    });
    const go = make("button", {
      type: "button",
      class: "rk-primary"
    }, "Apply from the start of the run");
    go.addEventListener("click", () => this.apply());
    this.lab.drawer.show(this.opener, make("h2", {}, "Settings"), make("div", {
      class: "rk-field"
    }, make("span", {}, "Assignor"), selectOf("Assignor", names, assignor, choose)), this.drawSeed(), ...this.groups.flatMap(({ group: group3, fields }) => [
      make("h3", {}, group3),
      ...fields.map((field) => this.drawField(field))
    ]), make("div", {
      class: "rk-foot"
    }, go, this.note));
  }
  drawSeed() {
    const words = make("span", {}, `seed ${this.lab.model.get("controls").seed}`);
    const reseed = (label, choose) => {
      const node = make("button", {
        type: "button"
      }, label);
      node.addEventListener("click", () => {
        const value = choose();
        this.lab.ask({
          type: "set",
          name: "seed",
          value
        });
        say(words, value === null ? "the scenario's own seed" : `seed ${value}`);
      });
      return node;
    };
    const fresh2 = reseed("New seed", () => Math.floor(Math.random() * 1e6));
    const bar = make("div", {
      class: "rk-bar"
    }, fresh2, reseed("Reset", () => null));
    return make("div", {
      class: "rk-field"
    }, words, bar);
  }
  /** @param {Field} field */
  drawField({ name, value, help, where, allowed, changed, default: usual }) {
    const id = `rk-${Math.random().toString(36).slice(2)}`;
    const label = make("label", {
      for: id
    }, name, this.mark(changed));
    const input = make("input", {
      id,
      type: "text",
      value,
      "data-field": name,
      "aria-describedby": `${id}h ${id}e`,
      autocomplete: "off",
      spellcheck: "false"
    });
    const error = make("p", {
      class: "rk-fielderror",
      id: `${id}e`
    });
    this.entries.set(name, {
      input,
      error,
      was: value
    });
    const number = this.lab.numbers.has(name) ? this.dragOf(name, input, label) : null;
    input.addEventListener("keydown", (event) => {
      if (number?.takes(event)) {
        event.preventDefault();
        event.stopPropagation();
      } else if (event.key === "Enter") {
        if (number?.drag) number.release();
        else this.apply();
      }
    });
    const says = `${help} For ${where}: ${allowed}; default ${usual || "none"}.`;
    return make("div", {
      class: `rk-field${changed === "here" ? " rk-changed" : ""}`
    }, label, input, make("p", {
      class: "rk-fieldhelp",
      id: `${id}h`
    }, says), error);
  }
  /** @param {Field["changed"]} changed */
  mark(changed) {
    if (!changed) return null;
    return make("small", {}, changed === "here" ? " changed" : ` changed by the ${this.base}`);
  }
  /**
   * @param {string} name
   * @param {HTMLInputElement} input
   * @param {HTMLElement} label
   */
  dragOf(name, input, label) {
    const told = (words) => say(this.note, words);
    const show = (value, refused) => this.stepped(name, value, refused);
    return new FieldDrag(this.lab, name, input, label, show, told);
  }
  /**
   * A field was stepped: the run follows it already.
   * @param {string} name
   * @param {number} value
   * @param {string} refused Kafka's words against the value
   */
  stepped(name, value, refused) {
    const entry = this.entries.get(name);
    if (!entry) return;
    entry.input.value = String(value);
    say(entry.error, refused);
    set(entry.input, "aria-invalid", refused ? "true" : null);
    if (!refused) entry.was = String(value);
    say(this.note, refused ? "Kafka refuses this. The run is that of the step before." : `${name} is ${value}.`);
  }
  /** Send what was changed. */
  apply() {
    const values = {};
    this.entries.forEach(({ input, error, was }, name) => {
      if (input.value !== was) values[name] = input.value;
      say(error, "");
      set(input, "aria-invalid", null);
    });
    if (!Object.keys(values).length) {
      say(this.note, "Nothing was changed.");
      return;
    }
    this.lab.ask({
      type: "settings",
      values
    }, async (answer) => {
      if (answer.type === "refused") this.refuse(answer, Object.keys(values));
      else await this.applied(answer, Object.keys(values));
    });
  }
  /**
   * The new values, and what they cost: the same sentence as after a drag.
   * @param {any} answer
   * @param {string[]} names of what was changed
   */
  async applied(answer, names) {
    const drawer = new _Drawer(this.lab, this.opener, await inflate(answer.buffers[0]));
    this.showAgain(drawer);
    const now = new Map(drawer.groups.flatMap(({ fields }) => fields).map(({ name, value }) => [
      name,
      value
    ]));
    const changes = names.map((name) => changeWords(name, this.entries.get(name)?.was ?? "", now.get(name) ?? ""));
    const words = `${changes.join(", ")}: ${unreadWords(answer.dragged)}.`;
    this.lab.costs.say(words);
    say(drawer.note, words);
  }
  /**
   * Show the new values where the reader was.
   * @param {Drawer} drawer
   */
  showAgain(drawer) {
    const { root } = this.lab.drawer;
    const { scrollTop } = root;
    const { activeElement } = document;
    const name = activeElement instanceof HTMLElement ? activeElement.dataset.field : void 0;
    drawer.show();
    drawer.entries.get(name ?? "")?.input.focus();
    root.scrollTop = scrollTop;
  }
  /**
   * Say at its fields why Kafka refuses.
   * @param {{ words: string, keys?: string[] }} answer
   * @param {string[]} sent
   */
  refuse({ words, keys = [] }, sent) {
    const known = keys.filter((key) => this.entries.has(key));
    const wrong = (known.length ? known : sent.slice(0, 1)).flatMap((key) => this.entries.get(key) ?? []);
    for (const { input, error } of wrong) {
      say(error, words);
      set(input, "aria-invalid", "true");
    }
    wrong[0]?.input.focus();
    say(this.note, "Kafka refuses this. The run is unchanged.");
  }
};

// lab/panels/tabs.js
var TABS = Object.freeze(
  /** @type {[string, string][]} */
  [
    [
      "flow",
      "Flow"
    ],
    [
      "timeline",
      "Timeline"
    ],
    [
      "messages",
      "Messages"
    ],
    [
      "logs",
      "Logs"
    ],
    [
      "cli",
      "CLI"
    ],
    [
      "metrics",
      "Metrics"
    ],
    [
      "members",
      "Members"
    ],
    [
      "why",
      "Why"
    ],
    [
      "invariants",
      "Invariants"
    ]
  ]
);
var FROM_KERNEL = /* @__PURE__ */ new Set([
  "logs",
  "cli",
  "metrics",
  "members",
  "why",
  "invariants"
]);

// lab/film/clocks.js
function sessionEnds(film, member, at) {
  const { session } = stateAt(film.memberTracks[member], film.memberStates, at);
  if (!session) return null;
  const beats = film.beats[member];
  const place = placeOf(beats, at);
  const ends = place < 0 ? null : beats[place] + session;
  return ends === null || ends < at ? null : ends;
}
function pollLeft(film, member, at) {
  const [limit, ...spans] = film.polls[member] || [];
  for (let i = 0; i < spans.length; i += 2) {
    if (spans[i] <= at && at < spans[i + 1]) return Math.max(0, limit - (at - spans[i])) / limit;
  }
  return null;
}
function nextBeat(film, member, at) {
  const beats = film.beats[member];
  return beats[placeOf(beats, at) + 1] ?? null;
}

// lab/words/lines.js
var SIGNS = Object.freeze(
  /** @type {Record<string, string>} */
  {
    crashed: "\xD7",
    died: "\xD7",
    frozen: "\u2016",
    zombie: "?",
    fenced: "\u2013",
    cut: "\u2298"
  }
);
var ALERTING = /* @__PURE__ */ new Set([
  "stopped",
  "was leaving",
  "no owner",
  "zombie"
]);
function lookOf(state) {
  if (state.life === "absent" || state.life === "closed") return state.life;
  if (state.life === "crashed") {
    return state.standing === "member" || state.standing === "away" ? "crashed" : "gone";
  }
  if (state.life === "died") return state.error === "FENCED_INSTANCE_ID" ? "fenced" : "died";
  if (state.life === "frozen") return "frozen";
  if (state.doing === "is cut off") return "cut";
  return state.doing === "removed, still works" ? "zombie" : "live";
}
function doingLine(film, board, index) {
  const { state } = board.members[index];
  if (![
    "crashed",
    "gone",
    "died",
    "left"
  ].includes(state.doing)) return state.doing;
  const since = sinceWhen(film.memberTracks[index], film.memberStates, board.at, ({ doing }) => doing === state.doing);
  return state.doing === "crashed" ? `crashed ${seconds(board.at - since)} ago` : `${state.doing} at ${seconds(since)}`;
}
function thirdLine(state, ends, board) {
  if (state.error) return state.error;
  if ([
    "crashed",
    "frozen",
    "died"
  ].includes(state.life)) {
    return ends === null ? "" : `session ends in ${seconds(ends - board.at)}`;
  }
  if (state.life !== "alive" || state.generation === null) return "";
  const strange = state.protocol !== board.group.protocol && state.protocol !== "consumer";
  const number = `${strange ? "classic \xB7 " : ""}${numberWord(state.protocol)} ${state.generation}`;
  if (state.leader) return `leader \xB7 ${number}`;
  return state.instanceId === null ? number : `static \xB7 ${number}`;
}
function numberWord(protocol) {
  return protocol === "consumer" ? "epoch" : "generation";
}
function tokenWord(film, index, state, at, box) {
  if (state.word === "was leaving" && box.width < 170) return "leaving";
  if (state.flows || box.width < (state.owner >= 0 ? 190 : 128)) return state.word;
  const since = seconds(at - sinceWhen(film.partitionTracks[index], film.partitionStates, at, ({ flows }) => !flows));
  return box.height < 50 && state.owner < 0 ? since : `${state.word} ${since}`;
}

// lab/words/offsets.js
var SPANS = 3;
function deliveriesOf(film, partition, at) {
  return film.deliveries.filter((each) => each.partition === partition && each.at <= at);
}
function countOf(events, kind) {
  return events.reduce((sum, each) => sum + (each.kind === kind ? each.count : 0), 0);
}
function kindWords(events, kind) {
  const words = kind === "twice" ? "came twice" : "skipped";
  return `${countOf(events, kind)} ${words}: ${offsetsOf(events.filter((each) => each.kind === kind))}`;
}
function recordsWords(film, partition, at) {
  const events = deliveriesOf(film, partition, at);
  return [
    "twice",
    "skipped"
  ].filter((kind) => countOf(events, kind)).map((kind) => kindWords(events, kind));
}
function offsetsOf(events) {
  const spans = merged(events);
  const all = spans.map(([first, last]) => first === last ? `${first}` : `${first} to ${last}`);
  const told = all.length > SPANS ? [
    ...all.slice(0, SPANS - 1),
    `${all.length - SPANS + 1} more ranges`
  ] : all;
  const one = spans.length === 1 && spans[0][0] === spans[0][1];
  const words = told.length > 1 ? `${told.slice(0, -1).join(", ")} and ${told[told.length - 1]}` : told.join("");
  return `offset${one ? "" : "s"} ${words}`;
}
function merged(events) {
  const spans = events.map(({ first, count: count2 }) => (
    /** @type {[number, number]} */
    [
      first,
      first + count2 - 1
    ]
  )).sort((one, other) => one[0] - other[0] || one[1] - other[1]);
  const found = [];
  for (const [first, last] of spans) {
    const before = found[found.length - 1];
    if (before && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else found.push([
      first,
      last
    ]);
  }
  return found;
}

// lab/words/twin.js
var LISTED = 6;
var FACTS = {
  flows: "flowing",
  "give up": "to be given up",
  callback: "unread during a callback",
  new: "new, no record yet",
  "was leaving": "unread while leaving"
};
function spoken(names) {
  if (names.length > LISTED) return `${names[0]} and ${names.length - 1} more partitions`;
  let topic = "";
  return listed(names.map((name) => {
    const cut = name.lastIndexOf("-");
    const said = name.slice(0, cut) === topic ? name.slice(cut + 1) : name;
    topic = name.slice(0, cut);
    return said;
  })) || "nothing";
}
function listed(words) {
  return words.length > 1 ? `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}` : words.join("");
}
function memberLine(film, board, index) {
  const { name, state } = board.members[index];
  const track = film.memberTracks[index];
  const parts = [];
  if ([
    "crashed",
    "gone",
    "died"
  ].includes(state.doing)) {
    const since = sinceWhen(track, film.memberStates, board.at, ({ doing }) => doing === state.doing);
    parts.push(`${state.doing} ${seconds(board.at - since)} ago`);
  } else parts.push(state.doing);
  if (state.error) parts.push(state.error);
  if (state.generation !== null && state.life === "alive") {
    parts.push(`${numberWord(state.protocol)} ${state.generation}`);
  }
  const ends = sessionEnds(film, index, board.at);
  if ([
    "crashed",
    "frozen",
    "died"
  ].includes(state.life) && ends !== null) {
    parts.push(`session ends in ${seconds(ends - board.at)}`);
  }
  parts.push(holding(film, board, index));
  return `${name}: ${parts.join(", ")}.`;
}
function alsoRead(board, index) {
  return board.partitions.flatMap((state, partition) => state.also.includes(index) ? partition : []);
}
function holding(film, board, index) {
  const owned = board.owned[index];
  const named = (list) => spoken(list.map((partition) => film.partitions[partition]));
  const also = alsoRead(board, index);
  if (also.length) return `still reads ${named(also)}`;
  if (!owned.length) return "owns nothing";
  const fact = (partition) => FACTS[board.partitions[partition].word] || board.partitions[partition].word;
  const facts = [
    ...new Set(owned.map(fact))
  ];
  const stopped = owned.filter((partition) => !board.partitions[partition].flows);
  const state = facts.length === 1 ? facts[0] : stopped.map((partition) => `${film.partitions[partition]} ${fact(partition)}`).join(", ");
  const verb = [
    "crashed",
    "died",
    "frozen"
  ].includes(board.members[index].state.life) ? "holds" : "owns";
  return `${verb} ${named(owned)} (${state})`;
}
function deliveriesLine(film, at) {
  const parts = [
    [
      "twice",
      "came twice"
    ],
    [
      "skipped",
      "skipped"
    ]
  ].flatMap(([kind, words]) => {
    const events = film.deliveries.filter((each) => each.kind === kind && each.at <= at);
    const count2 = events.reduce((sum, each) => sum + each.count, 0);
    return count2 ? [
      `${count2} ${words} (${placesOf(film, events)})`
    ] : [];
  });
  return parts.length ? `Records so far: ${parts.join("; ")}.` : "";
}
function placesOf(film, events) {
  const places2 = [
    ...new Set(events.map((each) => each.partition))
  ].sort((a, b) => a - b);
  if (places2.length > LISTED) return spoken(places2.map((place) => film.partitions[place]));
  return places2.map((place) => `${film.partitions[place]} ${offsetsOf(events.filter((each) => each.partition === place))}`).join(", ");
}
function groupLine(board) {
  const { group: group3 } = board;
  const number = group3.generation === null ? "" : `, ${group3.protocol === "consumer" ? "group epoch" : "generation"} ${group3.generation}`;
  const room = board.phase === "JoinGroup" ? `, joined ${board.joined.length} of ${board.joined.length + board.awaited.length + group3.former}` : "";
  return `Group ${group3.state}${number}${room}. ${board.flowing} of ${board.there} partitions flow.`;
}
function twinText(film, board) {
  const [cause, effect] = sentenceAt(film, board.at);
  const present = board.members.filter((member) => member.state.life !== "absent");
  const shown = present.length <= 12 ? present : present.filter(({ state, index }) => state.doing !== "polls" || board.owned[index].some((partition) => !board.partitions[partition].flows)).slice(0, 12);
  const lines = [
    `${seconds(board.at)} of ${seconds(film.end)}, ${film.label}. ${cause} ${effect}`.trim(),
    groupLine(board)
  ];
  shown.forEach(({ index }) => lines.push(memberLine(film, board, index)));
  if (present.length > shown.length) lines.push(`${present.length - shown.length} more members.`);
  const orphans = film.partitions.filter((_, index) => board.partitions[index].owner === -1);
  if (orphans.length) lines.push(`No owner: ${spoken(orphans)}.`);
  const records = deliveriesLine(film, board.at);
  if (records) lines.push(records);
  return lines.join("\n");
}

// lab/acting/keys.js
var SLIDE_MS = 1e3;
var ALWAYS2 = (
  /** @type {Record<string, (lab: Lab) => void>} */
  {
    ".": (lab) => lab.steps.jump(1, "events"),
    ",": (lab) => lab.steps.jump(-1, "events"),
    ">": (lab) => lab.steps.jump(1, "messages"),
    "<": (lab) => lab.steps.jump(-1, "messages"),
    Home: (lab) => lab.seek(0, false),
    End: (lab) => lab.seek(lab.film.end, false),
    "?": (lab) => lab.legend.toggle()
  }
);
var LETTERS = (
  /** @type {Record<string, (lab: Lab) => unknown>} */
  {
    0: (lab) => lab.tell(groupLine(boardAt(lab.film, lab.player.at))),
    n: (lab) => lab.steps.jump(1, "marks"),
    N: (lab) => lab.steps.jump(-1, "marks"),
    "]": (lab) => lab.steps.faster(1),
    "[": (lab) => lab.steps.faster(-1),
    u: (lab) => walk(lab, "undo"),
    U: (lab) => walk(lab, "redo"),
    t: nextProtocol,
    a: (lab) => showSettings(lab, lab.ui.settingsButton),
    s: (lab) => showSettings(lab, lab.ui.settingsButton),
    k: (lab) => lab.ask({
      type: "fork"
    }),
    h: (lab) => showHistory(lab, lab.ui.menuButton),
    v: (lab) => lab.comparison.toggle(null),
    g: (lab) => lab.predict.begin(lab.ui.predictButton),
    f: (lab) => lab.presenter.toggle(),
    y: (lab) => lab.guide.toggle(),
    q: showLink,
    "=": (lab) => lab.panels.views.timeline.zoom(0.5),
    "-": (lab) => lab.panels.views.timeline.zoom(2),
    "/": focusFilter,
    i: (lab) => {
      lab.screen.speaker.repeat();
      lab.paint(false);
    },
    I: (lab) => say(lab.ui.status, twinText(lab.film, boardAt(lab.film, lab.player.at)))
  }
);
var ARROWS = (
  /** @type {Record<string, (lab: Lab) => void>} */
  {
    ArrowUp: (lab) => lab.select(lab.selected - 1),
    ArrowDown: (lab) => lab.select(lab.selected + 1),
    ArrowLeft: (lab) => lab.marker.step(-1),
    ArrowRight: (lab) => lab.marker.step(1)
  }
);
function keyRun(lab, pressed) {
  const { key, shiftKey, ctrlKey, altKey, target } = pressed;
  if (!lab.ui.help.hidden) return legendRun(lab, key);
  if (altKey) {
    return /^[1-9]$/.test(key) && TABS[Number(key) - 1] ? () => lab.panels.open(TABS[Number(key) - 1][0]) : null;
  }
  if (ctrlKey) {
    return key === "z" ? () => walk(lab, "undo") : key === "y" ? () => walk(lab, "redo") : null;
  }
  if (key === " ") {
    const pressed2 = target.tagName === "BUTTON" && target.getAttribute("aria-selected") !== "true";
    return pressed2 || target.tagName === "SUMMARY" ? null : () => lab.toggle();
  }
  if (key === "Escape") return escapeRun(lab);
  const along = guideRun(lab, pressed);
  if (along) return along;
  if (key.startsWith("Arrow")) return arrowRun(lab, pressed);
  if (key === "Enter" || key === "F10" && shiftKey) {
    if (!target.closest(".rk-board")) return null;
    const { partition } = lab.marker;
    if (lab.predict.blocks.length && partition !== null) {
      return () => lab.predict.pick(lab.film.partitions[partition]);
    }
    return () => showMore(
      lab,
      /** @type {HTMLElement} */
      target
    );
  }
  const always = ALWAYS2[key];
  if (always) return () => always(lab);
  return lab.options.letters ? letterRun(lab, key, shiftKey) : null;
}
function legendRun(lab, key) {
  return key === "Escape" || key === "?" ? () => lab.legend.toggle() : null;
}
function guideRun({ guide, options }, { key, target }) {
  if (!guide.on) return null;
  if (key === "Enter") {
    return target.tagName === "BUTTON" || target.tagName === "SUMMARY" ? null : () => guide.next();
  }
  if (!options.letters) return null;
  return key === "n" ? () => guide.next() : key === "N" ? () => guide.back() : null;
}
function arrowRun(lab, { key, shiftKey, target }) {
  if (target === lab.strip.slider) {
    const by = key === "ArrowLeft" || key === "ArrowDown" ? -SLIDE_MS : SLIDE_MS;
    return shiftKey ? () => lab.seek(lab.player.at + by, false) : null;
  }
  const onBoard = target.closest(".rk-board") !== null;
  return lab.panels.name === "flow" || onBoard ? () => ARROWS[key](lab) : null;
}
function letterRun(lab, key, shiftKey) {
  if (/^[1-9]$/.test(key)) return () => lab.select(Number(key) - 1);
  const action = MORE.find((each) => each.key?.toLowerCase() === key.toLowerCase() && !shiftKey);
  if (action) return () => lab.act(action.do);
  const letter = LETTERS[key];
  return letter ? () => void letter(lab) : null;
}
function escapeRun(lab) {
  if (lab.predict.on) return () => lab.predict.end();
  const open = lab.popups.find((popup) => popup.open);
  if (open) return () => open.close(true);
  if (lab.guide.on) return () => lab.guide.end();
  if (lab.comparison.view) return () => void lab.comparison.toggle(null);
  if (lab.presenter.on) return () => lab.presenter.toggle();
  return null;
}
function focusFilter(lab) {
  const field = lab.panels.name === "flow" ? lab.screen.stage.root.querySelector("input[type=search]") : lab.panels.panel.querySelector("input[type=search]");
  if (field instanceof HTMLElement) field.focus();
  else showPresets(lab, lab.ui.presetButton);
}

// lab/acting/question_block.js
var QuestionBlock = class {
  /**
   * @param {Question} question
   * @param {number} place
   */
  constructor(question, place) {
    this.question = question;
    this.answer = question.kind === "tick" ? [] : null;
    this.remark = make("div", {
      class: "rk-told"
    });
    const fields = question.kind === "number" ? [
      this.numberField()
    ] : this.optionFields();
    this.node = make("fieldset", {
      class: "rk-question"
    }, make("legend", {}, `${place + 1}. ${question.words}`), make("div", {
      class: "rk-options"
    }, ...fields), this.remark);
  }
  numberField() {
    const field = make("input", {
      type: "number",
      min: 0,
      step: "0.1",
      "aria-label": this.question.words
    });
    field.addEventListener("input", () => {
      this.answer = field.value === "" ? null : Number(field.value);
    });
    return field;
  }
  optionFields() {
    const several = this.question.kind === "tick";
    const name = `rk-${Math.random().toString(36).slice(2)}`;
    return this.question.options.map((option) => {
      const box = make("input", {
        type: several ? "checkbox" : "radio",
        name,
        value: option
      });
      box.addEventListener("input", () => this.choose(option, box.checked));
      return make("label", {
        class: "rk-check",
        "data-option": option
      }, box, option);
    });
  }
  /**
   * @param {string} option
   * @param {boolean} on
   */
  choose(option, on) {
    if (!Array.isArray(this.answer)) this.answer = option;
    else this.answer = on ? [
      ...this.answer,
      option
    ] : this.answer.filter((chosen) => chosen !== option);
  }
  /**
   * Tick an option, or take the tick away; false where there is no such option.
   * @param {string} option
   */
  toggle(option) {
    const box = this.node.querySelector(`[data-option="${CSS.escape(option)}"] input`);
    if (!(box instanceof HTMLInputElement) || box.disabled) return false;
    box.click();
    return true;
  }
  /**
   * Say what is right, at each option and in words.
   * @param {Mark} mark
   */
  mark({ truth, answer, why }) {
    this.node.querySelectorAll("input").forEach((input) => input.disabled = true);
    this.node.querySelectorAll("[data-option]").forEach((label) => {
      const option = label.getAttribute("data-option");
      const [right, chosen] = [
        truth,
        answer
      ].map((value) => Array.isArray(value) ? value.includes(option ?? "") : value === option);
      if (!right && !chosen) return;
      const sign = right ? chosen ? " \u2713" : " missed" : " \u2717";
      label.append(make("b", {
        class: right && chosen ? "rk-good" : "rk-bad"
      }, sign));
    });
    const plain = Array.isArray(truth) || answer === truth;
    const words = plain ? why : `You said ${answer ?? "nothing"}; it is ${truth}. ${why}`;
    this.remark.replaceChildren(make("p", {}, words));
  }
};

// lab/acting/predict.js
var HOW = "First choose a deed: press a button below the board, or a key (C, L, Z, R, M). It is not done yet. Then say what will follow, lock in, and see.";
var Predict = class {
  /** @param {import("../lab.js").Lab} lab */
  constructor(lab) {
    this.lab = lab;
    this.on = false;
    this.blocks = [];
    this.opener = null;
  }
  /** @param {HTMLElement} opener */
  begin(opener2) {
    const { lab } = this;
    if (this.on) {
      this.end();
      return;
    }
    lab.guide.end();
    this.on = true;
    this.opener = opener2;
    lab.panels.open("flow");
    lab.ui.root.classList.add("rk-fogged");
    set(lab.ui.predictButton, "aria-pressed", "true");
    lab.player.pause();
    lab.pane.place();
    lab.drawer.show(opener2, make("h2", {}, "Predict"), make("p", {}, HOW));
    lab.tell("Predict: choose what to do. It is not done yet.");
    lab.screen.focusTarget().focus();
  }
  /**
   * Ask what will follow of a deed.
   * @param {Deed} deed
   */
  async ask(deed) {
    const { lab } = this;
    const answer = await lab.talk.request({
      ...deed,
      type: "predict"
    });
    if (answer.type === "refused") {
      lab.refuse(answer.words);
      return;
    }
    const questions = answer.questions;
    const blocks = questions.map((question, place) => new QuestionBlock(question, place));
    this.blocks = blocks;
    lab.ui.root.classList.remove("rk-locked");
    lab.tell("Answer beside the board, or click partitions on it. Then lock in.");
    const lock = make("button", {
      type: "button",
      class: "rk-primary"
    }, "Lock in");
    lock.addEventListener("click", () => this.lock(deed, blocks));
    lab.drawer.show(this.opener, make("h2", {}, `Predict: ${deed.words}`), ...blocks.map((block) => block.node), make("div", {
      class: "rk-foot"
    }, lock), make("p", {
      class: "rk-dim"
    }, answer.kept));
  }
  /**
   * Show what is right, and offer to watch it.
   * @param {Deed} deed
   * @param {QuestionBlock[]} blocks
   */
  async lock(deed, blocks) {
    const { lab } = this;
    const answer = await lab.talk.request({
      type: "answers",
      answers: blocks.map((block) => block.answer)
    });
    if (answer.type === "refused") {
      lab.refuse(answer.words);
      return;
    }
    blocks.forEach((block, place) => block.mark(answer.marks[place]));
    answer.marks.forEach((mark) => this.showMarks(mark));
    const watch = make("button", {
      type: "button",
      class: "rk-primary"
    }, "Do it and watch");
    watch.addEventListener("click", () => {
      this.end();
      lab.ask({
        ...deed,
        type: "act"
      });
    });
    const again = make("button", {
      type: "button"
    }, "Again with a new seed");
    again.addEventListener("click", () => {
      const value = Math.floor(Math.random() * 1e6);
      lab.ask({
        type: "set",
        name: "seed",
        value
      }, () => this.ask(deed));
    });
    lab.ui.root.classList.add("rk-locked");
    lab.drawer.root.querySelector(":scope > .rk-dim")?.remove();
    const score = `${Math.round(answer.score * 100)} % right. ${answer.kept}`;
    lab.drawer.root.querySelector(".rk-foot")?.replaceChildren(make("b", {
      role: "status"
    }, score), watch, again);
    watch.focus();
  }
  /**
   * Tick a partition on the board itself; nothing while no question is about partitions.
   * @param {string} name
   */
  pick(name) {
    if (this.on && this.blocks.some((block) => block.toggle(name))) this.showTicks();
  }
  /** Show on the tokens which are ticked. */
  showTicks() {
    const ticked = new Set(this.blocks.flatMap((block) => Array.isArray(block.answer) ? block.answer : []));
    this.lab.marker.tokens.forEach((token2) => set(token2.node, "data-guess", ticked.has(token2.name) ? "ticked" : null));
  }
  /**
   * Show on the tokens what was right, wrong and missed.
   * @param {import("./question_block.js").Mark} mark
   */
  showMarks({ truth, answer }) {
    if (!Array.isArray(truth)) return;
    this.lab.marker.tokens.forEach(({ node, name }) => {
      const right = truth.includes(name), said = Array.isArray(answer) && answer.includes(name);
      if (right || said) set(node, "data-guess", right ? said ? "right" : "missed" : "wrong");
    });
  }
  /** Another run has begun: nothing is asked of it. */
  leave() {
    if (this.on) this.end();
  }
  end() {
    const { ui, drawer, marker } = this.lab;
    this.on = false;
    this.blocks = [];
    marker.tokens.forEach(({ node }) => set(node, "data-guess", null));
    ui.root.classList.remove("rk-fogged", "rk-locked");
    this.lab.pane.place();
    set(ui.predictButton, "aria-pressed", "false");
    drawer.close(true);
  }
};

// lab/words/notices.js
var ENDS = Object.freeze({
  forward: "The run ends here.",
  back: "The run begins here."
});

// lab/time/pace.js
var NEAR_MS = 1e3;
var FAST = 8;
var SLOW = 0.5;
var SEEN_MS = 450;
var SLOWEST = 0.02;
var PIECE_MS = 16;
function autoPace(busy, at) {
  const place = placeOf(busy, at);
  const before = place >= 0 ? busy[place] : -Infinity;
  const after = busy[place + 1] ?? Infinity;
  const gap = after - before;
  if (gap < SEEN_MS * SLOW) return Math.max(SLOWEST, Math.round(100 * gap / SEEN_MS) / 100);
  return at - before < NEAR_MS || after - at < NEAR_MS ? SLOW : FAST;
}
function advance(at, passed, pace) {
  let now = at;
  for (let left = passed; left > 0; left -= PIECE_MS) now += Math.min(left, PIECE_MS) * pace(now);
  return Math.round(now * 10) / 10;
}
function stepFrom(at, direction, times, end) {
  let place = placeOf(times, at);
  if (direction > 0) return times[place + 1] ?? end;
  if (place >= 0 && times[place] === Math.round(at)) place -= 1;
  return place < 0 ? 0 : times[place];
}
function busyTimes(film) {
  const tokens = film.slots.length <= 64 ? film.slots.flatMap((track) => track.times.slice(1)) : [];
  const times = [
    ...film.marks.map((mark) => mark.at),
    ...film.groupTrack.times,
    ...tokens
  ];
  return [
    ...new Set(times)
  ].sort((a, b) => a - b);
}

// lab/time/player.js
var SPEEDS = Object.freeze([
  "Auto",
  0.1,
  0.25,
  0.5,
  1,
  2,
  5,
  10,
  30,
  100
]);
var STILL_MS = 1200;
var LONGEST_TICK_MS = 100;
var Player = class {
  /**
   * @param {(from: number, to: number) => void} onTick
   * @param {() => void} onStop
   * @param {() => boolean} still whether to rest at each event instead of moving evenly
   */
  constructor(onTick, onStop, still) {
    this.onTick = onTick;
    this.onStop = onStop;
    this.still = still;
    this.at = 0;
    this.playing = false;
    this.speed = "Auto";
    this.busy = [];
    this.events = [];
    this.end = 0;
    this.known = 0;
    this.until = null;
    this.last = null;
    this.frame = 0;
    this.pacing = 0;
  }
  /** @param {import("../film/format.js").Film} film */
  load(film) {
    this.end = film.end;
    this.known = film.known;
    this.events = film.events;
    this.at = Math.min(this.at, film.end);
    this.busy = busyTimes(film);
  }
  /** @param {number} at */
  pace(at) {
    return typeof this.speed === "number" ? this.speed : autoPace(this.busy, at);
  }
  play() {
    if (this.playing) return;
    if (this.at >= this.end) this.at = 0;
    this.playing = true;
    this.last = null;
    if (this.still()) this.walk();
    else this.frame = requestAnimationFrame((now) => this.tick(now));
  }
  // With less motion, play goes from event to event and rests at each.
  walk() {
    this.pacing = setTimeout(() => {
      const from = this.at;
      this.step(1, this.events);
      this.onTick(from, this.at);
      if (this.at >= this.end) this.pause();
      else if (this.playing) this.walk();
    }, STILL_MS);
  }
  pause() {
    if (!this.playing) return;
    this.playing = false;
    cancelAnimationFrame(this.frame);
    clearTimeout(this.pacing);
    this.onStop();
  }
  /** @param {number} now */
  tick(now) {
    if (!this.playing) return;
    const passed = this.last === null ? 0 : Math.min(LONGEST_TICK_MS, now - this.last);
    this.last = now;
    const from = this.at;
    const rest = Math.min(this.end, this.until ?? this.end);
    this.at = Math.min(advance(from, passed, (at) => this.pace(at)), this.known, rest);
    this.onTick(from, this.at);
    if (this.at >= rest) this.pause();
    else this.frame = requestAnimationFrame((next) => this.tick(next));
  }
  /** @param {number} at */
  seek(at) {
    this.at = Math.max(0, Math.min(Math.round(at), this.end));
  }
  /**
   * @param {1 | -1} direction
   * @param {number[]} times
   */
  step(direction, times) {
    this.seek(stepFrom(this.at, direction, times, this.end));
  }
};

// lab/acting/steps.js
var STEPS = Object.freeze(
  /** @type {[string, string][]} */
  [
    [
      "events",
      "event"
    ],
    [
      "messages",
      "message"
    ],
    [
      "callbacks",
      "callback"
    ],
    [
      "rebalances",
      "rebalance"
    ],
    [
      "faults",
      "fault"
    ]
  ]
);
function timesOf(film, kind) {
  const marks = (wanted) => film.marks.filter((mark) => wanted === null || mark.kind === wanted).map((mark) => mark.at);
  const times = (
    /** @type {Record<string, () => number[]>} */
    {
      events: () => film.events,
      messages: () => film.messages.map((message) => message.sent),
      callbacks: () => film.callbacks,
      marks: () => marks(null),
      rebalances: () => marks("rebalance"),
      faults: () => marks("fault")
    }[kind]()
  );
  return [
    ...new Set(times)
  ].sort((a, b) => a - b);
}
var Steps = class {
  /** @param {import("../lab.js").Lab} lab */
  constructor(lab) {
    this.lab = lab;
    this.kind = STEPS[0][0];
    this.onChange = () => {
    };
  }
  /**
   * @param {1 | -1} direction
   * @param {string} kind
   */
  jump(direction, kind) {
    const { lab } = this;
    const { player } = lab;
    player.pause();
    lab.leaveEnd();
    const before = player.at;
    player.step(direction, timesOf(lab.film, kind));
    lab.paint(direction > 0);
    if (direction > 0 && (kind === "events" || kind === "messages")) lab.pills.upTo(player.at - 1, player.at);
    if (player.at === before || player.at === lab.film.end) {
      lab.tell(direction > 0 ? ENDS.forward : ENDS.back);
    }
    lab.cursor.send();
  }
  get speed() {
    return this.lab.player.speed;
  }
  /** @param {string} words one of SPEEDS as text */
  setSpeed(words) {
    this.lab.player.speed = words === "Auto" ? words : Number(words);
    this.onChange();
  }
  /** @param {string} kind one of STEPS */
  setKind(kind) {
    this.kind = kind;
    this.onChange();
  }
  /** @param {1 | -1} by */
  faster(by) {
    const place = Math.max(0, Math.min(SPEEDS.length - 1, SPEEDS.indexOf(this.speed) + by));
    this.setSpeed(String(SPEEDS[place]));
  }
};

// lab/board/pills.js
var WITHIN_MS = 200;
var Pills = class {
  /** @param {import("../lab.js").Lab} lab */
  constructor(lab) {
    this.lab = lab;
    this.film = null;
    this.times = [];
  }
  /**
   * Let the messages of a moment travel.
   * @param {number} from
   * @param {number} to
   */
  upTo(from, to) {
    const { film, options, screen } = this.lab;
    if (to - from > WITHIN_MS || options.pills === "none") return;
    if (this.film !== film) {
      this.film = film;
      this.times = film.messages.map((message) => message.sent);
    }
    const { times } = this;
    for (let place = placeOf(times, from) + 1; place < times.length && times[place] <= to; place += 1) {
      const message = film.messages[place];
      if (options.pills === "all" || !message.quiet) screen.stage.pill(message);
    }
  }
};

// lab/dialogs/popup.js
var DRAWER = 380;
var BESIDE_FROM = 1200;
var Popup = class {
  /**
   * @param {import("../lab.js").Lab} lab
   * @param {string} kind
   * @param {string} label
   */
  constructor(lab, kind, label) {
    this.lab = lab;
    this.kind = kind;
    this.opener = null;
    this.home = null;
    const looks = {
      class: `rk-popup rk-${kind}`,
      role: "dialog",
      "aria-label": label
    };
    this.root = make("div", {
      ...looks,
      hidden: true
    });
    this.root.addEventListener("keydown", (event) => this.onKey(event));
    this.onOutside = (event) => {
      const target = (
        /** @type {Node} */
        event.target
      );
      if (this.keeps(target) || this.root.contains(target) || this.opener?.contains(target)) return;
      this.close(false);
    };
  }
  /**
   * Whether a click there leaves the popup open: a drawer goes on while the board is looked at.
   * @param {Node} target
   */
  keeps(target) {
    return this.kind === "drawer" && this.lab.ui.root.contains(target);
  }
  get open() {
    return !this.root.hidden;
  }
  /**
   * The width that the board leaves to an open drawer; 0 where the drawer lies over the board for want of room.
   * @param {number} outer of the lab
   */
  besideOf(outer) {
    return this.kind === "drawer" && this.open && outer >= BESIDE_FROM ? DRAWER : 0;
  }
  /**
   * @param {HTMLElement | null} opener its button
   * @param {...(Node | string)} content
   */
  show(opener2, ...content) {
    if (!this.open) this.home = this.lab.focus.home(opener2);
    this.lab.popups.filter((other) => other !== this).forEach((other) => other.close(false));
    this.opener = opener2;
    const closer = make("button", {
      type: "button",
      class: "rk-close",
      "aria-label": "Close"
    }, "\xD7");
    closer.addEventListener("click", () => this.close(true));
    this.root.replaceChildren(closer, ...content);
    this.root.hidden = false;
    if (this.kind === "drawer") this.lab.screen.fit();
    this.place(opener2);
    document.addEventListener("pointerdown", this.onOutside);
    const first = this.root.querySelector(":checked[type=radio]") ?? this.root.querySelector("[autofocus], input[type=search], .rk-item, input, select");
    (first instanceof HTMLElement ? first : closer).focus();
  }
  /**
   * A menu opens where its button is: above it in the lower half of the lab, else below the header, and on its side.
   * @param {HTMLElement | null} opener
   */
  place(opener2) {
    const home = this.lab.ui.root, { style } = this.root;
    const box = opener2?.closest(".rk-actions, .rk-transport")?.getBoundingClientRect();
    const low = this.kind === "menu" && opener2 && box;
    this.root.classList.toggle("rk-low", !!low);
    style.left = style.right = style.bottom = style.height = style.maxHeight = "";
    if (this.kind === "drawer") this.endAbove(this.lab.ui.actionBar, this.lab.ui.transport);
    if (this.kind !== "menu" || !opener2) return;
    const outer = home.getBoundingClientRect(), scale = outer.width / home.offsetWidth;
    const left = (opener2.getBoundingClientRect().left - outer.left) / scale;
    if (!low) {
      if (left < home.offsetWidth / 3) {
        Object.assign(style, {
          left: `${Math.max(20, left)}px`,
          right: "auto"
        });
      }
      return;
    }
    style.bottom = `${(outer.bottom - box.top) / scale + 2}px`;
    style.maxHeight = `${(box.top - Math.max(outer.top, 0)) / scale - 6}px`;
    style.left = `${Math.max(20, Math.min(left, home.offsetWidth - this.root.offsetWidth - 20))}px`;
  }
  /**
   * A drawer leaves the deeds, the buttons of time and the strip in sight, however high they become.
   * @param {...HTMLElement} bars of which the first that is shown ends it
   */
  endAbove(...bars2) {
    const bar = bars2.find((node) => node.offsetHeight > 0);
    if (!bar) return;
    this.root.style.bottom = "auto";
    this.root.style.height = `${bar.offsetTop - this.root.offsetTop}px`;
  }
  /** @param {boolean} back whether the focus goes back to where it was */
  close(back) {
    if (this.root.hidden) return;
    this.root.hidden = true;
    if (this.kind === "drawer") this.lab.screen.fit();
    document.removeEventListener("pointerdown", this.onOutside);
    if (back) this.lab.focus.giveBack(this.home);
  }
  /** @param {KeyboardEvent} event */
  onKey(event) {
    event.stopPropagation();
    if (event.key === "Escape") {
      event.preventDefault();
      this.close(true);
    }
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    const items = [
      ...this.root.querySelectorAll(".rk-item")
    ];
    const at = items.findIndex((item) => item === document.activeElement);
    const searching = document.activeElement?.matches("input[type=search]");
    if (searching && items[0] instanceof HTMLElement && (step > 0 || event.key === "Enter")) {
      event.preventDefault();
      if (step) items[0].focus();
      else items[0].click();
      return;
    }
    const next = items[(at + step + items.length) % items.length];
    if (!step || at < 0 || !(next instanceof HTMLElement)) return;
    event.preventDefault();
    next.focus();
  }
};

// lab/screen/buttons.js
function button(words, label, run, extra = {}) {
  const node = make("button", {
    type: "button",
    "aria-label": label,
    ...extra
  }, words);
  node.addEventListener("click", run);
  return node;
}
function opener(words, label, run, extra = {}) {
  const node = button(words, label, () => run(node), {
    "aria-haspopup": "dialog",
    ...extra
  });
  return node;
}

// lab/guide/bar.js
function buildGuideBar(lab) {
  const key = (name) => make("kbd", {
    "aria-hidden": "true"
  }, name);
  const guideButton = button("Guide me", "Guide me", () => lab.guide.toggle(), {
    class: "rk-guidebutton"
  });
  guideButton.title = "Stops at each beat of the rebalance, and says one sentence and the rule";
  const backButton = button("Back", "Previous beat", () => lab.guide.back());
  const nextWords = make("span", {}, "Next");
  const nextButton = button(nextWords, "Next beat", () => lab.guide.next(), {
    class: "rk-nextbutton"
  });
  nextButton.append(key("N"));
  const leaveButton = button("Leave", "Leave the guide", () => lab.guide.end());
  leaveButton.append(key("Esc"));
  const progress = make("span", {
    class: "rk-progress"
  });
  const beatWords = make("span", {});
  const beatRule = make("p", {
    class: "rk-beatrule"
  });
  const id = `rk-beat-${Math.random().toString(36).slice(2)}`;
  const said = make("div", {
    class: "rk-beat",
    role: "status",
    "aria-live": "polite",
    id
  });
  nextButton.setAttribute("aria-describedby", id);
  said.append(make("p", {
    class: "rk-cause"
  }, progress, beatWords), beatRule);
  const guideButtons = make("div", {
    class: "rk-guidebuttons",
    role: "toolbar",
    "aria-label": "Guide"
  }, backButton, nextButton, leaveButton);
  return {
    guideButton,
    guideButtons,
    backButton,
    nextButton,
    nextWords,
    progress,
    beatWords,
    beatRule,
    said
  };
}
function reserveGuideBar(lab) {
  const { guide, ui } = lab;
  ui.said.style.minHeight = "";
  if (!guide.on) return;
  const { index } = guide;
  const heights = guide.beats.map((_, place) => {
    guide.index = place;
    paintGuideBar(lab);
    return ui.said.offsetHeight;
  });
  guide.index = index;
  paintGuideBar(lab);
  ui.said.style.minHeight = `${Math.max(...heights)}px`;
}
function paintGuideBar({ guide, ui, pane }) {
  const { beat } = guide;
  if (!guide.on || !beat) return;
  const [, words, step] = beat;
  const [, , rule, source] = guide.content?.entries[step] ?? [
    0,
    "",
    "",
    ""
  ];
  say(ui.progress, `${guide.index + 1} of ${guide.beats.length}`);
  say(ui.beatWords, ` ${words}`);
  say(ui.beatRule, rule);
  set(ui.beatRule, "title", source);
  ui.beatRule.classList.toggle("rk-status", pane.shown);
  set(ui.backButton, "aria-disabled", guide.index === 0 ? "true" : "false");
  const skips = guide.underWay;
  say(ui.nextWords, skips ? "Skip" : guide.last ? "Done" : "Next");
  set(ui.nextButton, "aria-label", skips ? "Skip to the beat" : guide.last ? "End of the guide" : "Next beat");
}

// lab/guide/guide.js
var NOTHING = "Nothing happens in this run yet. Do something first, then be guided through what follows.";
var FOGGED = "The future is hidden while you predict.";
var SKIPS = "Plays on to the next beat. N or Enter goes there at once.";
var DONE = "That was the last beat of this run.";
var Guide = class {
  /** @param {import("../lab.js").Lab} lab */
  constructor(lab) {
    this.lab = lab;
    this.on = false;
    this.index = 0;
    this.content = null;
    this.serial = -1;
    this.wanted = false;
    this.loading = null;
  }
  /** @returns {Beat[]} */
  get beats() {
    return this.content?.beats ?? [];
  }
  get beat() {
    return this.beats[this.index];
  }
  /** The entry of Why that is lit while the guide rests at a beat; null where the cursor decides. */
  get lit() {
    return this.on && this.beat ? this.beat[2] : null;
  }
  /** Whether the run plays on to the next beat. */
  get underWay() {
    return this.on && this.lab.player.playing && this.lab.player.until !== null;
  }
  get last() {
    return this.index >= this.beats.length - 1;
  }
  /** Get the beats of the run that is shown; a page without a kernel has them with it. */
  async load() {
    const { lab } = this;
    while (this.serial !== lab.serial) {
      if (!this.loading) this.loading = this.fetch(lab.serial).finally(() => this.loading = null);
      await this.loading;
    }
  }
  /** @param {number} serial */
  async fetch(serial) {
    const { lab } = this;
    if (lab.alone) this.content = lab.model.get("controls").guide ?? null;
    else {
      const answer = await lab.talk.request({
        type: "guide"
      }, !this.wanted);
      this.content = answer.buffers.length ? await inflate(answer.buffers[0]) : null;
    }
    this.serial = serial;
  }
  /** Begin at the first beat, or leave. */
  async toggle() {
    if (this.on) this.end();
    else await this.begin();
  }
  async begin() {
    const { lab } = this;
    if (lab.predict.on) {
      lab.tell(FOGGED);
      return;
    }
    lab.player.pause();
    this.wanted = true;
    await this.load();
    this.wanted = false;
    if (!this.beats.length) {
      lab.tell(NOTHING);
      return;
    }
    if (lab.comparison.view) lab.comparison.end();
    lab.panels.open("flow");
    this.on = true;
    lab.ui.root.classList.add("rk-guided");
    reserveGuideBar(lab);
    this.go(0);
    lab.ui.nextButton.focus();
  }
  end() {
    const { lab } = this;
    if (!this.on) return;
    this.on = false;
    lab.player.until = null;
    lab.player.pause();
    lab.ui.root.classList.remove("rk-guided");
    lab.paint(false);
    lab.ui.playButton.focus();
  }
  /** The run has changed: its beats are others. */
  async again() {
    if (!this.on) return;
    this.lab.player.until = null;
    await this.load();
    if (!this.on) return;
    if (this.beats.length) {
      reserveGuideBar(this.lab);
      this.follow(this.lab.player.at);
    } else this.end();
    this.lab.paint(false);
  }
  /**
   * Rest at a beat at once.
   * @param {number} index
   */
  go(index) {
    const { lab } = this;
    lab.player.until = null;
    lab.player.pause();
    this.index = Math.max(0, Math.min(index, this.beats.length - 1));
    lab.seek(this.beat[0], false);
  }
  /** Play on to the next beat; while it plays, be there at once. After the last one the guide ends. */
  next() {
    const { lab } = this;
    if (this.last) {
      lab.tell(DONE);
      this.end();
      return;
    }
    const [at] = this.beats[this.index + 1];
    const passes = at > lab.player.at && !lab.options.still && !lab.player.playing;
    if (!passes) {
      this.go(this.index + 1);
      return;
    }
    lab.player.until = at;
    lab.play();
    lab.tell(SKIPS);
  }
  back() {
    const { player } = this.lab;
    this.go(player.playing || player.at > this.beat[0] ? this.index : this.index - 1);
  }
  /** The player has stopped: at the next beat, or where it was held on the way. */
  stopped() {
    const { player, ui } = this.lab;
    if (ui.notice.textContent === SKIPS) this.lab.tell("");
    if (!this.on || player.until === null || player.at < player.until) return;
    player.until = null;
    this.index += 1;
  }
  /**
   * The cursor was moved by hand: the beat is the last one before it.
   * @param {number} at
   */
  follow(at) {
    if (!this.on || this.lab.player.playing || !this.beat || Math.round(at) === this.beat[0]) return;
    this.index = Math.max(0, placeOf(this.beats.map(([moment]) => moment), at));
  }
};

// lab/numbers/spin.js
var Spin = class {
  /**
   * @param {import("../lab.js").Lab} lab
   * @param {string} name of the setting
   * @param {HTMLElement} [handle] what is dragged instead of a number in a text
   */
  constructor(lab, name, handle) {
    this.lab = lab;
    this.name = name;
    this.drag = null;
    this.from = 0;
    this.shown = NaN;
    this.inText = handle === void 0;
    this.node = handle ?? make("b", {
      class: "rk-number-spin",
      tabindex: "0",
      role: "spinbutton",
      "aria-label": name
    });
    this.node.addEventListener("pointerdown", (event) => this.press(event));
    this.node.addEventListener("pointermove", (event) => this.move(event));
    this.node.addEventListener("pointerup", () => this.lift());
    this.node.addEventListener("pointercancel", () => this.giveBack());
    this.node.addEventListener("keydown", (event) => this.onKey(event));
    this.node.addEventListener("blur", () => this.release());
    this.onValue = (value, refused) => this.show(value, refused);
  }
  /** @returns {Setting | undefined} */
  get setting() {
    return this.lab.numbers.get(this.name);
  }
  get active() {
    return this.drag !== null || document.activeElement === this.node;
  }
  /** Show the value that holds; while it is dragged, where it was dragged to. */
  paint() {
    const { setting } = this;
    if (setting && !this.drag && setting.value !== this.shown) this.show(setting.value, "");
  }
  /**
   * @param {number} value
   * @param {string} refused
   */
  show(value, refused) {
    this.shown = value;
    const words = inWords(this.name, value);
    say(this.node, words);
    set(this.node, "aria-valuenow", value);
    set(this.node, "aria-valuetext", refused ? `${words}, refused: ${refused}` : words);
    set(this.node, "aria-valuemin", this.setting?.least ?? 0);
    set(this.node, "aria-invalid", refused ? "true" : null);
    if (refused) this.lab.refuse(refused);
  }
  begin() {
    const { setting, lab } = this;
    if (this.drag || !setting || lab.alone || lab.predict.on) return;
    lab.player.pause();
    lab.dragged = this;
    this.drag = new Drag(lab, setting, (value, refused) => this.onValue(value, refused));
  }
  /** @param {PointerEvent} event */
  press(event) {
    if (event.button !== 0) return;
    event.preventDefault();
    event.stopPropagation();
    this.node.focus();
    this.begin();
    this.from = event.clientX;
    this.node.setPointerCapture(event.pointerId);
  }
  /** @param {PointerEvent} event */
  move(event) {
    if (!this.drag || !this.node.hasPointerCapture(event.pointerId)) return;
    this.drag.to(Math.trunc((event.clientX - this.from) / PIXELS));
  }
  /** A click that dragged nothing, and Enter, open the field of the number in Settings. */
  open() {
    const { lab, name, setting } = this;
    if (setting && !lab.alone && !lab.predict.on) void showSettings(lab, lab.ui.settingsButton, name);
  }
  lift() {
    const clicked = this.drag?.steps === 0 && this.inText;
    this.release();
    if (clicked) this.open();
  }
  release() {
    this.end()?.keep();
    this.paint();
  }
  giveBack() {
    this.end()?.back();
  }
  end() {
    const { drag } = this;
    this.drag = null;
    if (drag) this.lab.dragged = null;
    return drag;
  }
  /** @param {KeyboardEvent} event */
  onKey(event) {
    const steps = stepsOfKey(event.key);
    const opens = event.key === "Enter" && !this.drag && this.inText;
    if (steps === null && !opens && !(this.drag && [
      "Escape",
      "Enter"
    ].includes(event.key))) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === "Escape") this.giveBack();
    else if (opens) this.open();
    else if (event.key === "Enter") this.release();
    else {
      this.begin();
      this.drag?.to(this.drag.steps + (steps ?? 0));
    }
  }
};

// lab/numbers/said.js
var Said = class {
  /**
   * @param {import("../lab.js").Lab} lab
   * @param {HTMLElement} node
   */
  constructor(lab, node) {
    this.lab = lab;
    this.node = node;
    this.drawn = [];
    this.spins = [];
  }
  /** @param {string} text */
  say(text3) {
    const { numbers } = this.lab;
    if (this.drawn[0] === text3 && this.drawn[1] === numbers) return;
    this.drawn = [
      text3,
      numbers
    ];
    const parts = pieces(text3, numbers);
    const kept = this.spins.find((spin) => spin.active);
    if (parts.every((part) => typeof part === "string") && !kept) {
      this.spins = [];
      say(this.node, text3);
      return;
    }
    this.write(parts, kept);
  }
  /**
   * @param {(string | { name: string })[]} parts
   * @param {Spin | undefined} kept
   */
  write(parts, kept) {
    const place = kept ? parts.findIndex((part) => typeof part !== "string" && part.name === kept.name) : -1;
    const before = this.nodesOf(kept && place >= 0 ? parts.slice(0, place) : parts);
    const after = this.nodesOf(kept && place >= 0 ? parts.slice(place + 1) : []);
    this.spins = [
      ...before,
      ...after
    ].flatMap(({ spin }) => spin ?? []);
    const nodes = [
      before,
      after
    ].map((list) => list.map(({ node }) => node));
    if (kept) {
      const named = place < 0 ? [
        make("span", {}, ` ${kept.name} `)
      ] : [];
      this.spins.push(kept);
      [
        ...this.node.childNodes
      ].forEach((node) => node !== kept.node && node.remove());
      kept.node.before(...nodes[0], ...named);
      kept.node.after(...nodes[1]);
    } else this.node.replaceChildren(...nodes[0]);
    this.spins.forEach((spin) => spin.paint());
  }
  /**
   * @param {(string | { name: string })[]} parts
   * @returns {{ node: Node, spin?: Spin }[]}
   */
  nodesOf(parts) {
    return parts.map((part) => {
      if (typeof part === "string") return {
        node: document.createTextNode(part)
      };
      const spin = new Spin(this.lab, part.name);
      return {
        node: spin.node,
        spin
      };
    });
  }
};

// lab/panels/why.js
var WhyView = class {
  /**
   * @param {import("../lab.js").Lab} lab
   * @param {() => number | null} [lit] the number of the entry that is open whatever the cursor says
   */
  constructor(lab, lit = () => null) {
    this.lab = lab;
    this.lit = lit;
    this.content = /** @type {import("./content.js").WhyContent} */
    /** @type {unknown} */
    null;
    this.drawn = null;
    this.times = [];
    this.items = [];
    this.here = null;
    this.chosen = null;
    this.root = make("ol", {
      class: "rk-view rk-why"
    });
  }
  /** @param {number} at */
  paint(at) {
    if (this.drawn !== this.content) this.draw();
    if (this.chosen !== null && this.times[this.chosen] !== at) this.chosen = null;
    const here = this.items[this.lit() ?? this.chosen ?? Math.max(0, placeOf(this.times, at))];
    if (this.here === here || !here) return;
    this.here?.removeAttribute("aria-current");
    here.setAttribute("aria-current", "step");
    this.here = here;
    const { clientHeight } = this.root;
    const above = Math.min(clientHeight * 0.35, clientHeight - here.offsetHeight - 8);
    this.root.scrollTop = here.offsetTop - Math.max(0, above);
  }
  draw() {
    const { entries } = this.content;
    this.drawn = this.content;
    this.here = null;
    this.times = entries.map(([at]) => at);
    this.items = entries.map(([at, words, rule, source], place) => {
      const told = make("span", {});
      new Said(this.lab, told).say(rule);
      const go = make("button", {
        type: "button"
      }, make("b", {}, seconds(at)), make("span", {}, words));
      go.addEventListener("click", () => {
        this.chosen = place;
        this.lab.seek(at, false);
      });
      return make("li", {}, go, make("p", {}, told, " ", make("cite", {}, source)));
    });
    this.root.replaceChildren(...this.items);
  }
};

// lab/guide/pane.js
var FROM = 1200;
var SHARE = 0.22;
var LEAST = 290;
var MOST = 440;
var REST_MS2 = 250;
var Pane = class {
  /** @param {import("../lab.js").Lab} lab */
  constructor(lab) {
    this.lab = lab;
    this.view = new WhyView(lab, () => lab.guide.lit);
    this.root = make("aside", {
      class: "rk-pane",
      "aria-label": "Why",
      hidden: true
    }, make("h2", {}, "Why"), this.view.root);
    this.wide = 0;
    this.waiting = 0;
  }
  get shown() {
    return !this.root.hidden;
  }
  /** Whether a number in it is being stepped: it is not drawn anew under the hand. */
  get stepped() {
    const { activeElement } = document;
    return this.root.contains(activeElement) && activeElement?.getAttribute("role") === "spinbutton";
  }
  /**
   * How much of this width the pane takes.
   * @param {number} outer
   */
  widthOf(outer) {
    const { alone, presenter, model } = this.lab;
    const fits = outer >= FROM && !presenter.on && (!alone || model.get("controls").guide);
    this.wide = fits ? Math.round(Math.max(LEAST, Math.min(MOST, outer * SHARE))) : 0;
    this.root.style.width = `${this.wide}px`;
    return this.wide;
  }
  /** Show it, or not, as the picture on the stage allows. */
  place() {
    const { comparison, predict, screen } = this.lab;
    this.root.hidden = !this.wide || comparison.view !== null || screen.beside > 0;
    this.root.classList.toggle("rk-unseen", predict.on);
    if (this.shown) this.want();
  }
  /** Ask for the account of the run a little after it is shown, so that no click waits for it. */
  want() {
    const { guide, serial } = this.lab;
    clearTimeout(this.waiting);
    if (guide.serial === serial) return;
    this.waiting = setTimeout(async () => {
      await guide.load();
      this.paint(this.lab.player.at);
    }, REST_MS2);
  }
  /** @param {number} at */
  paint(at) {
    const { guide } = this.lab;
    if (!this.shown || !guide.content) return;
    if (!this.view.drawn || !this.stepped) this.view.content = guide.content;
    this.view.paint(at);
    say(
      /** @type {Node} */
      this.root.firstChild,
      guide.on ? "Why: the rule of this beat" : "Why"
    );
  }
};

// lab/kernel/address.js
var page = (
  /** @type {{ rebalanceLinkOpened?: string }} */
  globalThis
);
function linkOfAddress() {
  const came = performance.getEntriesByType("navigation")[0];
  const places2 = [
    location.href,
    came ? came.name : ""
  ].filter(Boolean).map((text3) => new URL(text3));
  const token2 = places2.map(tokenOf).find(Boolean);
  if (!token2 || page.rebalanceLinkOpened === token2) return null;
  page.rebalanceLinkOpened = token2;
  return token2;
}
function forgetAddress() {
  delete page.rebalanceLinkOpened;
}
function tokenOf({ searchParams, hash }) {
  const name = "rebalance-lab";
  return searchParams.get(name) || new URLSearchParams(hash.slice(1)).get(name);
}

// lab/kernel/talk.js
var SLOW_MS2 = 300;
var DEAD_MS = 6e3;
var Talk = class {
  /**
   * @param {import("../../shared/model.js").Model} model
   * @param {(busy: boolean) => void} onBusy
   * @param {(dead: boolean) => void} onDead
   */
  constructor(model, onBusy, onDead) {
    this.model = model;
    this.onBusy = onBusy;
    this.onDead = onDead;
    this.open = /* @__PURE__ */ new Map();
    this.lastId = Math.floor(Math.random() * 1e9) * 1e3;
    this.changing = false;
    this.queued = null;
  }
  /**
   * A look or a change: a promise of the answer with its inflated contents; refusals arrive as answers too.
   * @param {any} message
   * @param {boolean} [quiet] nobody waits for it, so nothing says that it is under way
   */
  request(message, quiet = false) {
    const id = this.lastId += 1;
    return new Promise((done) => {
      const slow = setTimeout(() => quiet || this.onBusy(true), SLOW_MS2);
      const dead = setTimeout(() => this.onDead(true), DEAD_MS);
      this.open.set(id, {
        done,
        slow,
        dead
      });
      try {
        this.model.send({
          ...message,
          id
        });
      } catch {
        this.onDead(true);
      }
    });
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
    waiting.done({
      ...message,
      buffers: buffers || []
    });
  }
  /**
   * Changes do not pile up: while one is on its way the latest of the others waits.
   * @param {any} message
   * @param {(answer: any) => void} follow
   */
  async change(message, follow) {
    if (this.changing) {
      this.queued = [
        message,
        follow
      ];
      return;
    }
    this.changing = true;
    follow(await this.request(message));
    this.changing = false;
    const next = this.queued;
    this.queued = null;
    if (next) this.change(...next);
  }
};

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
    for (let count2 = first; count2 * step * 1e3 <= this.to; count2 += 1) ticks.push(count2 * step);
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
var STRETCH_MS = 3e4;
function reachOf(before, end) {
  if (!before || end <= before) return before || end;
  return Math.ceil(end / STRETCH_MS) * STRETCH_MS;
}
function zoomed(scale, by, at, end, least) {
  const span = by ? Math.min(end, Math.max(least, (scale.to - scale.from) * by)) : end;
  const from = Math.max(0, Math.min(end - span, at - span / 2));
  return new Scale(from, from + span, scale.width);
}
function following(scale, at, end) {
  if (at >= scale.from && at <= scale.to) return scale;
  const span = scale.to - scale.from;
  const from = Math.max(0, Math.min(end - span, at - span / 4));
  return new Scale(from, from + span, scale.width);
}
function labelShift(x, width, margin) {
  return Math.round(Math.max(margin - x, Math.min(0, width - margin - x)));
}
function worstPerPixel(spans, scale) {
  const worst = new Float64Array(Math.ceil(scale.width) + 1);
  const edges = spans.flatMap(([from, until]) => [
    [
      from,
      1
    ],
    [
      until,
      -1
    ]
  ]);
  edges.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
  let now = 0;
  let last = 0;
  for (const [at, by] of edges) {
    const to = Math.floor(scale.x(at));
    for (let x = last; x <= to; x += 1) worst[x] = Math.max(worst[x], now);
    now += by;
    last = to;
    worst[to] = Math.max(worst[to], now);
  }
  for (let x = last; x < worst.length; x += 1) worst[x] = Math.max(worst[x], now);
  return worst;
}

// lab/time/painter.js
var MANY_BARS = 24;
function drawsCounts(film) {
  return film.partitions.length > MANY_BARS;
}
function sharpPen(canvas, width, height) {
  const ratio = Math.min(2, devicePixelRatio || 1);
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const pen = (
    /** @type {Pen} */
    canvas.getContext("2d")
  );
  pen.scale(ratio, ratio);
  return pen;
}
var PATTERNS = /* @__PURE__ */ new Map();
var COLOURS = /* @__PURE__ */ new Map();
var THEMES = /\brk-(?:light|dark|projector)\b/g;
var FORCED = matchMedia("(forced-colors: active)");
var Painter = class {
  /** @param {Element} root */
  constructor(root) {
    this.root = root;
    this.large = root.classList.contains("rk-projector");
    this.css = void 0;
    const lab = root.closest(".rk-lab");
    const theme = lab?.isConnected ? `${lab.className.match(THEMES)?.sort()} ${FORCED.matches}` : "";
    this.colours = COLOURS.get(theme) ?? /* @__PURE__ */ new Map();
    if (theme) COLOURS.set(theme, this.colours);
  }
  /** @param {string} name */
  colour(name) {
    const known = this.colours.get(name);
    if (known) return known;
    this.css ??= getComputedStyle(this.root);
    const read = this.css.getPropertyValue(`--rk-${name}`).trim();
    this.colours.set(name, read);
    return read;
  }
  /**
   * What a partition in a state is filled with.
   * @param {Pen} pen
   * @param {import("../film/format.js").Film} film
   * @param {import("../film/format.js").PartitionState} state
   */
  fillOf(pen, film, state) {
    if (state.owner < 0) return this.pattern(pen, "dots", this.colour("ink"));
    const hue = this.colour(`m${film.members[state.owner].hue}`);
    if (state.flows) return hue;
    return ALERTING.has(state.word) ? this.pattern(pen, "cross", this.colour("alert")) : this.pattern(pen, "diagonal", hue);
  }
  /**
   * @param {Pen} pen
   * @param {"dots" | "diagonal" | "cross"} kind
   * @param {string} colour
   */
  pattern(pen, kind, colour) {
    const surface = this.colour("surface");
    const key = `${kind}/${colour}/${surface}`;
    const known = PATTERNS.get(key);
    if (known) return known;
    const tile = make("canvas", {
      width: 4,
      height: 4
    });
    const brush = (
      /** @type {Pen} */
      tile.getContext("2d")
    );
    brush.fillStyle = surface;
    brush.fillRect(0, 0, 4, 4);
    brush.strokeStyle = brush.fillStyle = colour;
    brush.beginPath();
    if (kind === "dots") brush.fillRect(0, 1, 1.5, 1.5);
    else line(brush, 0, 4, 4, 0);
    if (kind === "cross") line(brush, 0, 0, 4, 4);
    brush.stroke();
    const pattern = (
      /** @type {CanvasPattern} */
      pen.createPattern(tile, "repeat")
    );
    PATTERNS.set(key, pattern);
    return pattern;
  }
  /**
   * The whole run as a picture: a bar for each partition, or counts where they are many.
   * @param {Pen} pen
   * @param {import("../film/format.js").Film} film
   * @param {import("./scale.js").Scale} scale
   * @param {number} height
   */
  drawRun(pen, film, scale, height) {
    if (drawsCounts(film)) this.drawCounts(pen, film, scale, height);
    else this.drawOwners(pen, film, scale, height);
  }
  /**
   * @param {Pen} pen
   * @param {import("../film/format.js").Film} film
   * @param {import("./scale.js").Scale} scale
   * @param {number} height
   */
  drawOwners(pen, film, scale, height) {
    const each = Math.min(7, height / film.partitions.length);
    film.partitionTracks.forEach((track, index) => forSpans(track, film.end, (from, until, number) => {
      const state = film.partitionStates[number];
      if (state.owner === GONE) return;
      const x = scale.x(from);
      pen.fillStyle = this.fillOf(pen, film, state);
      pen.fillRect(x, index * each, Math.max(scale.x(until) - x, state.flows ? 0 : 1), Math.max(1, each - 1.6));
    }));
  }
  /**
   * Two rows: is the group stable, and how many are unread (the worst of each pixel).
   * @param {Pen} pen
   * @param {import("../film/format.js").Film} film
   * @param {import("./scale.js").Scale} scale
   * @param {number} height
   */
  drawCounts(pen, film, scale, height) {
    forSpans(film.groupTrack, film.end, (from, until, number) => {
      pen.fillStyle = this.colour(film.groupStates[number].state === "Stable" ? "sunk" : "ink");
      pen.fillRect(scale.x(from), 0, Math.max(1, scale.x(until) - scale.x(from)), 12);
    });
    pen.fillStyle = this.colour("alert");
    worstPerPixel(stoppedSpans(film), scale).forEach((count2, x) => {
      if (!count2) return;
      const tall = Math.max(3, count2 / film.partitions.length * 20);
      pen.fillRect(x, height - tall, 1, tall);
    });
  }
};
function line(pen, x1, y1, x2, y2) {
  pen.moveTo(x1, y1);
  pen.lineTo(x2, y2);
}
function forSpans(track, end, visit) {
  track.times.forEach((from, place) => visit(from, track.times[place + 1] ?? end, track.states[place]));
}
function stoppedSpans(film) {
  const spans = [];
  for (const track of film.partitionTracks) {
    forSpans(track, film.end, (from, until, number) => {
      if (!film.partitionStates[number].flows) spans.push([
        from,
        Math.min(until, film.known)
      ]);
    });
  }
  return spans;
}

// lab/timeline/chart.js
var LARGER = 1.16;
var TOP = 20;
var TALLEST = 24;
var LOWEST = 18;
var STEPS_S = [
  0.01,
  0.05,
  0.1,
  0.2,
  0.5,
  1,
  2,
  5,
  10,
  15,
  30,
  60,
  120,
  300,
  600,
  1800
];
var MOST_TICKS = 11;
function rowHeight(count2, room) {
  const fits = Math.floor((room - TOP) / Math.max(1, count2));
  return fits < LOWEST ? TALLEST - 4 : Math.min(TALLEST, fits);
}
var Chart = class {
  /**
   * @param {CanvasRenderingContext2D} pen
   * @param {import("../time/painter.js").Painter} painter
   * @param {import("../film/format.js").Film} film
   * @param {import("../time/scale.js").Scale} scale
   * @param {number} row its height
   */
  constructor(pen, painter, film, scale, row) {
    this.row = row;
    this.letters = painter.large ? LARGER : 1;
    this.pen = pen;
    this.painter = painter;
    this.film = film;
    this.scale = scale;
  }
  /**
   * @param {import("./rows.js").Row[]} rows
   * @param {number} height
   */
  draw(rows2, height) {
    this.drawAxis(height);
    rows2.forEach(({ kind, index }, place) => {
      const y = TOP + place * this.row;
      if (kind === "group") this.drawGroup(y);
      else if (kind === "member") this.drawMember(index, y);
      else this.drawPartition(index, y);
    });
  }
  /** @param {number} height */
  drawAxis(height) {
    const { pen, scale } = this;
    const { step, ticks } = scale.ticks(STEPS_S, MOST_TICKS);
    pen.fillStyle = this.painter.colour("ink2");
    pen.strokeStyle = this.painter.colour("hairline");
    pen.font = `${11.5 * this.letters}px system-ui, sans-serif`;
    pen.textAlign = "center";
    for (const at of ticks) {
      const x = scale.x(at * 1e3);
      const words = step < 1 ? at.toFixed(2) : String(Math.round(at));
      pen.fillText(words, Math.max(10, Math.min(scale.width - 10, x)), 12);
      pen.beginPath();
      pen.moveTo(x, 18);
      pen.lineTo(x, height);
      pen.stroke();
    }
  }
  /** @param {number} y */
  drawGroup(y) {
    const { groupTrack, groupStates, end } = this.film;
    for (const [from, until, state] of bars(groupTrack, groupStates, end, ({ state: state2, generation }) => `${state2}${generation}`)) {
      const steady = state.state === "Stable" || state.state === "Empty";
      const words = `${state.state}${state.generation === null ? "" : ` \xB7 ${state.generation}`}`;
      this.drawBox(from, until, y, this.painter.colour(steady ? "sunk" : "ink"));
      this.write(from, until, y, words, this.painter.colour(steady ? "ink" : "surface"));
    }
  }
  /**
   * @param {number} index
   * @param {number} y
   */
  drawMember(index, y) {
    const { members, memberTracks, memberStates, end } = this.film;
    const hue = this.painter.colour(`m${members[index].hue}`);
    for (const [from, until, state] of bars(memberTracks[index], memberStates, end, ({ doing }) => doing)) {
      if ([
        "absent",
        "closed"
      ].includes(state.life) || state.doing === "gone") continue;
      if ([
        "crashed",
        "frozen",
        "died"
      ].includes(state.life)) {
        this.drawBox(from, until, y, this.painter.pattern(this.pen, "cross", this.painter.colour("alert")));
        this.drawTag(from, until, y, state.doing);
      } else if (state.callback) {
        this.drawBox(from, until, y, this.painter.pattern(this.pen, "diagonal", hue));
        this.drawTag(from, until, y, state.callback);
      } else if (state.doing !== "polls") {
        this.drawFrame(from, until, y, hue);
        this.drawTag(from, until, y, state.doing);
      } else {
        const left = this.scale.x(from);
        this.pen.fillStyle = hue;
        this.pen.fillRect(left, y + this.row / 2 - 1, Math.max(1, this.scale.x(until) - left), 2.5);
      }
    }
  }
  /**
   * @param {number} index
   * @param {number} y
   */
  drawPartition(index, y) {
    const { film, painter } = this;
    for (const [from, until, state] of partitionBars(film.partitionTracks[index], film.partitionStates, film.end)) {
      if (state.owner === GONE) continue;
      this.drawBox(from, until, y, painter.fillOf(this.pen, film, state));
      if (state.flows) {
        const owner = film.members[state.owner];
        this.write(from, until, y, owner.name, painter.colour(`m${owner.hue}o`));
      } else this.drawTag(from, until, y, state.word);
    }
  }
  /**
   * @param {number} from
   * @param {number} until
   * @param {number} y
   * @param {string | CanvasPattern} fill
   */
  drawBox(from, until, y, fill) {
    const seen = this.scale.clip(from, until);
    if (!seen) return;
    this.pen.fillStyle = fill;
    this.pen.fillRect(seen.left, y + 3, seen.width, this.row - 6);
  }
  /**
   * An empty box with a line around it.
   * @param {number} from
   * @param {number} until
   * @param {number} y
   * @param {string} hue
   */
  drawFrame(from, until, y, hue) {
    this.drawBox(from, until, y, this.painter.colour("surface"));
    const left = this.scale.x(from);
    this.pen.strokeStyle = hue;
    this.pen.strokeRect(left + 0.5, y + 3.5, Math.max(1, this.scale.x(until) - left - 2), this.row - 7);
  }
  /**
   * Words on a bar, where they fit.
   * @param {number} from
   * @param {number} until
   * @param {number} y
   * @param {string} words
   * @param {string} ink
   */
  write(from, until, y, words, ink) {
    const seen = this.scale.clip(from, until);
    this.pen.font = `600 ${12 * this.letters}px system-ui, sans-serif`;
    this.pen.textAlign = "left";
    if (!seen || this.pen.measureText(words).width + 10 > seen.width) return;
    this.pen.fillStyle = ink;
    this.pen.fillText(words, seen.left + 5, y + this.row / 2 + 4);
  }
  /**
   * Words on a ground of their own, where they fit.
   * @param {number} from
   * @param {number} until
   * @param {number} y
   * @param {string} words
   */
  drawTag(from, until, y, words) {
    const { pen, scale, painter } = this;
    const left = Math.max(0, scale.x(from));
    pen.font = `600 ${11.5 * this.letters}px system-ui, sans-serif`;
    const width = pen.measureText(words).width;
    if (Math.min(scale.width, scale.x(until)) - left < width + 14) return;
    pen.fillStyle = painter.colour("surface");
    pen.fillRect(left + 4, y + 4, width + 6, this.row - 8);
    pen.fillStyle = painter.colour("ink");
    pen.textAlign = "left";
    pen.fillText(words, left + 7, y + this.row / 2 + 4);
  }
};

// lab/timeline/rows.js
var MOST_ROWS = 60;
var ALL_ROWS = 24;
var ALL_MEMBERS = 12;
var MOST_MEMBERS = 8;
var ACTED = /* @__PURE__ */ new Set([
  "fault",
  "action",
  "timer"
]);
var ORDERS = Object.freeze([
  "by number",
  "by owner",
  "most unread first"
]);
function chooseRows(film, order, at) {
  const changed = (track) => track.times.filter((time) => time > film.settled).length;
  const members = film.members.length <= ALL_MEMBERS ? film.members : mostTouched(film, (index) => changed(film.memberTracks[index]));
  const all = film.partitions.map((name, index) => ({
    name,
    kind: "partition",
    index,
    stopped: stoppedFor(film, index)
  }));
  const partitions = all.length > ALL_ROWS ? all.filter(({ index }) => changed(film.partitionTracks[index])) : all;
  const others = all.length > ALL_ROWS ? all.length - Math.min(partitions.length, MOST_ROWS) : 0;
  partitions.sort(ordering(film, order, at));
  return {
    rows: [
      {
        name: "Group",
        kind: "group",
        index: 0,
        stopped: 0
      },
      ...members.map(({ name, index }) => (
        /** @type {Row} */
        {
          name,
          kind: "member",
          index,
          stopped: 0
        }
      )),
      ...partitions.slice(0, MOST_ROWS)
    ],
    others
  };
}
function mostTouched(film, changes) {
  const acted = new Set(film.marks.filter(({ kind }) => ACTED.has(kind)).map((mark) => mark.member));
  const weight = ({ name, index }) => (acted.has(name) ? 1e6 : 0) + changes(index);
  return film.members.filter((member) => acted.has(member.name) || changes(member.index) > 2).sort((a, b) => weight(b) - weight(a)).slice(0, MOST_MEMBERS).sort((a, b) => a.index - b.index);
}
function ordering(film, order, at) {
  if (order === "by owner") {
    return (a, b) => ownerAt(film, a.index, at) - ownerAt(film, b.index, at) || a.index - b.index;
  }
  if (order === "most unread first") return (a, b) => b.stopped - a.stopped || a.index - b.index;
  return (a, b) => a.index - b.index;
}
function ownerAt(film, partition, at) {
  return stateAt(film.partitionTracks[partition], film.partitionStates, at).owner;
}
function stoppedFor(film, partition) {
  return partitionBars(film.partitionTracks[partition], film.partitionStates, film.end).reduce((sum, [from, until, state]) => sum + (state.flows ? 0 : Math.max(0, until - Math.max(from, film.settled))), 0);
}

// lab/timeline/timeline.js
var LABEL = 118;
var SIDE = 96;
var SHORTEST_MS = 500;
var AROUND = 26;
var Timeline = class {
  /** @param {import("../lab.js").Lab} lab */
  constructor(lab) {
    this.lab = lab;
    this.drawn = null;
    this.film = null;
    this.scale = new Scale(0, 1, 1);
    this.rows = [];
    this.height = 0;
    this.row = 0;
    this.order = make("select", {
      "aria-label": "Order of partitions"
    }, ...ORDERS.map((words) => make("option", {}, words)));
    this.order.addEventListener("input", () => this.redraw());
    this.range = make("span", {
      class: "rk-dim"
    });
    this.canvas = make("canvas", {
      "aria-hidden": "true",
      style: `left:${LABEL}px`
    });
    this.names = make("div", {
      class: "rk-rownames",
      "aria-hidden": "true"
    });
    this.line = make("i", {
      class: "rk-tcursor",
      "aria-hidden": "true"
    });
    this.chart = make("div", {
      class: "rk-chart"
    }, this.names, this.canvas, this.line);
    this.table = make("tbody", {});
    const zooms = [
      this.zoomButton("\u2212", "Zoom out", 2),
      this.zoomButton("+", "Zoom in", 0.5),
      this.zoomButton("Whole run", "Whole run", 0)
    ];
    this.bar = make("div", {
      class: "rk-bar"
    }, this.order, ...zooms, this.range);
    const heads = [
      "partition",
      "unread",
      "owners"
    ].map((words) => make("th", {
      scope: "col"
    }, words));
    this.twin = make("details", {
      class: "rk-timetext"
    }, make("summary", {}, "Timeline as text"), make("table", {
      class: "rk-table"
    }, make("thead", {}, make("tr", {}, ...heads)), this.table));
    this.root = make("div", {
      class: "rk-view rk-timeline",
      tabindex: "0"
    }, this.bar, this.chart, this.twin);
    this.canvas.addEventListener("click", (event) => this.onClick(event));
    this.canvas.addEventListener("wheel", (event) => this.onWheel(event), {
      passive: false
    });
  }
  /**
   * @param {string} words
   * @param {string} label
   * @param {number} by
   */
  zoomButton(words, label, by) {
    const node = make("button", {
      type: "button",
      "aria-label": label
    }, words);
    node.addEventListener("click", () => this.zoom(by));
    return node;
  }
  /**
   * Zoom about the cursor; 0 shows all.
   * @param {number} by
   */
  zoom(by) {
    const { film, player } = this.lab;
    this.scale = zoomed(this.scale, by, player.at, film.end, SHORTEST_MS);
    this.redraw();
  }
  redraw() {
    this.drawn = null;
    this.paint(this.lab.player.at);
  }
  /** @param {number} at */
  paint(at) {
    const { film, ui, screen } = this.lab;
    const width = screen.width - 44;
    if (this.film !== film) {
      this.film = film;
      this.scale = new Scale(0, film.end, this.scale.width);
      this.drawn = null;
    }
    const shown = following(this.scale, at, film.end);
    const key = `${ui.root.className}/${width}`;
    if (this.drawn !== key || shown !== this.scale) {
      this.drawn = key;
      this.scale = new Scale(shown.from, shown.to, width - LABEL - SIDE - 20);
      this.draw();
    }
    this.line.style.transform = `translateX(${LABEL + this.scale.x(at)}px)`;
    this.line.style.height = `${this.height}px`;
  }
  draw() {
    const { film, player, ui } = this.lab;
    const { rows: rows2, others } = chooseRows(film, this.order.value, player.at);
    this.rows = rows2;
    const beside = this.bar.offsetHeight + (this.twin.open ? 0 : this.twin.offsetHeight) + AROUND;
    this.row = rowHeight(rows2.length + (others ? 1 : 0), this.root.clientHeight - beside);
    this.height = TOP + rows2.length * this.row;
    this.chart.style.height = `${this.height + (others ? this.row : 0)}px`;
    const pen = sharpPen(this.canvas, this.scale.width, this.height);
    new Chart(pen, new Painter(ui.root), film, this.scale, this.row).draw(rows2, this.height);
    const most = Math.max(1, ...rows2.map((row) => row.stopped));
    const style = `${this.placed(this.height + 2)};width:100%`;
    const rest = make("div", {
      class: "rk-rowname",
      style
    }, `${others} other partitions flowed all the time.`);
    this.names.replaceChildren(...rows2.map((row, place) => this.rowName(row, place, most)), others ? rest : "");
    say(this.range, `${seconds(this.scale.from)} to ${seconds(this.scale.to)}`);
    this.table.replaceChildren(...rows2.filter((row) => row.kind === "partition").map((row) => this.rowText(row)));
  }
  /**
   * Where the name of a row stands.
   * @param {number} top
   */
  placed(top) {
    return `top:${top}px;height:${this.row}px;line-height:${this.row}px`;
  }
  /**
   * @param {import("./rows.js").Row} row
   * @param {number} place
   * @param {number} most
   */
  rowName({ name, kind, stopped }, place, most) {
    const looks = {
      class: `rk-rowname rk-of-${kind}`,
      style: this.placed(TOP + place * this.row)
    };
    if (kind !== "partition") return make("div", looks, make("span", {}, name));
    const share = make("i", {
      style: `width:${30 * stopped / most}px`
    });
    const side = {
      style: `left:${LABEL + this.scale.width + 8}px`
    };
    return make("div", looks, make("span", {}, name), make("em", side, stopped ? seconds(stopped) : "\u2013", share));
  }
  /** @param {import("./rows.js").Row} row */
  rowText({ name, index, stopped }) {
    const cells = [
      seconds(stopped),
      this.owners(index)
    ].map((words) => make("td", {}, words));
    return make("tr", {}, make("th", {
      scope: "row"
    }, name), ...cells);
  }
  /**
   * Who had a partition, from when on.
   * @param {number} partition
   */
  owners(partition) {
    const { film } = this.lab;
    const spans = partitionBars(film.partitionTracks[partition], film.partitionStates, film.end);
    return spans.map(([from, , { owner, word, flows }]) => {
      const name = owner === GONE ? "not there" : owner < 0 ? "no owner" : film.members[owner].name;
      return `${seconds(from)} ${name}${flows || owner < 0 ? "" : ` (${word})`}`;
    }).join(", ");
  }
  /** @param {WheelEvent} event */
  onWheel(event) {
    if (!event.ctrlKey) return;
    event.preventDefault();
    this.zoom(event.deltaY > 0 ? 1.3 : 1 / 1.3);
  }
  /** @param {MouseEvent} event */
  onClick(event) {
    const box = this.canvas.getBoundingClientRect();
    const { film, player } = this.lab;
    const row = this.rows[Math.floor(((event.clientY - box.top) * (this.height / box.height) - TOP) / this.row)];
    this.lab.seek(this.scale.at((event.clientX - box.left) / box.width * this.scale.width), false);
    if (!row || row.kind === "group") return;
    const member = row.kind === "member" ? row.index : ownerAt(film, row.index, player.at);
    if (member < 0) return;
    this.lab.selected = member;
    this.lab.paint(false);
  }
};

// lab/panels/cli.js
var CliView = class {
  /** @param {import("../lab.js").Lab} lab */
  constructor(lab) {
    this.lab = lab;
    this.content = /** @type {import("./content.js").CliContent} */
    /** @type {unknown} */
    null;
    this.drawn = null;
    this.root = make("div", {
      class: "rk-view rk-cli",
      tabindex: "0"
    });
  }
  paint() {
    if (this.drawn === this.content) return;
    this.drawn = this.content;
    const { at, blocks } = this.content;
    this.root.replaceChildren(make("p", {
      class: "rk-dim"
    }, `As of ${seconds(at)}.`), ...blocks.flatMap(({ command, text: text3 }) => this.drawBlock(command, text3)));
  }
  /**
   * @param {string} command
   * @param {string} text
   */
  drawBlock(command, text3) {
    const copy = make("button", {
      type: "button",
      "aria-label": `Copy ${command}`
    }, "Copy");
    copy.addEventListener("click", () => copyText(`$ ${command}
${text3}`, (words) => this.lab.tell(words), "Copied."));
    return [
      make("div", {
        class: "rk-command"
      }, make("code", {}, `$ ${command}`), copy),
      make("pre", {
        class: "rk-output",
        tabindex: "0"
      }, text3)
    ];
  }
};

// lab/panels/invariants.js
var InvariantsView = class {
  /** @param {import("../lab.js").Lab} lab */
  constructor(lab) {
    this.lab = lab;
    this.content = /** @type {import("./content.js").InvariantsContent} */
    /** @type {unknown} */
    null;
    this.drawn = null;
    this.root = make("div", {
      class: "rk-view rk-invariants",
      tabindex: "0"
    });
  }
  paint() {
    if (this.drawn === this.content) return;
    this.drawn = this.content;
    const { lights, rows: rows2 } = this.content;
    const broken = lights.filter(([, , seen]) => seen.length).length;
    const events = rows2.toLocaleString("en");
    const good = `All ${lights.length} invariants hold in the ${events} events of this run.`;
    const bad = `${broken} of ${lights.length} invariants are broken.`;
    this.root.replaceChildren(make("p", {}, broken ? bad : good), make("ul", {}, ...lights.map((light) => this.drawLight(light))));
  }
  /** @param {import("./content.js").Light} light */
  drawLight([name, statement, seen]) {
    const broken = seen.length > 0;
    const places2 = seen.map(([at, words]) => {
      const go = make("button", {
        type: "button"
      }, `${seconds(at)}: ${words}`);
      go.addEventListener("click", () => this.lab.seek(at, false));
      return go;
    });
    const says = make("strong", {}, `${name}: ${broken ? "broken" : "holds"}`);
    const sign = make("b", {
      "aria-hidden": "true"
    }, broken ? "\u2717" : "\u2713");
    const text3 = make("span", {}, says, make("span", {}, statement), ...places2);
    return make("li", {
      class: broken ? "rk-bad" : "rk-good"
    }, sign, text3);
  }
};

// lab/panels/logs.js
var BEFORE = 200;
var AFTER = 60;
var LogsView = class {
  /** @param {import("../lab.js").Lab} lab */
  constructor(lab) {
    this.lab = lab;
    this.content = /** @type {import("./content.js").LogsContent} */
    /** @type {unknown} */
    null;
    this.drawn = null;
    this.shown = [];
    this.times = [];
    this.unfolded = /* @__PURE__ */ new Set();
    this.source = make("select", {
      "aria-label": "Source"
    });
    const levels = [
      "all levels",
      "WARN and ERROR"
    ].map((words) => make("option", {}, words));
    this.level = make("select", {
      "aria-label": "Level"
    }, ...levels);
    this.filter = make("input", {
      type: "search",
      placeholder: "filter",
      "aria-label": "Filter lines"
    });
    const copy = make("button", {
      type: "button"
    }, "Copy");
    this.count = make("span", {
      class: "rk-dim"
    });
    const looks = {
      role: "log",
      "aria-label": "Log lines",
      "aria-live": "off",
      tabindex: "0"
    };
    this.lines = make("div", {
      class: "rk-lines",
      ...looks
    });
    const bar = make("div", {
      class: "rk-bar"
    }, this.source, this.level, this.filter, copy, this.count);
    this.root = make("div", {
      class: "rk-view rk-logs"
    }, bar, this.lines);
    for (const node of [
      this.source,
      this.level,
      this.filter
    ]) {
      node.addEventListener("input", () => this.redraw());
    }
    copy.addEventListener("click", () => {
      copyText(this.chosen().map(([, , , line2]) => line2).join("\n"), (words) => lab.tell(words), "Lines copied.");
    });
  }
  redraw() {
    this.drawn = null;
    this.paint(this.lab.player.at);
  }
  /**
   * Show all of a line, or one line of it again; a text that is being selected stays as it is.
   * @param {HTMLElement} node
   * @param {string} text
   */
  unfold(node, text3) {
    if (!document.getSelection()?.isCollapsed) return;
    const whole = node.classList.toggle("rk-unfolded");
    if (whole) this.unfolded.add(text3);
    else this.unfolded.delete(text3);
  }
  /** Lines of the chosen source and level that have the words of the filter. */
  chosen() {
    const chosen = this.source.selectedIndex - 1;
    const words = this.filter.value.toLowerCase().split(/\s+/);
    const bad = this.level.selectedIndex === 1;
    return this.content.lines.filter(([, source, level, line2]) => (chosen < 0 || source === chosen) && (!bad || level === "WARN" || level === "ERROR") && words.every((word) => line2.toLowerCase().includes(word)));
  }
  /** @param {number} at */
  paint(at) {
    const { sources, cut } = this.content;
    if (this.source.options.length !== sources.length + 1) {
      const names = [
        "all sources",
        ...sources
      ].map((name) => make("option", {}, name));
      this.source.replaceChildren(...names);
    }
    if (this.drawn === null) {
      this.shown = this.chosen();
      this.times = this.shown.map(([time]) => time);
    }
    const place = placeOf(this.times, at);
    if (this.drawn === String(place)) return;
    this.drawn = String(place);
    const first = Math.max(0, place - BEFORE);
    const picked = this.filter.value !== "" || this.level.selectedIndex === 1;
    this.lines.classList.toggle("rk-picked", picked);
    const nodes = this.shown.slice(first, place + AFTER).map((line2, index) => this.drawLine(line2, first + index - place));
    this.lines.replaceChildren(...nodes);
    const rest = cut ? `, ${cut} more are not shown` : "";
    const lines = `${this.shown.length} line${this.shown.length === 1 ? "" : "s"}`;
    const hint = picked ? "" : " Click a line to see all of it.";
    say(this.count, `${lines}, ${place + 1} up to the cursor${rest}.${hint}`);
    const here = nodes[place - first];
    if (here) this.lines.scrollTop = here.offsetTop - this.lines.clientHeight * 0.6;
  }
  /**
   * @param {import("./content.js").LogLine} line
   * @param {number} after how many lines after the cursor
   */
  drawLine([, source, level, text3], after) {
    const looks = [
      "rk-line",
      `rk-${level.toLowerCase()}`
    ];
    if (after > 0) looks.push("rk-later");
    if (after === 0) looks.push("rk-here");
    const member = this.lab.film.members[source - 1];
    const style = member ? `--hue:var(--rk-m${member.hue})` : null;
    if (this.unfolded.has(text3)) looks.push("rk-unfolded");
    const node = make("div", {
      class: looks.join(" "),
      style,
      "aria-current": after === 0 ? "true" : null
    }, text3);
    if (!this.lines.classList.contains("rk-picked")) node.title = "Click to see all of the line";
    node.addEventListener("click", () => this.unfold(node, text3));
    return node;
  }
};

// lab/panels/table.js
function tableOf(heads, body, caption = null) {
  const row = make("tr", {}, ...heads.map((words) => make("th", {
    scope: "col"
  }, words)));
  return make("table", {
    class: "rk-table"
  }, caption === null ? null : make("caption", {}, caption), make("thead", {}, row), body);
}
function rowOf(head, cells) {
  return make("tr", {}, make("th", {
    scope: "row"
  }, head), ...cells.map((cell) => make("td", {}, cell)));
}

// lab/panels/members.js
var LEAVING = [
  "give up",
  "was leaving"
];
var MembersView = class {
  /** @param {import("../lab.js").Lab} lab */
  constructor(lab) {
    this.lab = lab;
    this.content = /** @type {import("./content.js").MembersContent} */
    /** @type {unknown} */
    null;
    this.drawn = null;
    this.root = make("div", {
      class: "rk-view rk-memberstab",
      tabindex: "0"
    });
  }
  /** @param {number} at */
  paint(at) {
    const board = boardAt(this.lab.film, at);
    const rows2 = board.members.map((member) => this.cells(board, member));
    const key = JSON.stringify(rows2);
    if (this.drawn === key) return;
    this.drawn = key;
    const { protocol } = board.group;
    const heads = [
      "member",
      "state",
      numberWord(protocol),
      "owned",
      protocol === "consumer" ? "target, not yet its own" : "target",
      "to be given up",
      "session ends in",
      "started with"
    ];
    const body = make("tbody", {}, ...rows2.map(([name, ...cells]) => rowOf(name, cells)));
    this.root.replaceChildren(tableOf(heads, body));
  }
  /**
   * @param {import("../film/board.js").Board} board
   * @param {import("../film/board.js").SeatedMember} member
   */
  cells(board, { index, name, state }) {
    const { film } = this.lab;
    const named = (list) => list.length ? spoken(list.map((partition) => film.partitions[partition])) : "\u2013";
    const waits = board.partitions.flatMap(({ target }, partition) => target === index ? partition : []);
    const leaving = board.owned[index].filter((partition) => LEAVING.includes(board.partitions[partition].word));
    const ends = sessionEnds(film, index, board.at);
    return [
      name,
      doingLine(film, board, index),
      String(state.generation ?? state.epoch ?? "\u2013"),
      named(board.owned[index]),
      board.group.protocol === "consumer" ? named(waits) : "unknown to a classic group",
      named(leaving),
      ends === null ? "\u2013" : seconds(Math.max(0, ends - board.at)),
      this.startedWith(index, board.at)
    ];
  }
  /**
   * The client and the configuration that its process was last started with.
   * @param {number} member
   * @param {number} at
   */
  startedWith(member, at) {
    const life = this.content.started[member].filter(([from]) => from <= at).at(-1);
    if (!life) return "\u2013";
    const [, client, configs] = life;
    const words = Object.entries(configs).map(([key, value]) => `${key}=${value}`).join(" ") || "defaults";
    return client === "java" ? words : `${client} ${words}`;
  }
};

// lab/panels/sequence.js
var LINES = 7;
var STEP = 26;
var FOLD = 24;
var FOLD_MS = 1500;
var COORDINATOR_X = 92;
var SLANT = 7;
var Sequence = class {
  constructor() {
    this.cursor = make("svg:line", {
      x1: 0,
      class: "rk-now"
    });
    this.times = [];
    this.heights = [];
  }
  /**
   * The heads and the diagram.
   * @param {Film} film
   * @param {Item[]} items
   * @param {number} selected
   * @param {number} at
   * @param {number} width
   */
  draw(film, items, selected, at, width) {
    const messages = items.flatMap((item) => item.mark ? [] : [
      item
    ]);
    const actors = {
      ...actorsOf(film, messages, selected, at),
      width
    };
    this.times = items.map((item) => item.sent);
    const { parts, heights, bottom } = drawItems(film, items, actors);
    this.heights = heights;
    set(this.cursor, "x2", width);
    const names = actors.own.map((member) => film.members[member].name).join(", ") || "nobody";
    const others = actors.others ? ` and ${actors.others} others` : "";
    const label = `${messages.length} messages between the coordinator and ${names}${others}; the table below lists them`;
    const looks = {
      width,
      height: bottom + 8,
      role: "img",
      "aria-label": label
    };
    const heads = drawHeads(film, actors);
    return [
      make("svg:svg", {
        class: "rk-heads",
        width,
        height: 28,
        "aria-hidden": "true"
      }, ...heads),
      make("svg:svg", looks, ...drawLives(film, actors, items, heights, bottom), ...parts, this.cursor)
    ];
  }
  /**
   * Move the cursor to a moment; where it stands, or null without messages.
   * @param {number} at
   */
  mark(at) {
    if (!this.times.length) return null;
    const place = placeOf(this.times, at);
    const y = place < 0 ? 6 : this.heights[place] + STEP / 2;
    set(this.cursor, "y1", y);
    set(this.cursor, "y2", y);
    return y;
  }
};
function actorsOf(film, messages, selected, at) {
  const weights = /* @__PURE__ */ new Map();
  for (const { member, error } of messages) weights.set(member, (weights.get(member) ?? 0) + (error ? 3 : 1));
  const leader = boardAt(film, at).members.findIndex(({ state }) => state.leader);
  const rank = (member) => (member === selected ? 2e6 : member === leader ? 1e6 : 0) + (weights.get(member) ?? 0);
  const order = [
    ...weights.keys()
  ].sort((a, b) => rank(b) - rank(a) || a - b);
  const own = order.slice(0, order.length > LINES ? LINES - 1 : LINES).sort((a, b) => a - b);
  return {
    own,
    others: order.length - own.length
  };
}
function xOf({ own, others, width }, member) {
  const lines = own.length + (others ? 1 : 0);
  const place = own.indexOf(member);
  return 150 + (width - 190) / Math.max(1, lines) * ((place < 0 ? lines - 1 : place) + 0.75);
}
function drawItems(film, items, actors) {
  const parts = [];
  const heights = [];
  const waiting = /* @__PURE__ */ new Map();
  let y = 18;
  let before = null;
  let generation = null;
  for (const item of items) {
    if (before !== null && item.sent - before > FOLD_MS) {
      parts.push(make("svg:text", {
        x: 40,
        y: y + 4,
        class: "rk-fold"
      }, `\u2248 ${seconds(item.sent - before)}`));
      y += FOLD;
    }
    before = item.sent;
    const group3 = stateAt(film.groupTrack, film.groupStates, item.sent);
    if (generation !== null && group3.generation !== null && group3.generation !== generation) {
      parts.push(...drawBand(group3, actors.width, y));
      y += FOLD;
    }
    generation = group3.generation;
    if (item.mark) parts.push(...drawEvent(film, actors, item.mark, y));
    else {
      parts.push(...drawWaiting(film, waiting, item, y), ...drawArrow(item, xOf(actors, item.member), y, actors.width));
    }
    heights.push(y);
    y += STEP;
  }
  return {
    parts,
    heights,
    bottom: y
  };
}
function drawHeads(film, actors) {
  const head = (x, words) => make("svg:text", {
    x,
    y: 20,
    class: "rk-actor",
    "text-anchor": "middle"
  }, words);
  return [
    head(COORDINATOR_X, "Coordinator"),
    ...actors.own.map((member) => head(xOf(actors, member), film.members[member].name)),
    actors.others ? head(xOf(actors, -1), `${actors.others} others`) : null
  ];
}
function drawEvent(film, actors, mark, y) {
  const member = film.members.findIndex(({ name }) => name === mark.member);
  const x = member < 0 ? COORDINATOR_X : xOf(actors, member);
  const right = x > (actors.width + 70) * 0.72;
  const said = {
    x: right ? x - 12 : x + 12,
    y: y + 4,
    "text-anchor": right ? "end" : "start"
  };
  const sign = mark.kind === "timer" ? "\u25F7" : mark.kind === "fault" ? "\xD7" : "+";
  return [
    make("svg:text", {
      x: 8,
      y: y + 4,
      class: "rk-when"
    }, milliseconds(mark.at)),
    make("svg:text", {
      x,
      y: y + 5,
      "text-anchor": "middle",
      class: `rk-event rk-of-${mark.kind}`
    }, sign),
    make("svg:text", {
      ...said,
      class: `rk-event rk-of-${mark.kind}`
    }, mark.words)
  ];
}
function drawLives(film, actors, items, heights, bottom) {
  const life = (x, style) => make("svg:line", {
    x1: x,
    x2: x,
    y1: 0,
    y2: bottom,
    class: "rk-life",
    style
  });
  return [
    life(COORDINATOR_X, null),
    ...actors.own.flatMap((member) => spansOf(film, member, items, heights, bottom).map(({ from, until, runs }) => make("svg:line", {
      x1: xOf(actors, member),
      x2: xOf(actors, member),
      y1: from,
      y2: until,
      class: runs ? "rk-life" : "rk-life rk-off",
      style: `stroke:var(--rk-m${film.members[member].hue})`
    }))),
    actors.others ? life(xOf(actors, -1), null) : null
  ];
}
function spansOf(film, member, items, heights, bottom) {
  const spans = [];
  items.forEach((item, place) => {
    const { life } = stateAt(film.memberTracks[member], film.memberStates, item.sent);
    const runs = life === "alive" || life === "frozen";
    const last = spans[spans.length - 1];
    if (last?.runs === runs) return;
    const from = last ? heights[place] : 0;
    if (last) last.until = from;
    spans.push({
      from,
      until: bottom,
      runs
    });
  });
  return spans;
}
function drawBand({ protocol, generation }, width, y) {
  const words = `${protocol === "consumer" ? "group epoch" : "generation"} ${generation}`;
  return [
    make("svg:rect", {
      x: 0,
      y: y - 10,
      width,
      height: 18,
      class: "rk-bandline"
    }),
    make("svg:text", {
      x: width - 10,
      y: y + 3,
      "text-anchor": "end",
      class: "rk-fold"
    }, words)
  ];
}
function drawWaiting(film, waiting, { kind, api, member, request }, y) {
  if (kind !== "waits") return [];
  const key = `${api}/${member}`;
  const since = waiting.get(key);
  if (request) waiting.set(key, y + SLANT);
  else waiting.delete(key);
  if (request || since === void 0 || y - since < 10) return [];
  const { name, hue } = film.members[member];
  const place = {
    x: 96 + member % 5 * 5,
    y: since,
    width: 3.5,
    height: y - since
  };
  const title = make("svg:title", {}, `${api} of ${name} waits`);
  return [
    make("svg:rect", {
      ...place,
      style: `fill:var(--rk-m${hue})`
    }, title)
  ];
}
function drawArrow({ sent, arrives, api, request, error }, x, y, width) {
  const lost = arrives === null;
  const [from, to] = request ? [
    x,
    COORDINATOR_X
  ] : [
    COORDINATOR_X,
    x
  ];
  const end = lost ? (from + to) / 2 : to;
  const side = Math.sign(to - from);
  const kind = `rk-arrow${request ? "" : " rk-reply"}${error || lost ? " rk-error" : ""}`;
  const words = `${api}${error ? ` ${error}` : ""}${lost ? " lost" : ""}`;
  const right = x > (width + 70) * 0.72;
  const cross = {
    x: end,
    y: y + SLANT + 5,
    class: "rk-error rk-cross",
    "text-anchor": "middle"
  };
  const said = {
    class: `rk-said${error ? " rk-error" : ""}`,
    "text-anchor": right ? "end" : "start"
  };
  return [
    make("svg:text", {
      x: 8,
      y: y + 4,
      class: "rk-when"
    }, milliseconds(sent)),
    make("svg:line", {
      x1: from,
      y1: y,
      x2: end - side * 6,
      y2: y + SLANT,
      class: kind
    }),
    lost ? make("svg:text", cross, "\xD7") : make("svg:path", {
      d: `M${end} ${y + SLANT}l${-side * 8} -4v8z`,
      class: `${kind} rk-head`
    }),
    make("svg:text", {
      ...said,
      x: right ? x - 12 : x + 8,
      y: y + 5 - (right ? 3 : 0)
    }, words)
  ];
}

// lab/panels/messages.js
var AROUND2 = 60;
var EDGE = 8;
var EVENTS = /* @__PURE__ */ new Set([
  "fault",
  "action",
  "timer"
]);
var Messages = class {
  /** @param {import("../lab.js").Lab} lab */
  constructor(lab) {
    this.lab = lab;
    this.drawn = null;
    this.items = [];
    this.times = [];
    this.first = 0;
    this.last = 0;
    this.scrolledAt = -1;
    this.sequence = new Sequence();
    this.beats = this.check("heartbeats without news");
    this.commits = this.check("commits");
    this.errors = this.check("only errors");
    this.only = this.check("only the selected member");
    this.count = make("span", {
      class: "rk-dim"
    });
    const looks = {
      class: "rk-sequence",
      tabindex: "0",
      role: "group",
      "aria-label": "Message diagram"
    };
    this.diagram = make("div", looks);
    this.rows = make("tbody", {});
    const table = tableOf([
      "sent",
      "from",
      "to",
      "message",
      "arrives"
    ], this.rows);
    const twin = make("details", {
      class: "rk-timetext"
    }, make("summary", {}, "Messages as text"), table);
    const checks = [
      this.beats,
      this.commits,
      this.errors,
      this.only
    ].map(({ node }) => node);
    const bar = make("div", {
      class: "rk-bar"
    }, ...checks, this.count);
    this.root = make("div", {
      class: "rk-view rk-messages"
    }, bar, this.diagram, twin);
  }
  /** @param {string} words */
  check(words) {
    const box = make("input", {
      type: "checkbox"
    });
    box.addEventListener("input", () => {
      this.drawn = null;
      this.paint(this.lab.player.at);
    });
    return {
      box,
      node: make("label", {
        class: "rk-check"
      }, box, words)
    };
  }
  /** Messages that pass the checks. */
  chosen() {
    const { film, selected } = this.lab;
    const [beats, commits, errors, only] = [
      this.beats,
      this.commits,
      this.errors,
      this.only
    ].map(({ box }) => box.checked);
    return film.messages.filter((message) => (message.error || message.news || beats || message.kind !== "heartbeat") && (message.error || commits || message.kind !== "commit") && (!errors || message.error || message.arrives === null) && (!only || message.member === selected));
  }
  /**
   * What was done, to whom it is shown.
   * @returns {Item[]}
   */
  events() {
    const { film, selected } = this.lab;
    const { name } = film.members[selected] ?? {
      name: ""
    };
    return film.marks.filter((mark) => EVENTS.has(mark.kind) && (!this.only.box.checked || mark.member === null || mark.member === name)).map((mark) => ({
      sent: mark.at,
      mark
    }));
  }
  /** @param {number} at */
  paint(at) {
    const { serial, selected, screen, player } = this.lab;
    const key = `${serial}/${selected}/${screen.width}`;
    const anew = this.drawn !== key;
    if (anew) {
      this.drawn = key;
      this.items = [
        ...this.chosen(),
        ...this.events()
      ].sort((a, b) => a.sent - b.sent);
      this.times = this.items.map((item) => item.sent);
    }
    const place = placeOf(this.times, at);
    if (anew || place < this.first + EDGE || place > this.last - EDGE) this.moveTo(place, anew);
    const sent = this.items.filter((item) => !item.mark);
    const before = sent.filter((message) => message.sent <= at).length;
    say(this.count, sent.length ? `${before} of ${sent.length} messages so far` : "No such message in this run.");
    const y = this.sequence.mark(at);
    if (y === null || player.at === this.scrolledAt) return;
    this.diagram.scrollTop = y - this.diagram.clientHeight * 0.6;
    this.scrolledAt = player.at;
  }
  /**
   * Draw the messages around a place, unless they are drawn already.
   * @param {number} place
   * @param {boolean} anew
   */
  moveTo(place, anew) {
    const { film, selected, screen, player } = this.lab;
    const first = Math.max(0, Math.min(place - AROUND2, this.items.length - 2 * AROUND2));
    const last = Math.min(this.items.length, first + 2 * AROUND2);
    if (!anew && this.first === first && this.last === last) return;
    this.first = first;
    this.last = last;
    const shown = this.items.slice(first, last);
    this.diagram.replaceChildren(...this.sequence.draw(film, shown, selected, player.at, screen.width - 70));
    this.rows.replaceChildren(...shown.map((item) => this.drawRow(item)));
  }
  /** @param {Item} item */
  drawRow(item) {
    if (item.mark) {
      const row2 = rowOf(item.mark.words, [
        ""
      ]);
      row2.prepend(...[
        milliseconds(item.sent),
        item.mark.member ?? "",
        ""
      ].map((cell) => make("td", {}, cell)));
      return row2;
    }
    const { sent, arrives, member, api, request, error } = item;
    const { name } = this.lab.film.members[member];
    const cells = request ? [
      name,
      "coordinator"
    ] : [
      "coordinator",
      name
    ];
    const words = `${api}${request ? "" : " answer"}${error ? ` ${error}` : ""}`;
    const row = rowOf(words, [
      arrives === null ? "lost" : milliseconds(arrives)
    ]);
    row.prepend(...[
      milliseconds(sent),
      ...cells
    ].map((cell) => make("td", {}, cell)));
    return row;
  }
};

// lab/panels/metrics.js
var WIDTH = 120;
var HEIGHT = 24;
var HEADS = [
  "of",
  "metric",
  "now",
  "over the run",
  "what it counts"
];
var captionOf = (member) => `Of the group${member ? `, and of ${member}, which is selected` : ""}. For another member press its number, or click it on the board.`;
var MetricsView = class {
  /** @param {import("../lab.js").Lab} lab */
  constructor(lab) {
    this.lab = lab;
    this.content = /** @type {import("./content.js").MetricsContent} */
    /** @type {unknown} */
    null;
    this.drawn = null;
    this.rows = [];
    this.root = make("div", {
      class: "rk-view rk-metrics",
      tabindex: "0"
    });
  }
  /** @param {number} at */
  paint(at) {
    const { end } = this.lab.film;
    if (this.drawn !== this.content) {
      this.drawn = this.content;
      this.rows = this.content.rows.map((row) => new Row(row, end));
      const body = make("tbody", {}, ...this.rows.map((row) => row.node));
      this.root.replaceChildren(tableOf(HEADS, body, captionOf(this.content.member)));
    }
    this.rows.forEach((row) => row.paint(at, end));
  }
};
var Row = class {
  /**
   * @param {import("./content.js").MetricRow} row
   * @param {number} end
   */
  constructor([member, room, name, says, steps], end) {
    this.none = member ? "not running" : "\u2013";
    this.times = /** @type {number[]} */
    steps.filter((_, place) => place % 2 === 0);
    this.values = steps.filter((_, place) => place % 2 === 1);
    this.now = make("td", {
      class: "rk-number2"
    });
    this.cursor = make("svg:line", {
      y1: 0,
      y2: HEIGHT,
      class: "rk-now"
    });
    this.node = make("tr", {}, make("td", {}, member || "group"), make("th", {
      scope: "row"
    }, name, make("small", {}, room)), this.now, make("td", {}, this.drawCourse(end)), make("td", {
      class: "rk-dim"
    }, says));
  }
  /** @param {number} end */
  drawCourse(end) {
    const { times, values } = this;
    const known = values.filter((value) => value !== null);
    const most = Math.max(0, ...known);
    const path = values.map((value, place) => {
      const x = (WIDTH * times[place] / end).toFixed(1);
      if (value === null) return place ? `H${x}` : "";
      const y = (HEIGHT - 2 - (HEIGHT - 4) * value / Math.max(1, most)).toFixed(1);
      return place && values[place - 1] !== null ? `H${x}V${y}` : `M${x} ${y}`;
    }).join("");
    const label = `from ${known[0] ?? "\u2013"} to ${known[known.length - 1] ?? "\u2013"}, at most ${most}`;
    const size = {
      width: WIDTH,
      height: HEIGHT,
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`
    };
    const line2 = make("svg:path", {
      d: values[values.length - 1] === null ? path : `${path}H${WIDTH}`,
      class: "rk-spark"
    });
    return make("svg:svg", {
      ...size,
      role: "img",
      "aria-label": label
    }, line2, this.cursor);
  }
  /**
   * @param {number} at
   * @param {number} end
   */
  paint(at, end) {
    const place = Math.max(0, placeOf(this.times, at));
    say(this.now, this.values[place]?.toLocaleString("en") ?? this.none);
    set(this.cursor, "x1", WIDTH * at / end);
    set(this.cursor, "x2", WIDTH * at / end);
  }
};

// lab/panels/panels.js
var REST_MS3 = 150;
var ASKS = "Asks the kernel\u2026";
var Panels = class {
  /** @param {import("../lab.js").Lab} lab */
  constructor(lab) {
    this.lab = lab;
    this.name = "flow";
    this.filled = /* @__PURE__ */ new Map();
    this.asking = null;
    this.resting = 0;
    const key = Math.random().toString(36).slice(2);
    this.tabs = TABS.map(([name, words], place) => {
      const node = make("button", {
        type: "button",
        role: "tab",
        id: `rk-tab-${key}-${name}`,
        "aria-controls": `rk-panel-${key}`,
        "data-tab": name,
        title: `Alt+${place + 1}`
      }, words);
      node.addEventListener("click", () => this.open(name));
      return node;
    });
    this.list = make("div", {
      class: "rk-tabs",
      role: "tablist",
      "aria-label": "Views"
    }, ...this.tabs);
    this.list.addEventListener("keydown", (event) => this.onKey(event));
    this.panel = make("div", {
      class: "rk-panel"
    });
    this.wait = make("p", {
      class: "rk-wait",
      role: "status"
    }, ASKS);
    this.home = lab.ui.stageHome;
    set(this.home, "role", "tabpanel");
    set(this.home, "id", `rk-panel-${key}`);
    this.views = {
      timeline: new Timeline(lab),
      messages: new Messages(lab),
      logs: new LogsView(lab),
      cli: new CliView(lab),
      metrics: new MetricsView(lab),
      members: new MembersView(lab),
      why: new WhyView(lab),
      invariants: new InvariantsView(lab)
    };
    this.mark();
  }
  /** @param {KeyboardEvent} event */
  onKey(event) {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const shown = this.tabs.filter((node) => !node.hidden);
    const here = shown.findIndex((node) => node.dataset.tab === this.name);
    const next = shown[(here + step + shown.length) % shown.length];
    this.open(next.dataset.tab ?? "flow");
    next.focus();
  }
  mark() {
    this.tabs.forEach((node) => {
      const chosen = node.dataset.tab === this.name;
      set(node, "aria-selected", chosen ? "true" : "false");
      set(node, "tabindex", chosen ? "0" : "-1");
      node.hidden = !!this.lab.alone && FROM_KERNEL.has(node.dataset.tab ?? "");
    });
    set(this.home, "aria-labelledby", this.tabOf(this.name).id);
  }
  /** @param {string} name */
  open(name) {
    if (this.lab.predict.on && name !== "flow") {
      this.lab.tell("The future is hidden while you predict. Lock in, or press Esc.");
      return;
    }
    this.name = name;
    this.mark();
    this.lab.screen.showStage();
    this.paint(false);
  }
  /**
   * The button of a tab.
   * @param {string} name
   */
  tabOf(name) {
    return this.tabs[TABS.findIndex(([each]) => each === name)];
  }
  /**
   * @param {string} name
   * @returns {import("./content.js").View}
   */
  viewOf(name) {
    return (
      /** @type {any} */
      this.views[name]
    );
  }
  /**
   * A tab that has no content yet says that none will come.
   * @param {boolean} dead
   */
  dead(dead) {
    say(this.wait, dead ? "Only the kernel can fill this tab, and it does not answer." : ASKS);
  }
  forget() {
    this.filled.clear();
    Object.keys(this.views).map((name) => this.viewOf(name)).forEach((view) => {
      view.content = null;
      view.drawn = null;
    });
  }
  /**
   * Show the tab at the cursor; whatever the kernel has to say arrives later.
   * @param {boolean} moving
   */
  paint(moving) {
    if (this.name === "flow") return;
    const view = this.viewOf(this.name);
    if (view.root.parentNode !== this.panel) this.panel.replaceChildren(this.wait, view.root);
    this.wait.hidden = this.lab.dragged !== null || view.content !== null || !FROM_KERNEL.has(this.name);
    if (FROM_KERNEL.has(this.name)) this.want();
    if (view.content || !FROM_KERNEL.has(this.name)) view.paint(this.lab.player.at, moving);
  }
  /**
   * What identifies a content: a run; for the CLI the moment too, for metrics the member.
   * @param {string} name
   */
  keyOf(name) {
    const { lab } = this;
    const member = lab.film.members[lab.selected];
    const moment = name === "cli" ? Math.round(lab.player.at) : "";
    return `${lab.serial}/${moment}/${name === "metrics" ? member?.name : ""}`;
  }
  want() {
    if (this.lab.dragged) return;
    const { name } = this;
    const key = this.keyOf(name);
    if (this.filled.get(name) === key || this.asking) return;
    if (name === "cli" && this.viewOf(name).content) {
      clearTimeout(this.resting);
      this.resting = setTimeout(() => this.fetch(name), REST_MS3);
      return;
    }
    this.fetch(name);
  }
  /** @param {string} name */
  async fetch(name) {
    if (this.asking) return;
    const { lab } = this;
    const key = this.keyOf(name);
    this.asking = name;
    const answer = await lab.talk.request({
      type: "tab",
      tab: name,
      at_ms: Math.round(lab.player.at),
      member: lab.film.members[lab.selected]?.name
    });
    const content = answer.buffers.length ? await inflate(answer.buffers[0]) : null;
    this.asking = null;
    if (!content) {
      lab.tell(answer.words || "The tab could not be filled.");
      return;
    }
    this.filled.set(name, key);
    const view = this.viewOf(name);
    view.content = content;
    view.drawn = null;
    if (this.name === name || !FROM_KERNEL.has(this.name)) this.paint(false);
    else this.want();
  }
};

// lab/screen/mini_board.js
var HEAD = 44;
var LANE = 50;
var CHIP = 26;
var GAP = 4;
var SMALL = {
  width: 20,
  height: 12,
  gap: 2
};
var ROWS = 2;
var MiniBoard = class {
  /**
   * @param {Film} film
   * @param {string[]} names the members of all runs, a lane each, so that a row is one member everywhere
   */
  constructor(film, names) {
    this.film = film;
    this.names = names;
    this.width = 0;
    this.lanes = names.map((name, row) => {
      const member = film.members.find((each) => each.name === name);
      const hue = member ? `--hue:var(--rk-m${member.hue});--on:var(--rk-m${member.hue}o)` : "";
      const doing = make("small", {});
      const face2 = make("i", {
        class: "rk-seat rk-in",
        "aria-hidden": "true"
      }, member?.label ?? "");
      const node = make("div", {
        class: "rk-minilane",
        style: `top:${row * LANE}px;${hue}`
      }, face2, doing);
      return {
        node,
        doing,
        member
      };
    });
    this.rail = make("div", {
      class: "rk-minilane rk-minirail",
      style: `top:${names.length * LANE}px`
    }, make("small", {}, "No owner"));
    this.tokens = film.partitions.map((name) => {
      const number = name.slice(name.lastIndexOf("-") + 1);
      return make("i", {
        class: "rk-minitoken",
        title: name
      }, number);
    });
    this.more = [
      ...names,
      ""
    ].map((_, row) => make("small", {
      class: "rk-minimore",
      style: `top:${row * LANE + 1}px`
    }));
    this.root = make("div", {
      class: "rk-mini-board",
      style: `height:${(names.length + 1) * LANE}px`,
      "aria-hidden": "true"
    }, ...this.lanes.map(({ node }) => node), this.rail, ...this.tokens, ...this.more);
  }
  /**
   * @param {Board} board
   * @param {number} width
   */
  paint(board, width) {
    for (const { node, doing, member } of this.lanes) {
      const state = member && board.members[member.index].state;
      set(node, "data-look", state ? lookOf(state) : "absent");
      say(doing, member ? doingLine(this.film, board, member.index) : "not in this run");
    }
    const rows2 = this.more.map(() => []);
    board.partitions.forEach((state, partition) => {
      const node = this.tokens[partition];
      node.hidden = state.owner === GONE;
      if (node.hidden) return;
      rows2[state.owner < 0 ? this.names.length : this.rowOf(state.owner)].push(partition);
      const hue = state.owner >= 0 ? this.film.members[state.owner].hue : 0;
      node.style.setProperty("--hue", hue ? `var(--rk-m${hue})` : "var(--rk-ink)");
      node.style.setProperty("--on", hue ? `var(--rk-m${hue}o)` : "var(--rk-surface)");
      set(node, "data-reads", state.flows ? "yes" : state.owner < 0 ? "loose" : "no");
    });
    rows2.forEach((held, row) => this.arrange(held, row, width - HEAD - 8));
  }
  /**
   * Each token of a lane in a place of its own: in one row, else small in two; how many more there are is said.
   * @param {number[]} held
   * @param {number} row
   * @param {number} room
   */
  arrange(held, row, room) {
    const small = held.length > Math.max(1, Math.floor((room + GAP) / (CHIP + GAP)));
    const step = small ? SMALL.width + SMALL.gap : CHIP + GAP;
    const across = Math.max(1, Math.floor((room + SMALL.gap) / step));
    const shown = small ? across * ROWS : across;
    held.forEach((partition, place) => {
      const node = this.tokens[partition];
      node.hidden = place >= shown;
      node.classList.toggle("rk-minismall", small);
      const x = HEAD + place % across * step;
      const y = row * LANE + 20 + Math.floor(place / across) * (SMALL.height + 1);
      node.style.transform = `translate(${x}px,${y}px)`;
    });
    say(this.more[row], held.length > shown ? `+${held.length - shown} more` : "");
  }
  /** @param {number} owner */
  rowOf(owner) {
    return this.names.indexOf(this.film.members[owner].name);
  }
};

// lab/screen/quartiles.js
var WIDTH2 = 96;
var HEIGHT2 = 14;
function rangeOf([least, , , , most]) {
  const [from, to] = [
    least,
    most
  ].map((value) => (Math.round(value * 100) / 100).toLocaleString("en"));
  return make("small", {
    class: "rk-range"
  }, from === to ? `always ${from}` : `${from} to ${to}`);
}
function spreadStrip(spread, most, count2) {
  if (!spread) return [];
  const [least, lower, median, upper, largest, here, below] = spread;
  const x = (value) => 3 + (WIDTH2 - 6) * value / Math.max(most, 1e-9);
  const words = `${count2} draws: ${least} to ${largest}, half of them from ${lower} to ${upper}, median ${median}; this run, ${here}, lies above ${below} % of them`;
  const strip = make("svg:svg", {
    width: WIDTH2,
    height: HEIGHT2,
    class: "rk-spread",
    role: "img",
    "aria-label": words
  }, make("svg:title", {}, words), make("svg:line", {
    x1: x(least),
    x2: x(largest),
    y1: 7,
    y2: 7
  }), make("svg:rect", {
    x: x(lower),
    y: 3,
    width: Math.max(1.5, x(upper) - x(lower)),
    height: 8
  }), make("svg:line", {
    x1: x(median),
    x2: x(median),
    y1: 3,
    y2: 11,
    class: "rk-median"
  }), make("svg:circle", {
    cx: x(here),
    cy: 7,
    r: 3
  }));
  return [
    strip,
    rangeOf(spread)
  ];
}
function mostOf(cells) {
  return Math.max(0, ...cells.flatMap((cell) => cell ? [
    cell[4],
    cell[5]
  ] : []));
}

// lab/screen/compare.js
var STRIP_HEIGHT = 36;
var MOST_MEMBERS2 = 16;
var MOST_CHIPS = 40;
var AXIS_STEPS_S = [
  5,
  10,
  20,
  30,
  60,
  120,
  300,
  600,
  1800,
  3600
];
var MOST_TICKS2 = 6;
var Compare = class {
  /**
   * @param {import("../lab.js").Lab} lab
   * @param {Costs} costs
   * @param {Film[]} films
   */
  constructor(lab, costs, films) {
    this.lab = lab;
    this.films = films;
    this.costs = costs;
    const members = films.flatMap((film) => film.members);
    this.names = [
      ...new Set(members.map((member) => member.name))
    ].slice(0, MOST_MEMBERS2);
    this.end = Math.max(...films.map((film) => film.end));
    this.many = films.some((film) => film.partitions.length > MOST_CHIPS);
    this.heads = films.map(() => make("th", {
      scope: "col"
    }));
    this.cells = this.names.map(() => films.map(() => make("td", {})));
    this.orphans = films.map(() => make("td", {}));
    this.boards = this.many ? [] : films.map((film) => new MiniBoard(film, this.names));
    this.strips = films.map(() => make("canvas", {
      "aria-hidden": "true",
      class: "rk-mini"
    }));
    this.axes = films.map(() => make("div", {
      class: "rk-miniaxis",
      "aria-hidden": "true"
    }));
    this.drawnAt = "";
    this.filled = /* @__PURE__ */ new WeakMap();
    const rows2 = this.names.map((name, place) => {
      const face2 = members.filter((member) => member.name === name).slice(0, 1).map(faceOf);
      return rowOf2([
        ...face2,
        ` ${name}`
      ], this.cells[place]);
    });
    const looks = {
      class: "rk-view rk-compare",
      tabindex: "0",
      role: "region",
      "aria-label": "Compare"
    };
    this.progress = make("small", {
      role: "status"
    });
    const head = make("thead", {}, make("tr", {}, make("td", {}, this.progress), ...this.heads));
    this.costRows = costs.table.map((row) => new CostLine(row));
    const boards = this.boards.map(({ root }) => make("td", {}, root));
    const live = this.many ? [
      ...rows2,
      rowOf2([
        "No owner"
      ], this.orphans)
    ] : [
      rowOf2([
        "Members"
      ], boards)
    ];
    const body = make("tbody", {}, ...live, rowOf2([
      "Whole run"
    ], this.strips.map((canvas, column) => make("td", {}, canvas, this.axes[column]))), ...this.costRows.map((line2) => line2.node));
    const differs = make("p", {
      class: "rk-differs"
    }, make("b", {}, "What differs. "), costs.differs.join(" "));
    this.root = make("div", looks, make("table", {
      class: "rk-table"
    }, head, body), differs);
  }
  /** @param {number} at */
  paint(at) {
    this.films.forEach((film, column) => {
      const board = boardAt(film, Math.min(at, film.end));
      this.paintHead(film, board, column);
      if (!this.many) {
        this.boards[column].paint(board, this.columnWidth);
        return;
      }
      this.names.forEach((name, row) => {
        const member = film.members.find((each) => each.name === name);
        this.fill(this.cells[row][column], member ? this.cellOf(film, board, member) : [
          "\u2013"
        ]);
      });
      const orphans = board.partitions.flatMap(({ owner }, partition) => owner === -1 ? partition : []);
      this.fill(this.orphans[column], orphans.length ? this.chips(film, board, orphans, null) : [
        "none"
      ]);
    });
    this.paintStrips(at);
  }
  /**
   * @param {Film} film
   * @param {Board} board
   * @param {number} column
   */
  paintHead(film, board, column) {
    const { state, protocol, generation } = board.group;
    const number = generation === null ? "" : ` \xB7 ${numberWord(protocol)} ${generation}`;
    const [cause] = sentenceAt(film, board.at);
    this.fill(this.heads[column], [
      make("b", {}, this.costs.labels[column]),
      make("span", {
        class: "rk-count"
      }, `${board.flowing} of ${board.there} flow`),
      make("small", {}, `${state}${number}`),
      make("small", {}, cause)
    ]);
  }
  /**
   * @param {Film} film
   * @param {Board} board
   * @param {import("../film/format.js").Member} member
   */
  cellOf(film, board, member) {
    const words = make("small", {}, doingLine(film, board, member.index));
    return [
      ...this.chips(film, board, board.owned[member.index], member),
      words
    ];
  }
  /**
   * Partitions as small tokens, or their number where they are many.
   * @param {Film} film
   * @param {Board} board
   * @param {number[]} partitions
   * @param {import("../film/format.js").Member | null} member
   * @returns {(string | Element)[]}
   */
  chips(film, board, partitions, member) {
    if (this.many) {
      const stopped = partitions.filter((partition) => !board.partitions[partition].flows).length;
      return [
        `${partitions.length} partitions${stopped ? `, ${stopped} unread` : ""}`
      ];
    }
    return partitions.map((partition) => {
      const { flows, owner, word } = board.partitions[partition];
      const name = film.partitions[partition];
      const hue = `--rk-m${member?.hue}`;
      const look = flows ? "" : owner < 0 ? " rk-loose" : " rk-halt";
      return make("i", {
        class: `rk-small-token${look}`,
        title: `${name}: ${word}`,
        style: member && flows ? `background:var(${hue});color:var(${hue}o);border-color:var(${hue})` : null
      }, name.slice(name.lastIndexOf("-") + 1), flows ? "" : make("span", {
        class: "rk-status"
      }, ` ${word}`));
    });
  }
  /**
   * The whole of each run as a small picture, drawn once per width and theme.
   * @param {number} at
   */
  paintStrips(at) {
    const { ui } = this.lab;
    const width = this.columnWidth;
    const key = `${width}${ui.root.className}`;
    const scale = new Scale(0, this.end, width);
    this.strips.forEach((canvas, column) => {
      if (this.drawnAt !== key) {
        const pen = sharpPen(canvas, width, STRIP_HEIGHT);
        new Painter(ui.root).drawRun(pen, this.films[column], scale, STRIP_HEIGHT);
        this.axes[column].replaceChildren(...this.ticksOf(scale));
      }
      canvas.parentElement?.style.setProperty("--at", `${scale.x(Math.min(at, this.end))}px`);
    });
    this.drawnAt = key;
  }
  /**
   * One axis for all runs, however long each of them is.
   * @param {Scale} scale
   */
  ticksOf(scale) {
    return scale.ticks(AXIS_STEPS_S, MOST_TICKS2).ticks.map((at) => make("span", {
      style: `left:${scale.x(at * 1e3)}px`
    }, `${at}`));
  }
  /**
   * Put this into a cell unless it stands there already.
   * @param {Element} cell
   * @param {(string | Element)[]} children
   */
  fill(cell, children) {
    const key = children.map((child) => typeof child === "string" ? child : child.outerHTML).join("");
    if (this.filled.get(cell) === key) return;
    this.filled.set(cell, key);
    cell.replaceChildren(...children);
  }
  get columnWidth() {
    const cell = this.heads[0].clientWidth || (this.lab.ui.stageHome.clientWidth - 270) / this.films.length;
    return Math.floor(cell) - 12;
  }
  /**
   * How the measures lie over draws of the same deeds; only they say what is least.
   * @param {import("./quartiles.js").Drawn} drawn
   */
  takeDraws({ count: count2, done, wanted, rows: rows2 }) {
    const words = wanted ? `${count2} of ${wanted} runs of the same actions, with other latencies and moments${done ? "" : " \u2026"}. Below each value: from the least to the most of them.` : "No draws of so large a run here; rebalance-kit run --protocol all makes them.";
    say(this.progress, words);
    rows2.forEach((row, place) => this.costRows[place].takeDraws(row, count2));
  }
  /** The cost in words. */
  get twin() {
    const { labels, table, differs } = this.costs;
    const rows2 = [
      [
        "",
        ...labels
      ],
      ...table.map((row) => [
        row.name,
        ...row.cells
      ])
    ];
    return `${rows2.map((row) => row.join("  |  ")).join("\n")}
${differs.join(" ")}`;
  }
};
function rowOf2(head, cells) {
  return make("tr", {}, make("th", {
    scope: "row"
  }, ...head), ...cells);
}
var CostLine = class {
  /** @param {CostRow} row */
  constructor({ name, cells }) {
    this.chips = cells.map(() => make("span", {}));
    this.spreads = cells.map(() => make("span", {}));
    const columns = cells.map((cell, place) => make("td", {}, make("b", {}, cell), this.spreads[place], this.chips[place]));
    this.node = rowOf2([
      name
    ], columns);
  }
  /**
   * @param {{ cells: (import("./quartiles.js").Spread | null)[], least: number | null }} drawn
   * @param {number} count
   */
  takeDraws({ cells, least }, count2) {
    const most = mostOf(cells);
    cells.forEach((cell, place) => this.spreads[place].replaceChildren(...spreadStrip(cell, most, count2)));
    this.chips.forEach((chip, place) => chip.replaceChildren(place === least ? make("span", {
      class: "rk-least"
    }, "least") : ""));
  }
};
function faceOf({ label, hue }) {
  const style = `--hue:var(--rk-m${hue});--on:var(--rk-m${hue}o)`;
  return make("i", {
    class: "rk-seat rk-in",
    style,
    "aria-hidden": "true"
  }, label);
}

// lab/screen/comparison.js
var Comparison = class {
  /** @param {import("../lab.js").Lab} lab */
  constructor(lab) {
    this.lab = lab;
    this.view = null;
    this.branches = null;
    this.asked = 0;
  }
  /** The run has changed: what is compared is simulated anew. */
  again() {
    if (this.view) this.ask();
  }
  /**
   * Compare these branches, or the protocols (null); once more ends it.
   * @param {number[] | null} branches
   */
  async toggle(branches) {
    const { lab } = this;
    if (this.view) {
      this.end();
      return;
    }
    if (lab.predict.on) {
      lab.tell("The future is hidden while you predict.");
      return;
    }
    lab.guide.end();
    this.branches = branches;
    await this.ask();
  }
  end() {
    const { lab } = this;
    this.view = null;
    this.asked += 1;
    set(lab.ui.compareButton, "aria-pressed", "false");
    lab.showControls();
    lab.screen.showStage();
  }
  /** Ask the kernel for the runs, one after the other, and show them. */
  async ask() {
    const { lab, branches } = this;
    const asked = this.asked += 1;
    const message = {
      type: "compare",
      ...branches ? {
        branches
      } : {}
    };
    const films = [];
    let count2 = 1;
    for (let column = 0; column < count2; column += 1) {
      const answer2 = await lab.talk.request({
        ...message,
        column
      });
      if (asked !== this.asked) return;
      if (answer2.type === "refused") {
        if (this.view) this.end();
        lab.refuse(answer2.words);
        return;
      }
      count2 = answer2.labels.length;
      films.push(decodeFilm(await inflate(answer2.buffers[0])));
      lab.tell(`Compares: ${answer2.labels[column]} is ready, ${column + 1} of ${count2}.`);
    }
    const answer = await lab.talk.request(message);
    if (asked !== this.asked) return;
    if (answer.type === "refused") {
      lab.refuse(answer.words);
      return;
    }
    lab.tell("");
    this.view = new Compare(lab, await inflate(answer.buffers[0]), films);
    set(lab.ui.compareButton, "aria-pressed", "true");
    lab.showControls();
    lab.screen.showStage();
    this.draw(this.view);
  }
  /**
   * Draw the same deeds with other chances, a little at a time, while the comparison is looked at.
   * @param {Compare} view
   */
  async draw(view) {
    for (let done = false; !done && this.view === view; ) {
      const answer = await this.lab.talk.request({
        type: "draws"
      });
      if (answer.type === "refused" || this.view !== view) return;
      const drawn = await inflate(answer.buffers[0]);
      view.takeDraws(drawn);
      done = drawn.done;
    }
  }
};

// lab/screen/legend.js
function buildLegend() {
  return make("div", {
    class: "rk-legend",
    role: "group",
    "aria-label": "Signs"
  }, group("Partitions", PARTITIONS.map(([word, flows, says]) => [
    token(word, flows),
    says
  ])), group("Records of a partition", RECORDS.map(([sign, says]) => [
    text2(sign),
    says
  ])), group("Members", [
    ...DISCS.map(([look, says]) => (
      /** @type {Sign} */
      [
        face(look),
        says
      ]
    )),
    ...rings()
  ]), group("Coordinator and messages", coordinator()), group("Above and in the strip", STRIP.map(([sign, says]) => [
    text2(sign),
    says
  ])));
}
var PARTITIONS = (
  /** @type {[string, boolean, string][]} */
  [
    [
      "flows",
      true,
      "Read by its owner. The notch at the left has the colour of the owner, or of the last one."
    ],
    [
      "stopped",
      false,
      "Unread although it has an owner: crossed lines."
    ],
    [
      "callback",
      false,
      "Its owner is in a rebalance callback: slanted lines."
    ],
    [
      "give up",
      true,
      "Its owner has to give it up: a dashed edge; with slanted lines it is unread meanwhile."
    ],
    [
      "new",
      true,
      "Just assigned: a second edge."
    ],
    [
      "no owner",
      false,
      "Nobody owns it: a dotted edge."
    ]
  ]
);
var RECORDS = (
  /** @type {[string, string][]} */
  [
    [
      "\u25A0",
      "processed and committed"
    ],
    [
      "\u25A1",
      "processed, not committed: the next owner gets it again"
    ],
    [
      "|",
      "position of the reader"
    ],
    [
      "\u25CF",
      "a record that waits"
    ],
    [
      "\u2582",
      "bar at the foot: how many wait, on a square-root scale"
    ],
    [
      "\u25CE",
      "records that came twice, so far"
    ],
    [
      "\u22A0",
      "records that were skipped, so far"
    ]
  ]
);
var DISCS = (
  /** @type {[string, string][]} */
  [
    [
      "live",
      "A member has a colour and a pattern; both stay with it everywhere."
    ],
    [
      "crashed",
      "\xD7 crashed or died of an error; the dashed disc has no process."
    ],
    [
      "frozen",
      "\u2016 frozen: its process stands still."
    ],
    [
      "zombie",
      "? removed from the group, but it still works."
    ],
    [
      "fenced",
      "\u2013 fenced: another process has its instance id."
    ],
    [
      "cut",
      "\u2298 cut off from the network."
    ],
    [
      "gone",
      "Grey and dashed: not in the group."
    ]
  ]
);
var STRIP = (
  /** @type {[string, string][]} */
  [
    [
      "\xD7",
      "a fault"
    ],
    [
      "\u25C6",
      "a rebalance begins"
    ],
    [
      "\u25F7",
      "a timer of Kafka ends"
    ],
    [
      "+",
      "an action of the scenario, or one of yours"
    ],
    [
      "\u25CE \u22A0",
      "records come twice; records are skipped"
    ],
    [
      "\u25AC",
      "a bar per partition: plain when it is read, crossed or slanted when not, dotted without owner"
    ]
  ]
);
function group(name, signs) {
  const rows2 = signs.map(([sign, says]) => make("div", {}, make("dt", {}, sign), make("dd", {}, says)));
  return make("section", {}, make("b", {}, name), make("dl", {}, ...rows2));
}
function text2(sign) {
  return make("b", {
    class: "rk-sign"
  }, sign);
}
var HUE = "--hue:var(--rk-m1);--tint:var(--rk-m1t);--on:var(--rk-m1o)";
function token(word, flows) {
  return make("span", {
    class: "rk-token rk-chip",
    style: HUE,
    "data-word": word,
    "data-flows": flows ? "yes" : "no"
  }, make("i", {
    class: "rk-notch"
  }), make("span", {
    class: "rk-word"
  }, word));
}
function face(look) {
  return make("span", {
    class: "rk-legendface",
    style: HUE,
    "data-look": look
  }, make("span", {
    class: "rk-disc rk-pat1"
  }, make("b", {}, "C1")), make("span", {
    class: "rk-badge"
  }, SIGNS[look] ?? ""));
}
function rings() {
  const pin = make("span", {
    class: "rk-legendface",
    style: HUE,
    "data-static": "1"
  }, make("span", {
    class: "rk-disc rk-pat0"
  }, make("b", {}, "C1")));
  return [
    [
      pin,
      "A pin: a static member, with a group.instance.id."
    ],
    [
      ring("rk-ringleft", "70 100"),
      "Outer ring: what is left of session.timeout.ms."
    ],
    [
      ring("rk-ringleft", "2.2 2.2"),
      "Dotted ring: a request that waits at the coordinator holds the session."
    ],
    [
      ring("rk-ringpoll", "40 100"),
      "Inner ring: what is left of max.poll.interval.ms while poll() is not called."
    ],
    [
      ring("rk-tick", ""),
      "Tick: where the ring stands when the next heartbeat is due."
    ]
  ];
}
function ring(kind, dashes) {
  const place = {
    cx: 30,
    cy: 30,
    pathLength: 100,
    transform: "rotate(-90 30 30)"
  };
  const radius = kind === "rk-ringpoll" ? 22.5 : 26.5;
  const drawn = kind === "rk-tick" ? make("svg:line", {
    class: kind,
    x1: 30,
    x2: 30,
    y1: 0,
    y2: 9,
    transform: "rotate(60 30 30)"
  }) : make("svg:circle", {
    class: kind,
    ...place,
    r: radius,
    "stroke-dasharray": dashes
  });
  const back = make("svg:circle", {
    class: "rk-ringback",
    cx: 30,
    cy: 30,
    r: 26.5
  });
  const picture2 = make("svg:svg", {
    class: "rk-ring",
    viewBox: "0 0 60 60",
    "aria-hidden": "true"
  }, back, drawn);
  return make("span", {
    class: "rk-legendface",
    style: HUE
  }, picture2);
}
function coordinator() {
  const seat = (kind) => make("i", {
    class: `rk-seat rk-${kind}`,
    style: HUE
  }, "C1");
  const pill = (kind, words) => make("span", {
    class: `rk-pill ${kind}`,
    style: HUE
  }, words);
  return [
    [
      seat("in"),
      "in the group, or joined this rebalance"
    ],
    [
      seat("out"),
      "the group waits for it"
    ],
    [
      seat("dead"),
      "the group waits for it, and it is dead or frozen"
    ],
    [
      seat("coming"),
      "its request is on the way"
    ],
    [
      pill("rk-up", "request"),
      "a request, filled"
    ],
    [
      pill("rk-down", "answer"),
      "an answer, with an edge; a red edge is an error"
    ]
  ];
}
var Legend = class {
  /** @param {import("../lab.js").Lab} lab */
  constructor(lab) {
    this.lab = lab;
    this.home = null;
  }
  toggle() {
    const { ui: { help }, focus } = this.lab;
    help.hidden = !help.hidden;
    help.querySelector(".rk-legend")?.remove();
    if (help.hidden) {
      focus.giveBack(this.home);
      return;
    }
    help.prepend(buildLegend());
    this.home = focus.home(null);
    help.focus();
  }
};

// lab/screen/focus.js
var Focus = class {
  /** @param {import("../lab.js").Lab} lab */
  constructor(lab) {
    this.lab = lab;
    this.byMouse = false;
  }
  listen() {
    const { root } = this.lab.ui;
    root.addEventListener("pointerdown", () => this.byMouse = true, true);
    root.addEventListener("keydown", () => this.byMouse = false, true);
    root.addEventListener("click", (event) => {
      this.afterClick(event);
      this.afterClickOnNothing(event);
    });
  }
  /** @param {MouseEvent} event */
  afterClick({ detail, target }) {
    const node = (
      /** @type {Element} */
      target.closest(".rk-head button, .rk-transport button, .rk-share")
    );
    const { activeElement } = document;
    if (!node || !detail || activeElement !== node && activeElement !== document.body) return;
    this.lab.screen.focusAfterChange();
  }
  /**
   * A click on something that takes no focus leaves the keys with the lab, unless text is being selected.
   * @param {MouseEvent} event
   */
  afterClickOnNothing({ target }) {
    const { lab } = this;
    if (lab.ui.root.contains(document.activeElement) || !document.getSelection()?.isCollapsed) return;
    if (
      /** @type {Element} */
      target.closest(".rk-popup, .rk-keys, .rk-twin")
    ) return;
    lab.screen.focusAfterChange();
  }
  /**
   * Where the focus goes when what opens now is closed: where it was; the board where it was opened by mouse.
   * @param {HTMLElement | null} opener
   * @returns {HTMLElement | null}
   */
  home(opener2) {
    const { activeElement } = document;
    if (this.byMouse) return null;
    const inside = activeElement instanceof HTMLElement && this.lab.ui.root.contains(activeElement) && !activeElement.closest(".rk-popup");
    return inside ? activeElement : opener2;
  }
  /** @param {HTMLElement | null} home as `home` said */
  giveBack(home) {
    if (home?.isConnected && home.checkVisibility()) home.focus();
    else this.lab.screen.focusAfterChange();
  }
};

// lab/screen/marker.js
var Marker = class {
  /** @param {import("../lab.js").Lab} lab */
  constructor(lab) {
    this.lab = lab;
    this.partition = null;
  }
  /** @returns {import("../board/token.js").Token[]} tokens on the board; tiles have none */
  get tokens() {
    return this.lab.screen.stage?.tokens ?? [];
  }
  /**
   * The next partition in the selected lane.
   * @param {1 | -1} step
   */
  step(step) {
    const { film, player, selected } = this.lab;
    const owned = boardAt(film, player.at).owned[selected] ?? [];
    if (!owned.length || !this.tokens.length) return;
    const at = this.partition === null ? -1 : owned.indexOf(this.partition);
    const first = step > 0 ? 0 : owned.length - 1;
    this.mark(owned[at < 0 ? first : (at + step + owned.length) % owned.length]);
  }
  /** @param {number} partition */
  mark(partition) {
    const { film, player, ui } = this.lab;
    this.partition = partition;
    this.tokens.forEach((token2) => token2.node.classList.toggle("rk-spot", token2.index === partition));
    const state = boardAt(film, player.at).partitions[partition];
    const position = positionAt(film, partition, player.at, state.flows);
    const waiting = position ? `, ${Math.max(0, position.end - position.position)} records wait` : "";
    const records = recordsWords(film, partition, player.at).map((words) => `, ${words}`).join("");
    say(ui.status, `${film.partitions[partition]}: ${state.word}${waiting}${records}`);
  }
  /**
   * A click on a partition marks it: tokens lie above the lanes and let clicks through.
   * @param {MouseEvent} event
   */
  pick(event) {
    if (this.lab.panels.name !== "flow") return;
    const hit = this.tokens.find(({ node }) => {
      const { left, right, top, bottom } = node.getBoundingClientRect();
      const { clientX, clientY } = event;
      return clientX >= left && clientX <= right && clientY >= top && clientY <= bottom;
    });
    if (!hit) return;
    const badge = (
      /** @type {Element} */
      event.target.closest(".rk-delivered")
    );
    const owner = badge ? this.lab.film.members.findIndex(({ name }) => name === hit.node.dataset.owner) : -1;
    if (owner >= 0) this.lab.select(owner);
    this.mark(hit.index);
    this.lab.predict.pick(hit.name);
  }
  clear() {
    this.partition = null;
    this.tokens.forEach((token2) => token2.node.classList.remove("rk-spot"));
  }
};

// lab/screen/presenter.js
var AWAKE_MS = 4e3;
var Presenter = class {
  /** @param {import("../lab.js").Lab} lab */
  constructor(lab) {
    this.lab = lab;
    this.on = false;
    this.sleeping = 0;
    this.onFull = () => {
      if (!document.fullscreenElement && this.on) this.toggle();
    };
    document.addEventListener("fullscreenchange", this.onFull);
  }
  close() {
    document.removeEventListener("fullscreenchange", this.onFull);
  }
  toggle() {
    const { ui, theme, screen } = this.lab;
    this.on = !this.on;
    set(ui.presentButton, "aria-pressed", this.on ? "true" : "false");
    ui.root.classList.toggle("rk-present", this.on);
    if (this.on) ui.root.requestFullscreen?.().catch(() => {
    });
    else if (document.fullscreenElement) document.exitFullscreen();
    ui.root.style.zoom = "";
    if (this.on) this.awake();
    else ui.root.classList.remove("rk-quiet");
    theme.apply();
    requestAnimationFrame(() => {
      screen.refit();
      if (this.on) screen.focusTarget().focus();
    });
  }
  awake() {
    if (!this.on) return;
    const { root } = this.lab.ui;
    root.classList.remove("rk-quiet");
    clearTimeout(this.sleeping);
    this.sleeping = setTimeout(() => {
      if (!this.on || root.querySelector(".rk-popup:not([hidden])")) return;
      root.classList.add("rk-quiet");
      const { activeElement } = document;
      const hidden = activeElement?.closest(".rk-tabs, .rk-actions, .rk-transport, .rk-head > button");
      if (activeElement === document.body || hidden) this.lab.screen.focusTarget().focus();
    }, AWAKE_MS);
  }
};

// lab/acting/key_table.js
var KEYS2 = Object.freeze(
  /** @type {[string, string][]} */
  [
    [
      "Space",
      "play, pause"
    ],
    [
      ". ,",
      "next, previous event"
    ],
    [
      "> <",
      "next, previous message"
    ],
    [
      "N Shift+N",
      "next, previous mark"
    ],
    [
      "Home End",
      "start, end"
    ],
    [
      "] [",
      "faster, slower"
    ],
    [
      "\u2191 \u2193",
      "member above, below"
    ],
    [
      "\u2190 \u2192",
      "partition in the lane"
    ],
    [
      "1\u20139",
      "select a member"
    ],
    [
      "Enter",
      "menu of the selected member"
    ],
    [
      "C L Z R",
      "crash, leave, freeze or thaw, restart"
    ],
    [
      "W D X E Delete",
      "stop polling, duplicate, cut network, enforce a rebalance, lose the next heartbeat"
    ],
    [
      "M P B O",
      "add a member, add partitions, broker down or up, move the coordinator"
    ],
    [
      "U Shift+U",
      "undo, redo"
    ],
    [
      "K H V",
      "fork here, history, compare"
    ],
    [
      "G",
      "predict"
    ],
    [
      "Y",
      "guide me; then N or Enter: next beat, Shift+N: the one before"
    ],
    [
      "T A S",
      "next protocol, assignor, settings"
    ],
    [
      "Alt+1\u20139",
      "open a tab"
    ],
    [
      "= \u2212",
      "zoom the timeline"
    ],
    [
      "/",
      "filter or search"
    ],
    [
      "F",
      "present"
    ],
    [
      "Q",
      "copy link"
    ],
    [
      "I Shift+I",
      "read the moment again, read everything"
    ],
    [
      "?",
      "this legend"
    ],
    [
      "Esc",
      "close; leave the lab"
    ]
  ]
);

// lab/dialogs/files.js
var KEPT_MS = 1e4;
var SHARPNESS = 2;
var KINDS = (
  /** @type {Record<string, string>} */
  {
    ".html": "text/html",
    ".svg": "image/svg+xml"
  }
);
function download(name, bytes, kind) {
  const address = URL.createObjectURL(new Blob([
    bytes
  ], {
    type: kind
  }));
  const link = make("a", {
    href: address,
    download: name
  });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), KEPT_MS);
}
async function styleOf(lab) {
  const rules = [
    ...document.styleSheets
  ].flatMap((sheet) => {
    try {
      return [
        ...sheet.cssRules
      ];
    } catch {
      return [];
    }
  });
  const css = rules.map((rule) => rule.cssText).filter((text3) => text3.includes("rk-")).join("\n");
  if (css || lab.alone) return css;
  const answer = await lab.talk.request({
    type: "export",
    what: "style"
  });
  return new TextDecoder().decode(answer.buffers[0]);
}
var TOOLS = "[hidden], .rk-actions, .rk-transport, .rk-astext, .rk-guidebutton, .rk-guidebuttons, .rk-band, .rk-slider, .rk-head > button:not(.rk-presetbutton), .rk-popup, .rk-keys, .rk-offer, .rk-status";
function stillOf(root) {
  const copy = (
    /** @type {HTMLElement} */
    root.cloneNode(true)
  );
  const drawn = [
    ...root.querySelectorAll("canvas")
  ];
  copy.querySelectorAll("canvas").forEach((canvas, place) => {
    const { position, left, top } = getComputedStyle(drawn[place]);
    const where = position === "absolute" ? `;position:absolute;left:${left};top:${top}` : "";
    const style = `${canvas.getAttribute("style") ?? ""}${where}`;
    canvas.replaceWith(make("img", {
      src: drawn[place].toDataURL(),
      style,
      class: canvas.className || null
    }));
  });
  copy.querySelectorAll(TOOLS).forEach((node) => node.remove());
  return new XMLSerializer().serializeToString(copy);
}
function heightOf({ ui }) {
  const bars2 = [
    ui.actionBar,
    ui.transport,
    ui.details
  ];
  const scale = ui.root.getBoundingClientRect().height / ui.root.offsetHeight;
  return scale * (ui.root.offsetHeight - bars2.reduce((sum, bar) => sum + bar.offsetHeight, 0));
}
async function picture(lab) {
  const css = (await styleOf(lab)).replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const { width } = lab.ui.root.getBoundingClientRect();
  const height = heightOf(lab);
  const body = `<div xmlns="http://www.w3.org/1999/xhtml"><style>${css}</style>${stillOf(lab.ui.root)}</div>`;
  const inside = `<foreignObject width="100%" height="100%">${body}</foreignObject>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${inside}</svg>`;
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const [wide, tall] = [
    width,
    height
  ].map((size) => Math.round(size * SHARPNESS));
  const canvas = make("canvas", {
    width: wide,
    height: tall
  });
  const pen = (
    /** @type {CanvasRenderingContext2D} */
    canvas.getContext("2d")
  );
  pen.scale(SHARPNESS, SHARPNESS);
  pen.drawImage(image, 0, 0);
  return new Promise((done, failed) => canvas.toBlob((blob) => blob ? done(blob) : failed(new Error("the canvas is empty")), "image/png"));
}
async function saveFile(lab, what) {
  if (what === "png") {
    const name = `${lab.model.get("controls").preset}-${Math.round(lab.player.at)}ms.png`;
    download(name, await picture(lab), "image/png");
    lab.tell("The picture is in your downloads.");
    return;
  }
  const answer = await lab.talk.request({
    type: "export",
    what
  });
  if (answer.type === "refused") {
    lab.refuse(answer.words);
    return;
  }
  download(answer.file, answer.buffers[0], KINDS[answer.file.slice(answer.file.lastIndexOf("."))] ?? "text/plain");
  lab.tell(`${answer.file} is in your downloads.`);
}
function save(lab, what) {
  return saveFile(lab, what).catch((failure) => lab.tell(`This browser could not make the file: ${failure.message}`));
}

// lab/dialogs/menu.js
var FILES = Object.freeze([
  [
    "trace",
    "Trace (JSONL)"
  ],
  [
    "scenario",
    "Scenario (YAML)"
  ],
  [
    "report",
    "Report (HTML)"
  ],
  [
    "animation",
    "Animation (HTML, plays alone)"
  ],
  [
    "png",
    "Picture of this view (PNG)"
  ],
  [
    "svg",
    "Picture of the board (SVG)"
  ]
]);
var PILLS = Object.freeze(
  /** @type {[string, string][]} */
  [
    [
      "all",
      "all"
    ],
    [
      "news",
      "without quiet heartbeats and commits"
    ],
    [
      "none",
      "none"
    ]
  ]
);
var THEMES2 = Object.freeze([
  "auto",
  "light",
  "dark",
  "projector"
]);
function showMenu(lab, opener2) {
  const { model, options } = lab;
  const themes = THEMES2.map((name) => (
    /** @type {[string, string]} */
    [
      name,
      name
    ]
  ));
  const theme = selectOf("Theme", themes, model.get("theme"), (value) => {
    model.set("theme", value);
    model.save_changes();
    lab.theme.apply();
  });
  const pills = selectOf("Messages on the board", PILLS, options.pills, (value) => options.pills = value);
  const files = FILES.filter(([what]) => !lab.alone || what === "png");
  lab.popup.show(opener2, make("h2", {}, "Export"), ...files.map(([what, words]) => menuItem(lab, [
    words
  ], () => save(lab, what))), make("h2", {}, "View"), make("label", {
    class: "rk-check"
  }, "Theme", theme), make("label", {
    class: "rk-check"
  }, "Messages on the board", pills), checkbox("single letters are keys", options.letters, (on) => options.letters = on), checkbox("less motion", options.still, (on) => options.calm = on), menuItem(lab, [
    "History and branches (H)"
  ], () => showHistory(lab, opener2)), menuItem(lab, [
    "Keys (?)"
  ], () => lab.legend.toggle()));
}
function checkbox(words, on, run) {
  const box = make("input", {
    type: "checkbox"
  });
  box.checked = on;
  box.addEventListener("input", () => run(box.checked));
  return make("label", {
    class: "rk-check"
  }, box, words);
}

// lab/dialogs/pace.js
function paceButton(lab) {
  const node = opener("", "Speed and step", (button2) => showPace(lab, button2), {
    class: "rk-pacebutton"
  });
  lab.steps.onChange = () => paintPace(node, lab.steps);
  lab.steps.onChange();
  return node;
}
function paintPace(node, { speed, kind }) {
  const words = `${speedWords(speed)} \xB7 by ${STEPS.find(([name]) => name === kind)?.[1]} \u25BE`;
  say(node, words);
  set(node, "aria-label", `Speed and step: ${words.replace(" \u25BE", "")}`);
}
function speedWords(speed) {
  return speed === "Auto" ? "Auto" : `${speed} \xD7`;
}
function showPace(lab, button2) {
  const { steps } = lab;
  const speeds = SPEEDS.map((speed) => (
    /** @type {[string, string]} */
    [
      String(speed),
      speedWords(speed)
    ]
  ));
  lab.popup.show(button2, make("h2", {}, "Speed and step"), group2("Speed", speeds, String(steps.speed), (value) => steps.setSpeed(value)), make("p", {
    class: "rk-dim"
  }, "Auto hurries through quiet time and slows down at each event. Keys: [ and ]."), group2("Step to the next", STEPS, steps.kind, (value) => steps.setKind(value)), make("p", {
    class: "rk-dim"
  }, "The keys . and , step by event, > and < by message, N jumps to the next mark."));
}
function group2(label, options, value, run) {
  const name = `rk-${label}-${Math.random().toString(36).slice(2)}`;
  const choices = options.map(([each, words]) => {
    const box = make("input", {
      type: "radio",
      name,
      value: each
    });
    box.checked = each === value;
    box.addEventListener("input", () => run(each));
    return make("label", {
      class: "rk-choicebox"
    }, box, words);
  });
  return make("fieldset", {
    class: "rk-choices"
  }, make("legend", {}, label), ...choices);
}

// lab/screen/icons.js
var ICONS = {
  first: "M3 3v10M14 3.5L9 8l5 4.500zM9 3.500L4 8l5 4.500z",
  back: "M4 3v10M12.500 3.500L6 8l6.500 4.500z",
  next: "M12 3v10M3.500 3.500L10 8l-6.500 4.500z",
  last: "M13 3v10M2 3.500L7 8l-5 4.500zM7 3.500L12 8l-5 4.500z",
  play: "M4.500 2.500L13 8l-8.500 5.500z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z"
};
function icon(name) {
  return make("svg:svg", {
    width: 16,
    height: 16,
    viewBox: "0 0 16 16",
    "aria-hidden": "true"
  }, make("svg:path", {
    d: ICONS[name],
    fill: "currentColor",
    stroke: "currentColor",
    "stroke-width": 1.2,
    "stroke-linejoin": "round"
  }));
}

// lab/screen/regions.js
function buildRegions(lab) {
  const suppressed = {
    "data-lm-suppress-shortcuts": "true"
  };
  return {
    root: make("section", {
      class: "rk-lab rk-light",
      ...suppressed
    }),
    stageHome: make("div", {
      class: "rk-stagehome"
    }),
    viewbar: make("div", {
      class: "rk-viewbar"
    }),
    middle: make("div", {
      class: "rk-middle"
    }),
    lesson: make("p", {
      class: "rk-lesson"
    }),
    band: make("p", {
      class: "rk-band",
      role: "alert"
    }),
    status: make("div", {
      class: "rk-status",
      role: "status",
      "aria-live": "polite"
    }),
    ...buildHeader(lab),
    ...buildSentences(buildGuideBar(lab)),
    ...buildActions(lab),
    ...buildTransport(lab),
    ...buildTwin(),
    ...buildStory(),
    help: buildHelp()
  };
}
function buildHeader(lab) {
  const title = make("b", {
    class: "rk-title"
  });
  const presetButton = opener("", "Lessons", (node) => showPresets(lab, node), {
    class: "rk-presetbutton"
  });
  presetButton.append(title, lab.alone ? "" : " \u25BE");
  presetButton.disabled = lab.alone;
  const protocols = make("div", {
    class: "rk-seg",
    role: "group",
    "aria-label": "Protocol"
  });
  const mixed = make("span", {
    class: "rk-mixed",
    hidden: true
  });
  const compareButton = button("Compare", "Compare the protocols", () => lab.comparison.toggle(null), {
    class: "rk-comparebutton",
    "aria-pressed": "false"
  });
  const tools = buildTools(lab);
  const header = make("div", {
    class: "rk-head",
    role: "toolbar",
    "aria-label": "Scenario and protocol"
  }, presetButton, make("div", {
    class: "rk-segs"
  }, mixed, protocols, compareButton), make("span", {
    class: "rk-gap"
  }), ...Object.values(tools));
  protocols.hidden = compareButton.hidden = lab.alone;
  return {
    header,
    title,
    presetButton,
    mixed,
    protocols,
    compareButton,
    ...tools
  };
}
function buildTools(lab) {
  const pressed = {
    "aria-pressed": "false"
  };
  const round = {
    class: "rk-help"
  };
  const predictButton = button("Predict", "Predict", () => lab.predict.begin(predictButton), pressed);
  const settingsButton = opener("Settings", "Settings", (node) => showSettings(lab, node));
  const shareButton = opener("Copy link", "Copy link", () => showLink(lab));
  [
    settingsButton,
    predictButton,
    shareButton
  ].forEach((node) => node.hidden = lab.alone);
  return {
    settingsButton,
    predictButton,
    shareButton,
    presentButton: button("Present", "Present", () => lab.presenter.toggle(), pressed),
    menuButton: opener("\u22EF", "More: files, theme, history", (node) => showMenu(lab, node), round),
    helpButton: button("?", "Keyboard and legend", () => lab.legend.toggle(), round)
  };
}
function buildSentences(guide) {
  const cause = make("p", {
    class: "rk-cause"
  });
  const effect = make("p", {
    class: "rk-effect"
  });
  const meter = make("span", {
    class: "rk-squares",
    "aria-hidden": "true"
  });
  const flowing = make("b", {});
  const share = make("div", {
    class: "rk-meter"
  }, meter, flowing, make("span", {}, "flow"));
  const moment = make("div", {
    class: "rk-moment"
  }, cause, effect);
  return {
    ...guide,
    cause,
    effect,
    meter,
    flowing,
    share,
    sentences: make("div", {
      class: "rk-say"
    }, moment, guide.said, guide.guideButton, guide.guideButtons)
  };
}
function buildActions(lab) {
  const who = make("span", {
    class: "rk-selected"
  });
  const kbd = (key) => make("kbd", {
    "aria-hidden": "true"
  }, key);
  const actions = ACTIONS.map((action) => {
    const node = button(action.words, action.words, (event) => actByButton(lab, action.do, event));
    node.append(kbd(action.key ?? ""));
    lab.costs.watch(node, action.do);
    return {
      node,
      action
    };
  });
  const add = button("+ Member", "Add member", (event) => actByButton(lab, "add", event));
  add.append(kbd("M"));
  lab.costs.watch(add, "add");
  const more = opener("More", "More actions", (node) => showMore(lab, node));
  const notice = make("span", {
    class: "rk-notice",
    role: "alert"
  });
  const cost = make("span", {
    class: "rk-cost",
    role: "status"
  });
  const actionBar = make("div", {
    class: "rk-actions",
    role: "toolbar",
    "aria-label": "Actions"
  }, who, ...actions.map(({ node }) => node), add, more, make("span", {
    class: "rk-words"
  }, notice, cost));
  actionBar.hidden = lab.alone;
  return {
    who,
    actions,
    notice,
    cost,
    actionBar
  };
}
function actByButton(lab, what, event) {
  lab.act(what);
  if (event.detail > 0) lab.screen.focusTarget().focus();
}
function buildTransport(lab) {
  const undo = button("Undo", "Undo", () => walk(lab, "undo"));
  const redo = button("Redo", "Redo", () => walk(lab, "redo"));
  const fork = button("Fork here", "Fork here", () => lab.ask({
    type: "fork"
  }));
  const dots = {
    class: "rk-branches"
  };
  const branches = opener("", "History and branches", (node) => showHistory(lab, node), dots);
  const playButton = button(icon("play"), "Play", () => lab.toggle(), {
    class: "rk-play"
  });
  const clock = make("b", {
    class: "rk-clock"
  });
  const pace = make("span", {
    class: "rk-pace",
    "aria-hidden": "true"
  });
  const pacer = paceButton(lab);
  const transport = make("div", {
    class: "rk-transport",
    role: "toolbar",
    "aria-label": "Playback"
  }, button(icon("first"), "Jump back", () => lab.steps.jump(-1, "marks")), button(icon("back"), "Step back", () => lab.steps.jump(-1, lab.steps.kind)), playButton, button(icon("next"), "Step forward", () => lab.steps.jump(1, lab.steps.kind)), button(icon("last"), "Jump forward", () => lab.steps.jump(1, "marks")), clock, pace, pacer, make("span", {
    class: "rk-gap"
  }), branches, fork, undo, redo);
  [
    fork,
    undo,
    redo,
    branches
  ].forEach((node) => node.hidden = lab.alone);
  return {
    undo,
    redo,
    branches,
    playButton,
    clock,
    pace,
    pacer,
    transport
  };
}
function buildTwin() {
  const twin = make("pre", {
    class: "rk-twin"
  });
  return {
    twin,
    details: make("details", {
      class: "rk-astext"
    }, make("summary", {}, "As text"), twin)
  };
}
function buildStory() {
  const storyText = make("summary", {});
  return {
    storyText,
    story: make("details", {
      class: "rk-story",
      hidden: true
    }, storyText)
  };
}
function buildHelp() {
  const rows2 = KEYS2.map(([key, does]) => make("tr", {}, make("th", {
    scope: "row"
  }, key), make("td", {}, does)));
  const table = make("table", {}, make("caption", {}, "Keys"), make("tbody", {}, ...rows2));
  const looks = {
    class: "rk-keys",
    role: "dialog",
    "aria-label": "Legend and keys",
    tabindex: "0",
    hidden: true
  };
  return make("div", looks, table);
}

// lab/board/sizes.js
var RAIL = 184;
var GAP2 = 14;
var COORDINATOR = 54;
var FULL_HEIGHT = 284;
var LANES = 216;
var WIDEST_TOKEN = 200;
var LETTER = 7;
var BESIDE_NAME = 20;
var WORD = 62;
var RECORDS2 = 128;
var LARGER2 = 1.35;
var LARGER_NAME = 1.16;
var RAIL_TEXT = 98;
function measure(film, width, large) {
  const inner = Math.max(680, width - 40), tight = width < 960;
  const busWidth = tight ? 92 : 104, railWidth = tight ? 164 : RAIL;
  const count2 = film.members.length;
  const columns = count2 > 6 ? 2 : 1;
  const laneHeight = count2 <= 4 ? 68 : count2 <= 6 ? 52 : 44;
  const laneGap = 6;
  const all = inner - busWidth - GAP2 - railWidth;
  const laneWidth = columns === 1 ? all : (all - 10) / 2;
  const head = columns > 1 ? 150 : (tight ? 222 : 224) + (large ? 34 : 0);
  const track = laneWidth - head - 8;
  const named = nameWidth(film.partitions) * (large ? LARGER_NAME : 1);
  const cells = film.members.flatMap((_, index) => fitCells(track, laneHeight, Math.max(1, film.mostIn[index] ?? 0), named) ?? []);
  if (count2 > 16 || cells.length < count2) return {
    inner
  };
  const rows2 = Math.ceil(count2 / columns);
  const lanes = Math.max(rows2 * (laneHeight + laneGap) - laneGap, LANES);
  const height = Math.max(FULL_HEIGHT, COORDINATOR + 8 + lanes + 6);
  const rail = fitRail(height - COORDINATOR - 14, film.mostInRail, railWidth - 20);
  return {
    inner,
    busWidth,
    railWidth,
    columns,
    rows: rows2,
    laneHeight,
    laneGap,
    laneWidth,
    head,
    cells,
    whole: Math.max(RECORDS2, named + WORD) * (large ? LARGER2 : 1),
    height,
    rail,
    bare: topicsOf2(film.partitions) === 1 && rail.width < named * (large ? LARGER2 : 1),
    railX: inner - railWidth,
    laneTop: COORDINATOR + 8
  };
}
function nameWidth(names) {
  return Math.max(...names.map((name) => name.length), 1) * LETTER + BESIDE_NAME;
}
function topicsOf2(names) {
  return new Set(names.map((name) => name.slice(0, name.lastIndexOf("-")))).size;
}
function fitCells(track, laneHeight, most, named) {
  const possible = [];
  for (let rows2 = 1; rows2 <= 3; rows2 += 1) {
    const height = rows2 === 1 ? laneHeight - 16 : Math.floor((laneHeight - 10 - (rows2 - 1) * 4) / rows2);
    const columns = Math.ceil(most / rows2);
    const width = Math.min(WIDEST_TOKEN, Math.floor((track - 9 * (columns - 1)) / columns));
    if (height < 15 || width < (rows2 === 1 && height >= 50 ? 80 : 54)) continue;
    if (width >= named) return {
      rows: rows2,
      columns,
      width,
      height
    };
    possible.push({
      rows: rows2,
      columns,
      width,
      height
    });
  }
  return possible.sort((a, b) => b.width - a.width)[0] ?? null;
}
function fitRail(height, most, wide) {
  const room = height - RAIL_TEXT;
  for (const height2 of [
    54,
    32,
    26
  ]) {
    if (most * (height2 + 8) <= room) return {
      columns: 1,
      width: wide,
      height: height2,
      gap: 8
    };
  }
  if (most * 25 <= room) return {
    columns: 1,
    width: wide,
    height: 22,
    gap: 3
  };
  for (const [columns, each, gap] of [
    [
      2,
      26,
      6
    ],
    [
      2,
      20,
      6
    ],
    [
      3,
      20,
      6
    ],
    [
      3,
      16,
      3
    ]
  ]) {
    const width = Math.floor((wide - 6 * (columns - 1)) / columns);
    if (Math.ceil(most / columns) * (each + gap) <= room) return {
      columns,
      width,
      height: each,
      gap
    };
  }
  return {
    columns: 3,
    width: 50,
    height: 16,
    gap: 3
  };
}
function laneBox(sizes, index) {
  const column = Math.floor(index / sizes.rows), row = index % sizes.rows;
  return {
    x: sizes.busWidth + column * (sizes.laneWidth + 10),
    y: sizes.laneTop + row * (sizes.laneHeight + sizes.laneGap),
    width: sizes.laneWidth,
    height: sizes.laneHeight
  };
}
function tokenBox(sizes, owner, slot) {
  if (owner < 0) {
    const { columns: columns2, width: width2, height: height2, gap } = sizes.rail;
    return {
      x: sizes.railX + 10 + slot % columns2 * (width2 + 6),
      y: sizes.laneTop + 44 + Math.floor(slot / columns2) * (height2 + gap),
      width: width2,
      height: height2,
      bare: sizes.bare
    };
  }
  const lane = laneBox(sizes, owner), { columns, rows: rows2, width, height } = sizes.cells[owner];
  slot = Math.min(slot, columns * rows2 - 1);
  const row = Math.floor(slot / columns), block = rows2 * height + (rows2 - 1) * 4;
  return {
    x: lane.x + sizes.head + slot % columns * (width + 9),
    y: lane.y + (lane.height - block) / 2 + row * (height + 4),
    width,
    height
  };
}

// lab/board/bus.js
var APART_MS = 160;
var WAIT_AT_MOST_MS = 900;
var FLIGHT_MS = 450;
var STILL_MS2 = 700;
var Bus = class {
  /**
   * @param {import("../film/format.js").Film} film
   * @param {import("./sizes.js").LaneSizes} sizes
   */
  constructor(film, sizes) {
    this.film = film;
    this.sizes = sizes;
    this.nextPill = 0;
    const bottom = laneBox(sizes, Math.min(sizes.rows, film.members.length) - 1);
    const height = bottom.y + bottom.height / 2 - COORDINATOR;
    this.root = make("div", {
      class: "rk-bus",
      "aria-hidden": "true",
      style: `top:${COORDINATOR}px;height:${height}px`
    });
    film.members.forEach((member) => {
      const lane = laneBox(sizes, member.index);
      if (lane.x > sizes.busWidth) return;
      this.root.append(make("i", {
        style: `top:${lane.y + lane.height / 2 - COORDINATOR}px`
      }));
    });
  }
  /**
   * Messages of one moment follow each other, so that each can be read; those that do not fit are left out.
   * @param {import("../film/format.js").Message} message
   */
  pill(message) {
    const now = performance.now();
    this.nextPill = Math.max(now, this.nextPill);
    if (this.nextPill - now > WAIT_AT_MOST_MS) return;
    setTimeout(() => this.fly(message), this.nextPill - now);
    this.nextPill += APART_MS;
  }
  /**
   * A message as a pill: it lives at least 350 ms of the reader's time.
   * @param {import("../film/format.js").Message} message
   */
  fly(message) {
    if (!this.root.isConnected) return;
    const lane = laneBox(this.sizes, message.member);
    const middle = lane.y + lane.height / 2 - COORDINATOR;
    const [from, there] = message.request ? [
      middle,
      0
    ] : [
      0,
      middle
    ];
    const to = message.arrives === null ? (from + there) / 2 : there;
    const still = this.root.closest(".rk-calm") !== null;
    const node = this.makePill(message);
    this.root.append(node);
    const flight = node.animate([
      still ? to : from,
      to
    ].map((y) => ({
      transform: `translate(-50%,${y}px)`
    })), {
      duration: still ? STILL_MS2 : FLIGHT_MS,
      fill: "forwards"
    });
    flight.onfinish = () => node.remove();
  }
  /** @param {import("../film/format.js").Message} message */
  makePill(message) {
    const hue = `--rk-m${this.film.members[message.member].hue}`;
    const words = message.error ? message.error.replaceAll("_", " ") : message.api.replace("ConsumerGroup", "");
    const looks = [
      "rk-pill",
      message.request ? "rk-up" : "rk-down"
    ];
    if (message.quiet) looks.push("rk-dot");
    if (message.error) looks.push("rk-error");
    const style = `--hue:var(${hue});--on:var(${hue}o)`;
    return make("b", {
      class: looks.join(" "),
      style
    }, message.quiet ? "" : words);
  }
};

// lab/board/coordinator.js
var SEATS = 6;
var CoordinatorBar = class {
  /** @param {import("../film/format.js").Film} film */
  constructor(film) {
    this.steps = make("ol", {
      class: "rk-steps"
    });
    this.numberName = make("span", {});
    this.number = make("b", {});
    this.targetNumber = make("b", {});
    this.target = make("div", {
      class: "rk-number"
    }, make("span", {}, "Target epoch"), this.targetNumber);
    this.roomTitle = make("b", {});
    this.seats = make("span", {
      class: "rk-seats"
    });
    this.root = make("div", {
      class: "rk-coordinator",
      style: `height:${COORDINATOR}px`,
      role: "group"
    }, make("div", {
      class: "rk-ctitle"
    }, make("b", {}, "Coordinator"), make("span", {}, `group ${film.group}`)), this.steps, make("div", {
      class: "rk-number"
    }, this.numberName, this.number), this.target, make("div", {
      class: "rk-room"
    }, this.roomTitle, this.seats));
    this.stepsKey = "";
    this.seatsKey = "";
  }
  /**
   * @param {import("../film/format.js").Film} film
   * @param {import("../film/board.js").Board} board
   */
  paint(film, board) {
    const { group: group3 } = board;
    const epochs = group3.protocol === "consumer";
    this.paintSteps(film.steps[group3.protocol], group3);
    say(this.numberName, epochs ? "Group epoch" : "Generation");
    say(this.number, group3.generation === null ? "\u2013" : String(group3.generation));
    this.target.hidden = !epochs;
    say(this.targetNumber, group3.targetEpoch === null ? "\u2013" : String(group3.targetEpoch));
    set(this.root, "aria-label", `Coordinator. ${groupLine(board)}`);
    set(this.root, "data-state", group3.state);
    set(this.root, "data-up", group3.up ? "yes" : "no");
    this.paintRoom(board, epochs);
  }
  /**
   * @param {string[]} states
   * @param {import("../film/format.js").GroupState} group
   */
  paintSteps(states, group3) {
    const short = this.root.closest(".rk-projector") !== null;
    const key = group3.protocol + short;
    if (this.stepsKey !== key) {
      this.stepsKey = key;
      const words = (state) => short ? state.replace("Rebalance", "") : state;
      this.steps.replaceChildren(...states.map((state) => make("li", {
        "data-state": state
      }, words(state))));
    }
    [
      ...this.steps.children
    ].forEach((node) => set(node, "aria-current", node.getAttribute("data-state") === group3.state ? "step" : null));
  }
  /**
   * @param {import("../film/board.js").Board} board
   * @param {boolean} epochs
   */
  paintRoom(board, epochs) {
    const inside = board.members.filter((member) => member.state.standing === "member");
    const wanted = board.phase ? [
      ...board.joined,
      ...board.awaited
    ] : inside;
    say(this.roomTitle, epochs ? "Members and epochs" : roomTitle(board, wanted.length + board.group.former));
    const shown = wanted.slice(0, wanted.length > SEATS ? SEATS - 2 : SEATS);
    const seats = [
      ...shown.map((member) => seatOf(member, board, epochs)),
      ...board.coming.slice(0, 3).map(({ label, hue }) => (
        /** @type {Seat} */
        [
          label,
          hue,
          "coming",
          "",
          false
        ]
      ))
    ];
    const key = JSON.stringify(seats);
    if (key === this.seatsKey) return;
    this.seatsKey = key;
    this.seats.replaceChildren(...seats.map(drawSeat), wanted.length > SEATS ? make("span", {}, `+${wanted.length - SEATS + 2}`) : "");
  }
};
function roomTitle(board, wanted) {
  if (board.phase === null) return `${wanted} member${wanted === 1 ? "" : "s"}`;
  const verb = board.phase === "JoinGroup" ? "Joined" : board.phase;
  return `${verb} ${board.joined.length} of ${wanted}`;
}
function seatOf({ label, hue, seat, state }, board, epochs) {
  const epoch = epochs ? state.epoch ?? state.generation ?? "" : "";
  const silent = [
    "crashed",
    "frozen",
    "died"
  ].includes(state.life);
  const kind = seat === "awaited" ? silent ? "dead" : "out" : "in";
  return [
    label,
    hue,
    kind,
    String(epoch),
    epoch !== "" && epoch !== board.group.generation
  ];
}
function drawSeat([label, hue, kind, epoch, behind]) {
  return make("i", {
    class: `rk-seat rk-${kind}`,
    style: `--hue:var(--rk-m${hue});--on:var(--rk-m${hue}o)`,
    "data-behind": behind ? "true" : null
  }, label, epoch === "" ? null : make("small", {}, epoch));
}

// lab/board/lane.js
var RING = {
  cx: 30,
  cy: 30,
  r: 26.5,
  pathLength: 100,
  transform: "rotate(-90 30 30)"
};
var Lane = class {
  /**
   * @param {import("../film/format.js").Member} member
   * @param {import("./sizes.js").LaneSizes} sizes
   * @param {(index: number) => void} onSelect
   */
  constructor(member, sizes, onSelect) {
    this.index = member.index;
    this.room = sizes.cells[member.index].columns * sizes.cells[member.index].rows;
    this.session = make("svg:circle", {
      class: "rk-ringleft",
      ...RING
    });
    this.poll = make("svg:circle", {
      class: "rk-ringpoll",
      ...RING,
      r: 22.5
    });
    this.tick = make("svg:line", {
      class: "rk-tick",
      x1: 30,
      x2: 30,
      y1: 0,
      y2: 7
    });
    this.badge = make("span", {
      class: "rk-badge"
    });
    this.doing = make("span", {
      class: "rk-doing"
    });
    this.third = make("span", {
      class: "rk-third"
    });
    this.empty = make("span", {
      class: "rk-empty"
    });
    this.more = make("b", {
      class: "rk-more",
      "aria-hidden": "true"
    });
    this.node = this.build(member, sizes);
    this.node.addEventListener("click", () => onSelect(member.index));
  }
  /**
   * @param {import("../film/format.js").Member} member
   * @param {import("./sizes.js").LaneSizes} sizes
   */
  build(member, sizes) {
    const box = laneBox(sizes, member.index);
    const small = box.height < 60 ? " rk-small" : "";
    const narrow = sizes.columns > 1 ? " rk-narrow" : "";
    const hue = `--rk-m${member.hue}`;
    const place = `left:${box.x}px;top:${box.y}px;width:${box.width}px;height:${box.height}px`;
    const ring2 = make("svg:svg", {
      class: "rk-ring",
      viewBox: "0 0 60 60",
      "aria-hidden": "true"
    }, make("svg:circle", {
      class: "rk-ringback",
      cx: 30,
      cy: 30,
      r: 26.5
    }), this.poll, this.tick, this.session);
    const disc = make("span", {
      class: `rk-disc rk-pat${member.pattern}`
    }, make("b", {}, member.label));
    const name = make("b", {
      class: "rk-name"
    }, member.name);
    return make("div", {
      class: `rk-lane${small}${narrow}`,
      role: "option",
      id: `rk-${Math.random().toString(36).slice(2)}`,
      "data-member": member.name,
      tabindex: "-1",
      style: `${place};--hue:var(${hue});--tint:var(${hue}t);--on:var(${hue}o);--head:${sizes.head}px`
    }, make("span", {
      class: "rk-face",
      "aria-hidden": "true"
    }, ring2, disc, this.badge), make("span", {
      class: "rk-who",
      "aria-hidden": "true"
    }, name, this.doing, this.third), this.empty, this.more);
  }
  /**
   * @param {import("../film/format.js").Film} film
   * @param {import("../film/board.js").Board} board
   * @param {boolean} chosen
   */
  paint(film, board, chosen) {
    const { index } = this;
    const { state } = board.members[index];
    const ends = sessionEnds(film, index, board.at);
    const look = lookOf(state);
    set(this.node, "data-look", look);
    set(this.node, "data-doing", state.doing);
    set(this.node, "data-static", state.instanceId);
    const id = state.instanceId === null ? null : `group.instance.id=${state.instanceId}`;
    set(this.third, "title", state.error ?? id);
    set(this.node, "aria-selected", chosen ? "true" : "false");
    set(this.node, "aria-label", memberLine(film, board, index));
    set(this.session, "stroke-dasharray", sessionDashes(state, ends, board.at));
    this.paintTimers(film, board.at, ends, state.session || 1, look);
    say(this.badge, SIGNS[look] || "");
    const doing = doingLine(film, board, index);
    say(this.doing, doing);
    set(this.doing, "title", doing);
    say(this.third, thirdLine(state, ends, board));
    const owned = board.owned[index].length;
    say(this.more, owned > this.room ? `+${owned - this.room}` : "");
    say(this.empty, owned ? "" : this.withoutPartitions(film, board, state));
  }
  /**
   * Inside the ring of the session: what is left of the poll interval while the application does not poll; and a
   * tick where the ring will stand when the next heartbeat is due.
   * @param {import("../film/format.js").Film} film
   * @param {number} at
   * @param {number | null} ends
   * @param {number} length
   * @param {string} look
   */
  paintTimers(film, at, ends, length, look) {
    const left = pollLeft(film, this.index, at);
    const beat = ends === null || look !== "live" ? null : nextBeat(film, this.index, at);
    const turn = beat === null || ends === null || beat >= ends ? null : 360 * (ends - beat) / length;
    set(this.poll, "stroke-dasharray", left === null ? "0 100" : `${(100 * left).toFixed(1)} 100`);
    set(this.node, "data-silent", left === null ? null : "yes");
    set(this.tick, "transform", turn === null ? null : `rotate(${turn.toFixed(0)} 30 30)`);
    set(this.tick, "visibility", turn === null ? "hidden" : null);
  }
  /**
   * What stands in a lane without partitions.
   * @param {import("../film/format.js").Film} film
   * @param {import("../film/board.js").Board} board
   * @param {import("../film/format.js").MemberState} state
   */
  withoutPartitions(film, board, state) {
    const also = alsoRead(board, this.index).map((partition) => film.partitions[partition]);
    if (also.length) return `Still reads ${spoken(also)}: done twice.`;
    if (state.life !== "alive") return "";
    return state.standing === "member" ? "Owns nothing." : "Owns nothing yet.";
  }
};
function sessionDashes(state, ends, at) {
  if (state.session === 0 && state.life === "alive") return "2.2 2.2";
  if (ends === null) return "0 100";
  const share = 100 * (ends - at) / (state.session || 1);
  return `${Math.max(0, Math.min(100, share)).toFixed(1)} 100`;
}

// lab/board/records.js
function paintLag(token2, at, most) {
  const wide = at ? Math.min(1, Math.sqrt(Math.max(0, at.end - at.position) / most)) : 0;
  const width = `${Math.round(wide * Math.max(0, token2.box.width - 14))}px`;
  if (token2.lagWidth !== width) {
    token2.lagWidth = width;
    token2.lag.style.width = width;
  }
}
var FRESH_MS = 3e3;
function paintDelivered(token2, film, at) {
  const here = deliveriesOf(film, token2.index, at);
  paintCount(token2.twice, "\u25CE", here, "twice");
  paintCount(token2.skipped, "\u22A0", here, "skipped");
  const fresh2 = here.find((each) => at < each.at + FRESH_MS);
  set(token2.node, "data-delivered", fresh2 ? fresh2.kind : null);
}
function paintCount(node, sign, events, kind) {
  const count2 = countOf(events, kind);
  say(node, count2 ? `${sign}${thousands2(count2)}` : "");
  set(node, "title", count2 ? kindWords(events, kind) : null);
}
function thousands2(count2) {
  return count2 < 1e3 ? String(count2) : `${(count2 / 1e3).toFixed(1)}k`;
}
function paintRecords(token2, at, width, flows, whole) {
  const key = at ? `${Math.min(3, Math.max(0, at.committed))},${Math.min(3, Math.max(0, at.position - Math.max(0, at.committed)))},${Math.max(0, at.end - at.position)},${width},${flows}` : "";
  if (token2.recordsKey === key) return;
  token2.recordsKey = key;
  token2.records.replaceChildren();
  if (!at) return;
  const [done, fresh2, lag] = key.split(",").map(Number);
  if (!whole) {
    if (lag && (width >= 112 || flows)) {
      token2.records.append(make("b", {}, `\u25CF${thousands2(lag)}`));
    }
    return;
  }
  const room = Math.max(0, Math.floor((width - 70) / 11) - done - fresh2), dots = Math.min(lag, room);
  let x = 1;
  const marks = [];
  for (let i = 0; i < done; i += 1, x += 11) marks.push(make("svg:rect", {
    x,
    y: 2,
    width: 8,
    height: 8
  }));
  for (let i = 0; i < fresh2; i += 1, x += 11) {
    marks.push(make("svg:rect", {
      x: x + 0.75,
      y: 2.75,
      width: 6.5,
      height: 6.5,
      class: "rk-hollow"
    }));
  }
  marks.push(make("svg:rect", {
    x: x + 0.5,
    y: 0,
    width: 1.6,
    height: 12
  }));
  x += 5;
  for (let i = 0; i < dots; i += 1, x += 11) marks.push(make("svg:circle", {
    cx: x + 4,
    cy: 6,
    r: 4
  }));
  token2.records.append(make("svg:svg", {
    width: x + 2,
    height: 12,
    viewBox: `0 0 ${x + 2} 12`
  }, ...marks));
  if (lag > dots) token2.records.append(make("b", {}, `+${lag - dots}`));
}

// lab/board/token.js
var GHOST_MS = 1500;
var Token = class {
  /**
   * @param {string} name
   * @param {number} index
   * @param {HTMLElement} layer
   */
  constructor(name, index, layer) {
    this.name = name;
    this.index = index;
    this.layer = layer;
    this.word = make("span", {
      class: "rk-word"
    });
    this.records = make("span", {
      class: "rk-records"
    });
    this.lag = make("i", {
      class: "rk-lag"
    });
    this.twice = make("span", {
      class: "rk-twice"
    });
    this.skipped = make("span", {
      class: "rk-skipped"
    });
    this.box = {
      x: 0,
      y: 0,
      width: 0,
      height: 0
    };
    this.key = "";
    this.colours = "";
    this.recordsKey = "";
    this.lagWidth = "";
    const cut = name.lastIndexOf("-") + 1;
    const topic = make("span", {}, name.slice(0, cut));
    this.node = make("div", {
      class: "rk-token",
      "data-partition": name
    }, make("i", {
      class: "rk-notch"
    }), make("span", {
      class: "rk-part"
    }, topic, make("b", {}, name.slice(cut))), this.word, this.records, this.lag, make("span", {
      class: "rk-delivered"
    }, this.twice, this.skipped));
    layer.append(this.node);
  }
  /**
   * Draw one moment. `moving` lets the token fly.
   * @param {import("../film/format.js").Film} film
   * @param {import("../film/board.js").Board} board
   * @param {import("./sizes.js").LaneSizes} sizes
   * @param {boolean} moving
   */
  paint(film, board, sizes, moving) {
    const state = board.partitions[this.index];
    this.node.hidden = state.owner === GONE;
    if (state.owner === GONE) {
      this.key = "";
      return;
    }
    const track = film.slots[this.index];
    const slot = track.slots[Math.max(0, placeOf(track.times, board.at))];
    this.moveTo(tokenBox(sizes, state.owner, slot), moving ? ownerOf(film, state, "label", "no owner") : null, sizes.whole);
    this.colour(film, state);
    set(this.node, "data-owner", ownerOf(film, state, "name", ""));
    set(this.node, "data-word", state.word);
    set(this.node, "data-flows", state.flows ? "yes" : "no");
    say(this.word, tokenWord(film, this.index, state, board.at, this.box));
    const records = positionAt(film, this.index, board.at, state.flows);
    paintLag(this, records, film.mostLag);
    paintDelivered(this, film, board.at);
    if (this.box.height >= 50) {
      paintRecords(this, records, this.box.width, state.flows, this.box.width >= sizes.whole);
    }
  }
  /**
   * @param {import("./sizes.js").Box} box
   * @param {string | null} towards who gets it, where the token may fly
   * @param {number} whole the width from which on name and word stand side by side
   */
  moveTo(box, towards, whole) {
    const key = `${box.x},${box.y},${box.width},${box.height}`;
    if (key === this.key) return;
    const flies = towards !== null && this.key !== "";
    if (flies) this.leaveGhost(towards);
    const { classList, style } = this.node;
    classList.toggle("rk-fly", flies);
    style.transform = `translate(${box.x}px,${box.y}px)`;
    style.width = `${box.width}px`;
    style.height = `${box.height}px`;
    classList.toggle("rk-bare", !!box.bare);
    classList.toggle("rk-chip", box.height < 50);
    classList.toggle("rk-mid", box.height >= 50 && box.width < whole);
    classList.toggle("rk-tiny", box.height < 50 && box.width < Math.min(whole, 150));
    this.key = key;
    this.box = box;
  }
  /**
   * The colour of its owner, or of the last one.
   * @param {import("../film/format.js").Film} film
   * @param {import("../film/format.js").PartitionState} state
   */
  colour(film, state) {
    const shown = state.owner >= 0 ? state.owner : state.last;
    const hue = shown >= 0 ? `--rk-m${film.members[shown].hue}` : "";
    if (this.colours === (hue || "none")) return;
    this.colours = hue || "none";
    this.node.style.setProperty("--hue", hue ? `var(${hue})` : "var(--rk-ink)");
    this.node.style.setProperty("--tint", hue ? `var(${hue}t)` : "var(--rk-surface)");
  }
  /**
   * For a moment it stays seen where the token left, and whom it went to.
   * @param {string} towards
   */
  leaveGhost(towards) {
    const { x, y, width, height } = this.box;
    const style = `transform:translate(${x}px,${y}px);width:${width}px;height:${height}px`;
    const words = width < 130 ? `\u2192 ${towards}` : `${this.name} \u2192 ${towards}`;
    const ghost = make("div", {
      class: "rk-ghost",
      style
    }, words);
    this.layer.prepend(ghost);
    setTimeout(() => ghost.remove(), GHOST_MS);
  }
};
function ownerOf(film, state, key, otherwise) {
  return state.owner < 0 ? otherwise : film.members[state.owner][key];
}

// lab/board/stage.js
var OFFERED_UP_TO = 3;
var Stage = class {
  /**
   * @param {import("../film/format.js").Film} film
   * @param {import("./sizes.js").LaneSizes} sizes
   * @param {(index: number) => void} onSelect hears -1 where a lane is offered to a new member
   * @param {boolean} [offers] whether a lane is offered
   */
  constructor(film, sizes, onSelect, offers = true) {
    this.film = film;
    this.sizes = sizes;
    const size = `height:${sizes.height}px;min-width:${sizes.inner}px`;
    this.root = make("div", {
      class: "rk-stage",
      style: size
    });
    this.coordinator = new CoordinatorBar(film);
    this.board = make("div", {
      class: "rk-board",
      role: "listbox",
      "aria-label": "Members",
      tabindex: "-1"
    });
    this.railCount = make("span", {
      class: "rk-railcount"
    });
    this.railNote = make("p", {
      class: "rk-railnote"
    });
    const place = `left:${sizes.railX}px;top:${sizes.laneTop}px`;
    const room = `width:${sizes.railWidth}px;height:${sizes.height - sizes.laneTop - 10}px`;
    this.rail = make("div", {
      class: "rk-rail",
      role: "group",
      "aria-label": "No owner",
      style: `${place};${room}`
    }, make("b", {}, "No owner"), this.railCount, this.railNote);
    this.bus = new Bus(film, sizes);
    const tokenLayer = make("div", {
      class: "rk-tokens",
      "aria-hidden": "true"
    });
    this.lanes = film.members.map((member) => new Lane(member, sizes, onSelect));
    this.board.append(...this.lanes.map((lane) => lane.node));
    this.tokens = film.partitions.map((name, index) => new Token(name, index, tokenLayer));
    this.root.append(this.coordinator.root, this.bus.root, this.rail, this.board, tokenLayer);
    if (offers) this.offerLane(onSelect);
  }
  /**
   * A small group offers room for one more lane.
   * @param {(index: number) => void} onSelect
   */
  offerLane(onSelect) {
    const { members } = this.film;
    if (members.length >= OFFERED_UP_TO) return;
    const box = laneBox({
      ...this.sizes,
      rows: 99
    }, members.length);
    const style = `left:${box.x}px;top:${box.y}px;width:${box.width}px;height:${box.height}px`;
    const looks = {
      type: "button",
      class: "rk-offer",
      "aria-label": "Add a member",
      style
    };
    const node = make("button", looks, "+ Add a member");
    node.addEventListener("click", () => onSelect(-1));
    this.root.append(node);
  }
  /**
   * Another film of the same members and partitions, and of the same sizes: nothing has to be built anew.
   * @param {import("../film/format.js").Film} film
   * @param {import("./sizes.js").LaneSizes | { inner: number }} sizes
   */
  adopt(film, sizes) {
    const named = ({ group: group3, members, partitions }) => [
      group3,
      members.map(({ name }) => name),
      partitions
    ];
    if (!alike([
      named(film),
      sizes
    ], [
      named(this.film),
      this.sizes
    ])) return false;
    this.film = this.bus.film = film;
    return true;
  }
  /**
   * Draw one moment. `moving` lets tokens fly; scrubbing shows states, never flights.
   * @param {import("../film/board.js").Board} board
   * @param {number} selected
   * @param {boolean} moving
   */
  paint(board, selected, moving) {
    this.coordinator.paint(this.film, board);
    this.lanes.forEach((lane, index) => lane.paint(this.film, board, selected === index));
    this.tokens.forEach((token2) => token2.paint(this.film, board, this.sizes, moving));
    const orphans = this.film.partitions.filter((_, index) => board.partitions[index].owner === -1);
    say(this.railCount, orphans.length ? String(orphans.length) : "");
    say(this.railNote, orphans.length ? this.waits(board) : "Every partition has an owner.");
    set(this.rail, "data-count", orphans.length);
    set(this.rail, "aria-label", `No owner: ${orphans.length ? spoken(orphans) : "none"}`);
  }
  /**
   * Since when the longest of the ownerless partitions is unread.
   * @param {import("../film/board.js").Board} board
   */
  waits(board) {
    const { partitionTracks, partitionStates } = this.film;
    const since = board.partitions.flatMap((state, index) => state.owner === -1 ? sinceWhen(partitionTracks[index], partitionStates, board.at, (earlier) => !earlier.flows) : []);
    const subject = since.length > 1 ? "The longest" : "It";
    return `${subject} has been unread for ${seconds(board.at - Math.min(...since))}.`;
  }
  /** @param {import("../film/format.js").Message} message */
  pill(message) {
    this.bus.pill(message);
  }
};
function alike(one, other) {
  return JSON.stringify(one) === JSON.stringify(other);
}

// lab/board/filter.js
var LATELY_MS = 5e3;
var FILTERS = [
  [
    "all",
    "All",
    () => true
  ],
  [
    "unread",
    "Unread",
    (_, board, index) => board.owned[index].some((each) => !board.partitions[each].flows)
  ],
  [
    "changed",
    "Changed",
    changedLately
  ],
  [
    "absent",
    "Not joined",
    (_, board, index) => board.members[index].state.standing !== "member"
  ]
];
var Filter = class {
  /**
   * @param {() => void} again draws the tiles anew
   * @param {(index: number) => void} choose
   */
  constructor(again, choose) {
    this.again = again;
    this.choose = choose;
    this.chosen = "all";
    this.query = "";
    this.first = -1;
    this.chips = FILTERS.map(([name, words]) => {
      const count2 = make("span", {});
      const node = make("button", {
        type: "button",
        class: "rk-chipbutton",
        "data-filter": name
      }, words, count2);
      node.addEventListener("click", () => this.pick(name));
      return {
        node,
        count: count2
      };
    });
    this.field = make("input", {
      type: "search",
      placeholder: "member or partition",
      "aria-label": "Search members and partitions"
    });
    this.field.addEventListener("input", () => this.search(this.field.value));
    this.field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && this.first >= 0) this.choose(this.first);
    });
    const row = make("div", {
      class: "rk-chipbuttons"
    }, ...this.chips.map(({ node }) => node));
    const looks = {
      class: "rk-filter",
      role: "group",
      "aria-label": "Which members stand out"
    };
    this.note = make("p", {
      class: "rk-filternote",
      role: "status"
    });
    this.root = make("div", looks, this.note, this.field, row);
    this.mark();
  }
  /** @param {string} name */
  pick(name) {
    this.chosen = this.chosen === name ? "all" : name;
    this.mark();
    this.again();
  }
  /** @param {string} text */
  search(text3) {
    this.query = text3.trim().toLowerCase();
    this.again();
  }
  /**
   * While something is searched, say what the selected member does, or that nobody was found.
   * @param {string} line of the selected member
   */
  tell(line2) {
    const words = this.first < 0 ? `No member is called ${this.query}.` : line2;
    say(this.note, this.query ? words : "");
  }
  mark() {
    this.chips.forEach(({ node }) => set(node, "aria-pressed", node.dataset.filter === this.chosen ? "true" : "false"));
  }
  /**
   * Which members stand out at this moment; the chips say how many each filter has.
   * @param {Film} film
   * @param {Board} board
   * @returns {boolean[]}
   */
  passing(film, board) {
    const tests = FILTERS.map(([, , test]) => board.members.map((_, index) => test(film, board, index)));
    tests.forEach((passed, place) => say(this.chips[place].count, ` ${passed.filter(Boolean).length}`));
    const chosen = tests[FILTERS.findIndex(([name]) => name === this.chosen)];
    const passing = chosen.map((passed, index) => passed && this.found(film, board, index));
    this.first = this.query ? passing.indexOf(true) : -1;
    return passing;
  }
  /** @type {Test} */
  found(film, board, index) {
    const { query } = this;
    if (!query) return true;
    const { name, label } = board.members[index];
    const exact = [
      name,
      label,
      ...board.owned[index].map((each) => film.partitions[each])
    ];
    return exact.some((each) => each.toLowerCase() === query) || !/\d$/.test(query) && exact.some((each) => each.toLowerCase().includes(query));
  }
  /** What distinguishes one drawing from another. */
  get key() {
    return `${this.chosen}/${this.query}`;
  }
};
function changedLately(film, board, index) {
  const since = board.at - LATELY_MS;
  const tracks = [
    film.memberTracks[index],
    ...board.owned[index].map((each) => film.partitionTracks[each])
  ];
  return tracks.some(({ times }) => {
    const place = placeOf(times, board.at);
    return place > 0 && times[place] > since;
  });
}

// lab/board/tile_painter.js
var TILE_HEIGHT = 40;
var FONT = "600 12px system-ui, sans-serif";
var AWAY = (
  /** @type {Record<string, string>} */
  {
    gone: "gone",
    closed: "left",
    absent: "not started"
  }
);
var FRAMED = /* @__PURE__ */ new Set([
  "crashed",
  "gone",
  "frozen",
  "died",
  "fenced",
  "zombie"
]);
var COLOURS2 = [
  "sunk",
  "ink",
  "ink3",
  "alert"
];
var TilePainter = class {
  /**
   * @param {CanvasRenderingContext2D} pen
   * @param {import("../time/painter.js").Painter} painter
   * @param {number} width of a tile
   */
  constructor(pen, painter, width) {
    this.pen = pen;
    this.painter = painter;
    this.width = width;
    this.colours = Object.fromEntries(COLOURS2.map((name) => [
      name,
      painter.colour(name)
    ]));
  }
  /**
   * @param {Board} board
   * @param {import("../film/board.js").SeatedMember} member
   * @param {Place} place
   */
  draw(board, member, { x, y }) {
    const { pen, colours } = this;
    const look = lookOf(member.state);
    pen.fillStyle = colours.sunk;
    pen.beginPath();
    pen.roundRect(x, y, this.width, TILE_HEIGHT, 7);
    pen.fill();
    if (FRAMED.has(look)) this.drawFrame();
    pen.fillStyle = this.painter.colour(`m${member.hue}`);
    pen.beginPath();
    pen.arc(x + 14, y + 11, 6, 0, 7);
    pen.fill();
    this.drawPattern(member.pattern, x + 14, y + 11, this.painter.colour(`m${member.hue}o`));
    this.write(member.label, x + 24, y + 15, "left", colours.ink);
    const away = AWAY[look];
    if (away) {
      this.write(away, x + this.width / 2, y + 32, "center", look === "gone" ? colours.alert : colours.ink3);
    }
    const seat = member.seat === "joined" ? "\u2713" : "\u25CB";
    const sign = look === "live" ? board.phase ? seat : "" : SIGNS[look] || "";
    this.write(sign, x + this.width - 6, y + 15, "right", look === "live" ? colours.ink : colours.alert);
    this.drawCells(board, board.owned[member.index], x + 7, y + 20);
  }
  /**
   * @param {string} words
   * @param {number} x
   * @param {number} y
   * @param {CanvasTextAlign} align
   * @param {string} ink
   */
  write(words, x, y, align, ink) {
    this.pen.font = FONT;
    this.pen.textAlign = align;
    this.pen.fillStyle = ink;
    this.pen.fillText(words, x, y);
  }
  // A dashed line around what was just filled.
  drawFrame() {
    const { pen } = this;
    pen.strokeStyle = this.colours.alert;
    pen.lineWidth = 1.5;
    pen.setLineDash([
      4,
      3
    ]);
    pen.stroke();
    pen.setLineDash([]);
  }
  /**
   * From the thirteenth member on hues come again, and a pattern tells the members apart.
   * @param {number} kind
   * @param {number} x
   * @param {number} y
   * @param {string} colour
   */
  drawPattern(kind, x, y, colour) {
    if (!kind) return;
    const { pen } = this;
    pen.strokeStyle = pen.fillStyle = colour;
    pen.lineWidth = 1.6;
    pen.beginPath();
    if (kind === 2) {
      [
        [
          -2.5,
          -2
        ],
        [
          2.5,
          -2
        ],
        [
          0,
          2.5
        ]
      ].forEach(([dx, dy]) => pen.rect(x + dx - 1, y + dy - 1, 2, 2));
      pen.fill();
      return;
    }
    const lines = kind === 3 ? [
      [
        -5,
        -2,
        5,
        -2
      ],
      [
        -5,
        2,
        5,
        2
      ]
    ] : [
      [
        -4,
        4,
        4,
        -4
      ]
    ];
    if (kind === 4) lines.push([
      -4,
      -4,
      4,
      4
    ]);
    for (const [x1, y1, x2, y2] of lines) {
      pen.moveTo(x + x1, y + y1);
      pen.lineTo(x + x2, y + y2);
    }
    pen.stroke();
  }
  /**
   * @param {Board} board
   * @param {number[]} owned
   * @param {number} left
   * @param {number} top
   */
  drawCells(board, owned, left, top) {
    const side = owned.length <= 12 ? 7 : owned.length <= 20 ? 5 : 3;
    const across = Math.floor((this.width - 11) / (side + 2));
    owned.forEach((partition, place) => {
      const x = left + place % across * (side + 2);
      const y = top + Math.floor(place / across) * (side + 2);
      if (y + side <= top + 19) this.drawCell(board.partitions[partition], x, y, side);
    });
  }
  /**
   * @param {import("../film/format.js").PartitionState} state
   * @param {number} x
   * @param {number} y
   * @param {number} side
   */
  drawCell({ flows, word }, x, y, side) {
    const { pen, colours } = this;
    if (flows) {
      pen.fillStyle = colours.ink3;
      pen.fillRect(x, y, side, side);
      return;
    }
    const bad = ALERTING.has(word);
    pen.strokeStyle = bad ? colours.alert : colours.ink;
    pen.lineWidth = 1.2;
    pen.strokeRect(x + 0.6, y + 0.6, side - 1.2, side - 1.2);
    if (!bad) return;
    pen.beginPath();
    pen.moveTo(x + 2, y + 2);
    pen.lineTo(x + side - 2, y + side - 2);
    pen.moveTo(x + side - 2, y + 2);
    pen.lineTo(x + 2, y + side - 2);
    pen.stroke();
  }
};

// lab/board/tiles.js
var TILE = 78;
var NARROW_TILE = 64;
var TILE_GAP = 4;
var MOST_ROWS2 = 12;
var LISTED2 = 6;
var PALE = 0.18;
var Tiles = class {
  /**
   * @param {import("../film/format.js").Film} film
   * @param {{ inner: number }} sizes
   * @param {(index: number) => void} onSelect
   */
  constructor(film, { inner }, onSelect) {
    this.film = film;
    this.width = inner - RAIL - GAP2;
    this.top = COORDINATOR + 8;
    const count2 = film.members.length, room = FULL_HEIGHT - this.top - 6 + TILE_GAP;
    const across = (wide) => Math.floor((this.width + TILE_GAP) / (wide + TILE_GAP));
    const fewest = Math.ceil(count2 / Math.floor(room / (TILE_HEIGHT + TILE_GAP)));
    this.columns = Math.max(4, across(TILE), Math.min(across(NARROW_TILE), fewest));
    this.tile = Math.floor((this.width + TILE_GAP) / this.columns) - TILE_GAP;
    const rows2 = Math.min(Math.ceil(count2 / this.columns), MOST_ROWS2);
    this.height = Math.max(FULL_HEIGHT, this.top + rows2 * (TILE_HEIGHT + TILE_GAP) + 2);
    const size = `height:${this.height}px;min-width:${inner}px`;
    this.root = make("div", {
      class: "rk-stage",
      style: size
    });
    this.coordinator = new CoordinatorBar(film);
    this.canvas = make("canvas", {
      class: "rk-tiles",
      "aria-hidden": "true",
      style: `top:${this.top}px`
    });
    this.board = make("div", {
      class: "rk-board",
      role: "listbox",
      "aria-label": "Members",
      tabindex: "-1"
    });
    this.lanes = film.members.map((member) => ({
      node: this.makeTile(member, onSelect),
      key: ""
    }));
    this.board.append(...this.lanes.map(({ node }) => node));
    this.railCount = make("span", {
      class: "rk-railcount"
    });
    this.railList = make("p", {
      class: "rk-raillist"
    });
    const place = `left:${inner - RAIL}px;top:${this.top}px;width:${RAIL}px`;
    const style = `${place};height:${this.height - this.top - 6}px`;
    const looks = {
      class: "rk-rail",
      role: "group",
      "aria-label": "No owner",
      style
    };
    this.filter = new Filter(() => this.shown && this.draw(this.shown), onSelect);
    const title = make("b", {}, "No owner");
    const rail = make("div", looks, title, this.railCount, this.railList, this.filter.root);
    this.shown = null;
    this.root.append(this.coordinator.root, this.canvas, this.board, rail);
    this.key = "";
    this.line = "";
  }
  /**
   * Another film of the same members and partitions: nothing has to be built anew.
   * @param {import("../film/format.js").Film} film
   */
  adopt(film) {
    const same = film.partitions.length === this.film.partitions.length && film.members.length === this.film.members.length && film.members.every((member, index) => member.name === this.film.members[index].name);
    if (!same) return false;
    this.film = film;
    this.key = "";
    this.lanes.forEach((lane) => lane.key = "");
    return true;
  }
  /**
   * @param {import("../film/format.js").Member} member
   * @param {(index: number) => void} onSelect
   */
  makeTile({ name, index }, onSelect) {
    const { x, y } = this.place(index);
    const style = `left:${x}px;top:${this.top + y}px;width:${this.tile}px;height:${TILE_HEIGHT}px`;
    const looks = {
      class: "rk-lane rk-tile",
      role: "option",
      tabindex: "-1",
      title: name,
      style
    };
    const node = make("div", {
      ...looks,
      "data-member": name
    });
    node.addEventListener("click", () => onSelect(index));
    return node;
  }
  /**
   * Where a tile stands on the canvas.
   * @param {number} index
   */
  place(index) {
    return {
      x: index % this.columns * (this.tile + TILE_GAP),
      y: Math.floor(index / this.columns) * (TILE_HEIGHT + TILE_GAP)
    };
  }
  /**
   * @param {import("../film/board.js").Board} board
   * @param {number} selected
   */
  paint(board, selected) {
    this.coordinator.paint(this.film, board);
    this.lanes.forEach((lane, index) => {
      set(lane.node, "aria-selected", selected === index ? "true" : "false");
      const { state } = board.members[index];
      const stopped = board.owned[index].filter((partition) => !board.partitions[partition].flows).length;
      const key = `${lookOf(state)}/${state.doing}/${board.owned[index].length}/${stopped}`;
      if (lane.key === key) return;
      lane.key = key;
      set(lane.node, "data-look", lookOf(state));
      set(lane.node, "aria-label", memberLine(this.film, board, index));
    });
    const orphans = this.film.partitions.filter((_, index) => board.partitions[index].owner === -1);
    say(this.railCount, orphans.length ? String(orphans.length) : "");
    this.list(orphans);
    this.line = board.members[selected] ? memberLine(this.film, board, selected) : "";
    this.draw(board);
  }
  /**
   * The first of the ownerless partitions, none of them broken.
   * @param {string[]} orphans
   */
  list(orphans) {
    const more = orphans.length > LISTED2 ? `and ${orphans.length - LISTED2} more` : "";
    const words = orphans.length ? [
      ...orphans.slice(0, LISTED2),
      more
    ] : [
      "Every partition has an owner."
    ];
    if (this.railList.textContent === words.join(" ")) return;
    const whole = orphans.length ? {
      class: "rk-whole"
    } : {};
    this.railList.replaceChildren(...words.flatMap((each) => [
      make("span", whole, each),
      " "
    ]));
    this.railList.lastChild?.remove();
  }
  /** @param {import("../film/board.js").Board} board */
  draw(board) {
    const partitions = board.partitions.map(({ owner, word }) => `${owner}${word}`).join();
    const members = board.members.map(({ state }) => state.doing).join();
    this.shown = board;
    const passing = this.filter.passing(this.film, board);
    this.filter.tell(this.line);
    const key = `${partitions}${members}${board.group.state}${this.filter.key}${passing}`;
    if (key === this.key) return;
    this.key = key;
    this.lanes.forEach(({ node }, index) => set(node, "data-out", passing[index] ? null : "yes"));
    const pen = sharpPen(this.canvas, this.width, this.height - this.top);
    const painter = new TilePainter(pen, new Painter(this.root), this.tile);
    board.members.forEach((member) => {
      pen.globalAlpha = passing[member.index] ? 1 : PALE;
      painter.draw(board, member, this.place(member.index));
    });
  }
  // Tiles have no bus: nothing flies.
  pill() {
  }
};

// lab/guide/lead.js
function leadOf(lab) {
  const { ui, guide, predict, comparison } = lab;
  if (predict.on) return null;
  if (guide.on) return ui.nextButton;
  if (comparison.view) return ui.playButton;
  const { guided, guide: along, alone } = lab.model.get("controls");
  if (alone) return along ? ui.guideButton : ui.playButton;
  return guided ? ui.guideButton : ui.actions[0].node;
}
function paintLead(lab) {
  const lead = leadOf(lab);
  const before = lab.ui.root.querySelectorAll(".rk-lead");
  for (const node of before) if (node !== lead) node.classList.remove("rk-lead");
  lead?.classList.add("rk-lead");
}

// lab/screen/speaker.js
var APART_MS2 = 1500;
var Speaker = class {
  /** @param {Node} region */
  constructor(region) {
    this.region = region;
    this.place = -1;
    this.spokenAt = 0;
    this.waiting = 0;
  }
  /**
   * @param {number} place which sentence it is; the same one is said once
   * @param {string} words
   * @param {boolean} playing
   */
  speak(place, words, playing) {
    if (place === this.place) return;
    this.place = place;
    clearTimeout(this.waiting);
    const wait = Math.max(0, APART_MS2 - (performance.now() - this.spokenAt));
    this.waiting = setTimeout(() => {
      this.spokenAt = performance.now();
      say(this.region, words);
    }, playing ? wait : 0);
  }
  /** Say the present sentence again at the next look. */
  repeat() {
    this.place = -1;
  }
};

// lab/screen/screen.js
var PRESENTED = 580;
var ENLARGED = [
  [
    1750,
    1.4
  ],
  [
    1500,
    1.25
  ],
  [
    0,
    1
  ]
];
var NARROW = Object.freeze({
  "rk-snug": 1130,
  "rk-tight": 960,
  "rk-thin": 900
});
var MOST_SQUARES = 24;
var Screen = class {
  /** @param {import("../lab.js").Lab} lab */
  constructor(lab) {
    this.lab = lab;
    this.speaker = new Speaker(lab.ui.status);
    this.cause = new Said(lab, lab.ui.cause);
    this.effect = new Said(lab, lab.ui.effect);
    this.stage = null;
    this.width = 0;
    this.outer = 0;
    this.beside = 0;
    this.tall = PRESENTED;
    this.lesson = "";
    this.meterKey = null;
  }
  /** The width there is, in the lab's own pixels. */
  room() {
    const { el, ui, presenter } = this.lab;
    if (!presenter.on) {
      const wide = el.clientWidth || 1040;
      const [, large] = ENLARGED.find(([from]) => wide >= from) ?? [
        0,
        1
      ];
      ui.root.style.zoom = large > 1 ? String(large) : "";
      this.measureWindow(large);
      return Math.floor(wide / large) - (ui.root.offsetWidth - ui.root.clientWidth);
    }
    const zoom = Math.max(0.6, Math.min(innerWidth / 960, innerHeight / this.tall));
    ui.root.style.zoom = zoom.toFixed(3);
    this.measureWindow(zoom);
    return Math.floor(innerWidth / zoom);
  }
  /**
   * The window's height in the lab's own pixels, for what must not be taller.
   * @param {number} zoom
   */
  measureWindow(zoom) {
    this.lab.ui.root.style.setProperty("--rk-window", `${Math.floor(innerHeight / zoom)}px`);
  }
  /** Measure again, even where the width is the same: another theme has other sizes. */
  refit() {
    this.width = 0;
    this.tall = PRESENTED;
    this.fit();
  }
  fit() {
    const { film, strip, selected } = this.lab;
    if (!film) return;
    const outer = this.room();
    const beside = this.lab.drawer.besideOf(outer);
    const width = Math.max(720, outer - (beside || this.lab.pane.widthOf(outer)));
    if (this.stage && this.width === width && this.outer === outer && this.beside === beside) return;
    this.width = width;
    this.outer = outer;
    this.beside = beside;
    this.markNarrow();
    const focused = this.stage && this.stage.root.contains(document.activeElement);
    this.stage = this.makeStage(width);
    strip.show(film, Math.max(360, outer), this.lesson);
    this.showStage();
    reserveGuideBar(this.lab);
    if (this.lab.drawer.open) this.lab.drawer.place(null);
    if (focused && this.stage.lanes[selected]) this.stage.lanes[selected].node.focus();
    this.showAll();
  }
  /** All of a narrow lab is set tighter, or only what an open drawer leaves little room. */
  markNarrow() {
    const { outer, beside } = this, { root, viewbar, middle } = this.lab.ui;
    root.classList.toggle("rk-beside", beside > 0);
    for (const [name, least] of Object.entries(NARROW)) {
      root.classList.toggle(name, outer < least);
      [
        viewbar,
        middle
      ].forEach((part) => part.classList.toggle(name, beside > 0 && outer - beside < least));
    }
  }
  /** Presenting, the strip and its axis stay on the screen: where they would not, everything is drawn smaller. */
  showAll() {
    const { ui, presenter, comparison } = this.lab;
    if (!presenter.on || comparison.view || this.tall !== PRESENTED) return;
    const { scrollHeight, clientHeight } = ui.root;
    if (scrollHeight <= clientHeight) return;
    this.tall = scrollHeight + 2;
    this.width = 0;
    this.fit();
  }
  /** @param {number} width */
  makeStage(width) {
    const { film } = this.lab;
    const onSelect = (index) => this.onSelect(index);
    const sizes = this.sizesOf(film, width);
    const offers = !this.lab.alone;
    return "cells" in sizes ? new Stage(film, sizes, onSelect, offers) : new Tiles(film, sizes, onSelect);
  }
  /**
   * @param {import("../film/format.js").Film} film
   * @param {number} width
   */
  sizesOf(film, width) {
    return measure(film, width, this.lab.ui.root.classList.contains("rk-projector"));
  }
  /** @param {number} index */
  onSelect(index) {
    if (index < 0) {
      this.lab.act("add");
      return;
    }
    this.lab.select(index);
    this.stage.lanes[index].node.focus();
  }
  /** Take another film; a stage that fits it is kept. */
  takeFilm() {
    const { film, strip, model } = this.lab;
    this.lesson = String(model.get("controls").preset ?? "");
    this.speaker.repeat();
    if (this.stage?.adopt(film, this.sizesOf(film, this.width))) {
      strip.show(film, Math.max(360, this.outer), this.lesson);
      this.showStage();
    } else {
      this.stage = null;
      this.fit();
    }
  }
  /** Say in place of the board why there is none. */
  refuseFilm(words) {
    this.lab.ui.stageHome.replaceChildren(make("p", {
      class: "rk-wait",
      role: "alert"
    }, words));
  }
  /** Which picture stands on the stage; its height stays what the board needs, so that no notebook jumps. */
  showStage() {
    if (!this.stage) return;
    const { ui, panels, comparison } = this.lab;
    const node = comparison.view?.root ?? (panels.name === "flow" ? this.stage.root : panels.panel);
    if (node !== this.stage.root) node.style.height = comparison.view ? "" : this.stage.root.style.height;
    const here = ui.stageHome.firstChild === node;
    const inside = !here && ui.stageHome.contains(document.activeElement);
    if (!here) ui.stageHome.replaceChildren(node);
    panels.list.hidden = comparison.view !== null;
    this.lab.pane.place();
    ui.root.classList.toggle("rk-comparing", comparison.view !== null);
    this.paint(false);
    if (inside) this.focusAfterChange();
  }
  focusAfterChange() {
    const { panels, comparison } = this.lab;
    if (comparison.view) comparison.view.root.focus();
    else if (panels.name === "flow") this.focusTarget().focus();
    else panels.tabOf(panels.name).focus();
  }
  /** Where the keys of the board go. */
  focusTarget() {
    return this.stage.lanes[this.lab.selected]?.node ?? this.stage.board;
  }
  /**
   * Draw the moment at the cursor.
   * @param {boolean} moving
   */
  paint(moving) {
    if (!this.stage) return;
    const { film, player, panels, comparison, selected, strip, ui } = this.lab;
    const board = boardAt(film, player.at);
    if (comparison.view) comparison.view.paint(player.at);
    else if (panels.name !== "flow") panels.paint(moving);
    else this.stage.paint(board, selected, moving && player.playing);
    this.stage.lanes.forEach((lane, index) => set(lane.node, "tabindex", index === selected ? "0" : "-1"));
    const [cause, effect, place] = sentenceAt(film, player.at);
    this.cause.say(cause);
    this.effect.say(effect);
    this.paintMeter(board);
    const clock = seconds(player.at).replace(" s", " seconds");
    strip.paint(player.at, `${clock}, ${board.group.state}, ${board.flowing} of ${board.there} flow`);
    this.paintTransport();
    this.paintActions(board);
    paintGuideBar(this.lab);
    this.lab.pane.paint(player.at);
    paintLead(this.lab);
    if (!this.lab.guide.on) {
      this.speaker.speak(place, `${seconds(player.at)} ${cause} ${effect}`, player.playing);
    }
    if (!player.playing) say(ui.twin, comparison.view ? comparison.view.twin : twinText(film, board));
  }
  /** @param {Board} board */
  paintMeter(board) {
    const { film, ui } = this.lab;
    const many = film.partitions.length > MOST_SQUARES;
    const share = 100 * board.flowing / board.there;
    const percent = `${share.toFixed(board.flowing % board.there ? 1 : 0)} %`;
    say(ui.flowing, many ? percent : `${board.flowing} of ${board.there}`);
    const key = many ? "" : board.partitions.map((state) => `${state.owner}${state.flows}`).join();
    if (this.meterKey === key) return;
    this.meterKey = key;
    const shown = many ? [] : board.partitions.filter((state) => state.owner !== GONE);
    ui.meter.replaceChildren(...shown.map((state) => {
      if (!state.flows) return make("i", {
        class: state.owner < 0 ? "rk-none" : "rk-stop"
      });
      return make("i", {
        style: `background:var(--rk-m${film.members[state.owner].hue})`
      });
    }));
  }
  paintTransport() {
    const { player, ui } = this.lab;
    const does = player.playing ? "Pause" : "Play";
    if (ui.playButton.getAttribute("aria-label") !== does) {
      ui.playButton.replaceChildren(icon(player.playing ? "pause" : "play"));
    }
    set(ui.playButton, "aria-label", does);
    say(ui.clock, seconds(player.at));
    say(ui.pace, player.playing && player.speed === "Auto" ? `${player.pace(player.at)} \xD7` : "");
  }
  /** @param {Board} board */
  paintActions(board) {
    const { ui, selected } = this.lab;
    const member = board.members[selected];
    say(ui.who, member ? `${member.name} selected` : "nobody selected");
    const frozen = member?.state.life === "frozen";
    for (const { node, action } of ui.actions) {
      const refused = refusalOf(this.lab, action.do);
      set(node, "aria-disabled", refused ? "true" : "false");
      set(node, "title", refused || null);
      const words = action.do === "freeze" && frozen ? "Thaw" : action.words;
      const text3 = (
        /** @type {Text} */
        node.firstChild
      );
      if (text3.data !== words) text3.data = words;
      set(node, "aria-label", member ? `${words} ${member.name}` : words);
    }
  }
};

// lab/screen/theme.js
var THEMES3 = Object.freeze([
  "light",
  "dark",
  "projector"
]);
var Options = class {
  constructor() {
    this.letters = true;
    this.pills = "all";
    this.calm = null;
  }
  get still() {
    return this.calm ?? matchMedia("(prefers-reduced-motion: reduce)").matches;
  }
};
var Theme = class {
  /** @param {import("../lab.js").Lab} lab */
  constructor(lab) {
    this.lab = lab;
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.onChange = () => this.apply();
    this.dark.addEventListener("change", this.onChange);
    this.watch = new MutationObserver(this.onChange);
    this.watch.observe(document.body, {
      attributes: true,
      attributeFilter: [
        "data-jp-theme-light"
      ]
    });
  }
  close() {
    this.dark.removeEventListener("change", this.onChange);
    this.watch.disconnect();
  }
  get name() {
    const { model, presenter } = this.lab;
    const chosen = model.get("theme");
    const theme = presenter.on && chosen !== "dark" ? "projector" : chosen;
    if (theme !== "auto") return theme;
    const light = document.body.getAttribute("data-jp-theme-light");
    if (light === "true" || light === "false") return light === "true" ? "light" : "dark";
    return this.dark.matches ? "dark" : "light";
  }
  /** Put the classes on, and measure again. */
  apply() {
    this.mark();
    if (this.lab.screen.stage) this.lab.screen.refit();
  }
  mark() {
    const { classList } = this.lab.ui.root;
    const { name } = this;
    THEMES3.forEach((each) => classList.toggle(`rk-${each}`, each === name));
    if (this.lab.presenter.on) classList.add("rk-projector");
    classList.toggle("rk-calm", this.lab.options.still);
  }
};

// lab/time/cursor.js
var Cursor = class {
  /** @param {import("../lab.js").Lab} lab */
  constructor(lab) {
    this.lab = lab;
    this.sent = -1;
  }
  /** The kernel has moved it. */
  follow() {
    const { film, player, model } = this.lab;
    const at = model.get("cursor_ms");
    if (!film || player.playing || at === this.sent || at === Math.round(player.at)) return;
    player.seek(at);
    this.lab.paint(false);
  }
  /** The page has moved it. */
  send() {
    const { player, model } = this.lab;
    this.sent = Math.round(player.at);
    if (model.get("cursor_ms") === this.sent) return;
    model.set("cursor_ms", this.sent);
    model.save_changes();
  }
};

// lab/time/marks.js
var WEIGHT = (
  /** @type {Record<string, number>} */
  {
    fault: 0,
    skipped: 1,
    twice: 2,
    timer: 3,
    action: 4,
    rebalance: 5
  }
);
var SIDE2 = 6;
var LETTER2 = 6.6;
var SIGN = 12;
var MOST_SIGNS = 3;
function clusters(marks, scale) {
  const found = [];
  for (const mark of marks.filter((each) => each.kind !== "done" && each.at > 0)) {
    const last = found[found.length - 1];
    if (last && scale.x(mark.at) - last.x < SIGN) last.marks.push(mark);
    else found.push({
      x: scale.x(mark.at),
      marks: [
        mark
      ],
      signs: [],
      words: "",
      kind: ""
    });
  }
  for (const cluster of found) {
    const byWeight = [
      ...cluster.marks
    ].sort((a, b) => WEIGHT[a.kind] - WEIGHT[b.kind] || a.at - b.at);
    const kinds = byWeight.filter((mark, place) => mark.kind !== byWeight[place - 1]?.kind);
    const others = kinds.filter((mark) => mark.kind !== "rebalance");
    cluster.signs = (others.length ? others : kinds).slice(0, MOST_SIGNS);
    cluster.kind = byWeight[0].kind;
    cluster.words = cluster.kind === "rebalance" ? "" : byWeight[0].words;
  }
  return found;
}
function labelled(shown, scale, large = 1) {
  const sign = SIGN * large;
  let taken = shown.map((cluster) => {
    const from = cluster.x - SIDE2;
    return {
      from,
      to: from + sign * cluster.signs.length,
      cluster
    };
  });
  const labels = /* @__PURE__ */ new Map();
  const wordy = shown.filter((cluster) => cluster.words);
  for (const cluster of wordy.sort((a, b) => WEIGHT[a.kind] - WEIGHT[b.kind] || a.x - b.x)) {
    const room = cluster.words.length * LETTER2 * large + 16 + sign * (cluster.signs.length - 1);
    const sides = [
      false,
      true
    ].map((flip) => {
      const [from, to] = flip ? [
        cluster.x - room,
        cluster.x + SIDE2
      ] : [
        cluster.x,
        cluster.x + room
      ];
      const inWay = taken.filter((other) => other.cluster !== cluster && other.from < to && other.to > from);
      return {
        flip,
        from,
        to,
        inWay
      };
    }).filter(({ from, to }) => from >= 0 && to <= scale.width);
    const weaker = cluster.kind === "fault" ? "rebalance" : "";
    const side = sides.find(({ inWay }) => !inWay.length) ?? sides.find(({ inWay }) => inWay.every((other) => other.cluster.kind === weaker));
    if (!side) continue;
    side.inWay.forEach((other) => other.cluster.signs = []);
    taken = [
      ...taken.filter((other) => !side.inWay.includes(other)),
      {
        ...side,
        cluster
      }
    ];
    labels.set(cluster, side.flip);
  }
  return labels;
}

// lab/time/strip.js
var STEPS_S2 = [
  1,
  2,
  5,
  10,
  15,
  30,
  60,
  120,
  300,
  600,
  1800,
  3600
];
var MOST_TICKS3 = 10;
var HEIGHT3 = 36;
var MARGIN = 26;
var LARGER3 = 1.25;
var PALE2 = 0.5;
var SIGNS2 = (
  /** @type {Record<string, string>} */
  {
    fault: "\xD7",
    rebalance: "\u25C6",
    timer: "\u25F7",
    action: "+",
    twice: "\u25CE",
    skipped: "\u22A0"
  }
);
var Strip = class {
  /** @param {(at: number, dragging: boolean) => void} onSeek */
  constructor(onSeek) {
    this.scale = new Scale(0, 1, 1);
    this.film = /** @type {import("../film/format.js").Film} */
    /** @type {unknown} */
    null;
    this.width = 0;
    this.reach = 0;
    this.lesson = "";
    this.at = 0;
    this.words = "";
    this.rows = make("div", {
      class: "rk-striprows",
      "aria-hidden": "true"
    });
    this.rows.append(make("span", {}, "rebalance"), make("span", {}, "unread"));
    this.would = make("span", {
      class: "rk-would",
      "aria-hidden": "true"
    });
    this.marks = make("div", {
      class: "rk-marks",
      "aria-hidden": "true"
    });
    this.canvas = make("canvas", {
      "aria-hidden": "true"
    });
    this.clock = make("b");
    this.cursor = make("i", {
      class: "rk-cursor",
      "aria-hidden": "true"
    }, this.clock);
    this.axis = make("div", {
      class: "rk-axis",
      "aria-hidden": "true"
    });
    const slides = {
      type: "range",
      class: "rk-slider",
      min: 0,
      step: 100,
      "aria-label": "Time"
    };
    this.slider = make("input", slides);
    this.root = make("div", {
      class: "rk-strip"
    }, this.marks, this.canvas, this.rows, this.would, this.axis, this.cursor, this.slider);
    this.marks.addEventListener("click", ({ target }) => {
      const mark = (
        /** @type {Element} */
        target.closest(".rk-mark")
      );
      if (mark instanceof HTMLElement) onSeek(Number(mark.dataset.at), false);
    });
    this.slider.addEventListener("input", () => onSeek(Number(this.slider.value), true));
    this.slider.addEventListener("change", () => onSeek(Number(this.slider.value), false));
  }
  /**
   * @param {import("../film/format.js").Film} film
   * @param {number} width
   * @param {string} lesson as long as it stays the same, the axis never shrinks
   */
  show(film, width, lesson) {
    this.film = film;
    this.width = width;
    if (lesson !== this.lesson) this.reach = 0;
    this.lesson = lesson;
    this.draw(null, film.end);
  }
  /**
   * Show pale, right of a moment, what a deed would make of the run; the axis is long enough for both.
   * @param {import("../film/format.js").Film} then
   * @param {number} from
   * @param {string} words
   */
  ghost(then, from, words) {
    this.draw(then, from);
    say(this.would, words);
    this.would.style.left = `${Math.min(this.scale.x(from) + 32, this.scale.width - 200)}px`;
    this.follow();
  }
  /** Show the run alone again. */
  unghost() {
    if (!this.would.textContent) return;
    this.draw(null, this.film.end);
    this.follow();
  }
  /**
   * @param {import("../film/format.js").Film | null} then
   * @param {number} from where `then` takes over
   */
  draw(then, from) {
    const { film } = this;
    say(this.would, "");
    this.root.classList.toggle("rk-ghosted", then !== null);
    const reach = reachOf(this.reach, Math.max(film.end, then?.end ?? 0));
    if (!then) this.reach = reach;
    this.scale = new Scale(0, reach, this.width - 40);
    set(this.slider, "max", reach);
    this.root.style.setProperty("--rk-end", `${this.scale.x(Math.max(film.end, then?.end ?? 0))}px`);
    const past = film.marks.filter((mark) => !then || mark.at < from);
    this.drawMarks([
      ...past,
      ...then?.marks.filter((mark) => mark.at >= from) ?? []
    ], from);
    const { ticks } = this.scale.ticks(STEPS_S2, MOST_TICKS3);
    this.axis.replaceChildren(...ticks.map((at) => make("span", {
      style: `left:${this.scale.x(at * 1e3)}px`
    }, String(at))));
    const pen = sharpPen(this.canvas, this.scale.width, HEIGHT3);
    const painter = new Painter(this.root);
    painter.drawRun(pen, film, this.scale, HEIGHT3);
    this.rows.hidden = !drawsCounts(film);
    if (then) this.drawGhost(pen, painter, then, from);
  }
  /**
   * @param {CanvasRenderingContext2D} pen
   * @param {Painter} painter
   * @param {import("../film/format.js").Film} then
   * @param {number} from
   */
  drawGhost(pen, painter, then, from) {
    const x = this.scale.x(from);
    pen.clearRect(x, 0, this.scale.width - x, HEIGHT3);
    pen.save();
    pen.beginPath();
    pen.rect(x, 0, this.scale.width - x, HEIGHT3);
    pen.clip();
    pen.globalAlpha = PALE2;
    painter.drawRun(pen, then, this.scale, HEIGHT3);
    pen.restore();
  }
  /**
   * @param {import("../film/format.js").Mark[]} marks
   * @param {number} from marks from here on are only foreseen, while a deed is
   */
  drawMarks(marks, from) {
    const shown = clusters(marks, this.scale);
    const large = this.root.closest(".rk-projector") ? LARGER3 : 1;
    const labels = labelled(shown, this.scale, large);
    this.marks.replaceChildren(...shown.map((cluster) => {
      const flip = labels.get(cluster) ? " rk-flip" : "";
      const pale = cluster.marks.some((mark) => mark.at >= from) ? " rk-foreseen" : "";
      const title = cluster.marks.map((mark) => `${seconds(mark.at)} ${mark.words}`).join("\n");
      const looks = {
        class: `rk-mark rk-${cluster.kind}${flip}${pale}`,
        style: `left:${cluster.x}px`,
        title,
        "data-at": (cluster.marks.find((mark) => mark.words === cluster.words) ?? cluster.marks[0]).at
      };
      const signs = cluster.signs.map((mark) => make("i", {}, SIGNS2[mark.kind]));
      return make("span", looks, ...signs, labels.has(cluster) ? cluster.words : "");
    }));
  }
  /**
   * Move the cursor to a moment.
   * @param {number} at
   * @param {string} words what a screen reader says of it
   */
  paint(at, words) {
    this.at = at;
    this.words = words;
    this.follow();
  }
  /** Put the cursor where its moment stands. */
  follow() {
    const { at, words } = this;
    const x = this.scale.x(at);
    this.cursor.style.transform = `translateX(${x}px)`;
    this.root.style.setProperty("--rk-fog", `${x}px`);
    say(this.clock, seconds(at));
    this.clock.style.marginLeft = `${labelShift(x, this.scale.width, MARGIN)}px`;
    this.slider.value = String(at);
    set(this.slider, "aria-valuetext", words);
  }
};

// lab/lab.js
var WAITS = "Waits for the kernel.";
var DEAD = "The kernel does not answer. You can still play and read this run. To act, restart the kernel and run the cell again.";
var TOLD_MS = 12e3;
var BEGINS_ANEW = /* @__PURE__ */ new Set([
  "open",
  "preset"
]);
var REPEATED = /* @__PURE__ */ new Set([
  ".",
  ",",
  "<",
  ">",
  "ArrowUp",
  "ArrowDown",
  "ArrowLeft",
  "ArrowRight"
]);
var Lab = class {
  /**
   * @param {import("../shared/model.js").Model} model
   * @param {HTMLElement} el
   */
  constructor(model, el) {
    this.model = model;
    this.el = el;
    this.selected = 0;
    this.alone = !!model.get("controls").alone;
    this.film = /** @type {Film} */
    /** @type {unknown} */
    null;
    this.serial = 0;
    this.shownBytes = null;
    this.presets = null;
    this.whenFilmed = null;
    this.toldNotice = "";
    this.forgetting = 0;
    this.fromAddress = false;
    this.numbers = /* @__PURE__ */ new Map();
    this.dragged = null;
    this.options = new Options();
    this.talk = new Talk(model, (busy) => this.busy(busy), (dead) => this.dead(dead));
    this.player = new Player((from, to) => this.onTick(from, to), () => this.onStop(), () => this.options.still);
    this.cursor = new Cursor(this);
    this.pills = new Pills(this);
    this.legend = new Legend(this);
    this.steps = new Steps(this);
    this.costs = new Costs(this);
    this.marker = new Marker(this);
    this.focus = new Focus(this);
    this.comparison = new Comparison(this);
    this.predict = new Predict(this);
    this.presenter = new Presenter(this);
    this.guide = new Guide(this);
    this.pane = new Pane(this);
    this.ui = buildRegions(this);
    this.screen = new Screen(this);
    this.theme = new Theme(this);
    this.strip = new Strip((at, dragging) => this.seek(at, dragging));
    this.popup = new Popup(this, "menu", "Menu");
    this.drawer = new Popup(this, "drawer", "Drawer");
    this.popups = [
      this.popup,
      this.drawer
    ];
    this.panels = new Panels(this);
    this.assemble();
    this.listen();
    this.takeFilm(true);
  }
  assemble() {
    const { ui } = this;
    ui.middle.append(ui.stageHome, this.pane.root);
    ui.viewbar.append(this.panels.list, ui.share);
    ui.root.append(ui.header, make("div", {
      class: "rk-intro"
    }, ui.lesson, ui.story), ui.band, ui.viewbar, ui.sentences, ui.middle, ui.actionBar);
    ui.root.append(ui.transport, this.strip.root, ui.details, ui.help, this.popup.root, this.drawer.root, ui.status);
    this.el.append(ui.root);
  }
  listen() {
    const listeners = (
      /** @type {[string, (...args: any[]) => void][]} */
      [
        [
          "change:film",
          () => this.takeFilm(false)
        ],
        [
          "change:theme",
          () => this.theme.apply()
        ],
        [
          "change:controls",
          () => this.takeControls()
        ],
        [
          "change:cursor_ms",
          () => this.cursor.follow()
        ],
        [
          "comm_live_update",
          () => this.talk.request({
            type: "alive"
          }, true)
        ],
        [
          "msg:custom",
          (message, buffers) => this.talk.hear(message, buffers)
        ]
      ]
    );
    listeners.forEach(([name, run]) => this.model.on(name, run));
    this.unlisten = () => listeners.forEach(([name, run]) => this.model.off(name, run));
    const { root, stageHome } = this.ui;
    root.addEventListener("keydown", (event) => this.onKey(event));
    this.focus.listen();
    root.addEventListener("pointermove", () => this.presenter.awake());
    stageHome.addEventListener("click", (event) => this.marker.pick(event));
    stageHome.addEventListener("contextmenu", (event) => this.onContextMenu(event));
    this.observer = new ResizeObserver(() => this.screen.fit());
    this.observer.observe(this.el);
  }
  close() {
    this.player.pause();
    this.unlisten?.();
    this.observer?.disconnect();
    if (this.fromAddress) forgetAddress();
    this.presenter.close();
    this.theme.close();
  }
  // --- the kernel's side ---------------------------------------------------------------------
  /** @param {boolean} first */
  async takeFilm(first) {
    const bytes = this.model.get("film");
    try {
      const film = await readFilm(bytes);
      if (bytes !== this.model.get("film")) return;
      this.film = film;
      this.shownBytes = bytes;
    } catch (failure) {
      if (!(failure instanceof FilmError)) throw failure;
      this.screen.refuseFilm(failure.message);
      this.showControls();
      return;
    }
    this.selected = Math.min(this.selected, this.film.members.length - 1);
    this.player.load(this.film);
    if (first) this.player.seek(this.model.get("cursor_ms"));
    this.showRun();
    if (first) this.openAddress();
  }
  // A run whose film is, byte for byte, the one that is shown comes without a film; with another film, controls are shown with it.
  takeControls() {
    if (this.model.get("film") !== this.shownBytes) return;
    if (this.model.get("controls").serial !== this.serial) this.showRun();
    else this.showControls();
  }
  /** Show the run of the film that is there: everything but the film may be another than before. */
  showRun() {
    this.serial = this.model.get("controls").serial;
    this.panels.forget();
    this.comparison.again();
    this.showControls();
    this.theme.mark();
    this.screen.takeFilm();
    this.guide.again();
    this.whenFilmed?.();
    this.whenFilmed = null;
  }
  // A link in the page's address opens in the first lab of the page.
  openAddress() {
    const token2 = this.alone ? null : linkOfAddress();
    if (!token2) return;
    this.fromAddress = true;
    this.ask({
      type: "open",
      token: token2
    });
  }
  showControls() {
    const controls = this.model.get("controls");
    this.numbers = settingsOf(controls);
    showControls(this, controls);
    if (controls.notice && controls.notice !== this.toldNotice) this.tell(controls.notice);
    this.toldNotice = controls.notice;
  }
  /**
   * Ask for one change; `then` hears the answer, refused or done.
   * @param {Record<string, unknown>} message
   * @param {((answer: any) => void) | null} [then]
   */
  ask(message, then = null) {
    this.talk.change({
      at_ms: Math.round(this.player.at),
      ...message
    }, (answer) => {
      if (answer.type === "refused" && !then) this.refuse(answer.words);
      if (answer.type === "done") {
        if (BEGINS_ANEW.has(String(message.type))) this.beginAnew();
        if (!this.model.get("controls").notice) this.tell("");
        if (answer.cost === void 0) this.costs.say("");
        this.whenShown(answer);
      }
      then?.(answer);
    });
  }
  // A lesson begins on its board, where it can be guided through.
  beginAnew() {
    this.predict.leave();
    if (this.comparison.view) this.comparison.end();
  }
  /** @param {boolean} busy */
  busy(busy) {
    this.ui.root.classList.toggle("rk-busy", busy);
    if (busy && !this.ui.notice.textContent) this.tell(WAITS);
    if (busy) return;
    if (this.ui.notice.textContent === WAITS) this.tell("");
  }
  /** @param {boolean} dead */
  dead(dead) {
    say(this.ui.band, dead ? DEAD : "");
    this.panels?.dead(dead);
  }
  /**
   * The film travels beside the answer and is inflated first.
   * @param {any} answer
   */
  whenShown(answer) {
    if (this.serial === answer.serial) this.follow(answer);
    else this.whenFilmed = () => this.follow(answer, true);
  }
  /**
   * What was done happens at the cursor, so time goes on from there.
   * @param {any} answer
   * @param {boolean} painted whether the film has just been painted
   */
  follow(answer, painted = false) {
    const { selected, player: { at } } = this;
    const index = this.film.members.findIndex((member) => member.name === answer.select);
    if (index >= 0) this.selected = index;
    if (answer.seek !== void 0) {
      this.player.pause();
      this.player.seek(answer.seek);
    }
    if (!painted || this.selected !== selected || this.player.at !== at) this.paint(false);
    if (answer.cost !== void 0) this.costs.tell(answer);
    if (answer.told ?? answer.nothing) this.tell(answer.told ?? answer.nothing);
    if (answer.play && !this.predict.on) this.play();
  }
  // --- acting --------------------------------------------------------------------------------
  /**
   * @param {string} what
   * @param {string[]} [chosen] texts of its arguments
   */
  act(what, chosen = []) {
    act(this, what, chosen);
  }
  /** @param {string} words */
  tell(words) {
    say(this.ui.notice, words);
    set(this.ui.notice, "title", words || null);
    this.ui.notice.classList.remove("rk-refused");
    clearTimeout(this.forgetting);
    if (words && words !== WAITS) this.forgetting = setTimeout(() => this.tell(""), TOLD_MS);
  }
  /** @param {string} words */
  refuse(words) {
    this.tell(words);
    this.ui.notice.classList.add("rk-refused");
  }
  /** @param {number} index */
  select(index) {
    this.selected = Math.max(0, Math.min(index, this.film.members.length - 1));
    this.marker.clear();
    this.paint(false);
    const { activeElement } = document;
    const lane = this.screen.stage.lanes[this.selected];
    if (lane && this.ui.root.contains(activeElement) && activeElement?.closest(".rk-board")) {
      lane.node.focus();
    }
  }
  /** @param {KeyboardEvent} event */
  onKey(event) {
    this.presenter.awake();
    if (!this.film || event.metaKey) return;
    const target = (
      /** @type {Element} */
      event.target
    );
    const typing = target.tagName === "INPUT" && target !== this.strip.slider && event.key !== "Escape";
    if (typing) return;
    const choosing = target.tagName === "SELECT" && event.key !== "Escape" && !event.altKey;
    const run = choosing ? null : this.runOf(
      /** @type {any} */
      event
    );
    if (run || choosing || event.key.length === 1 && !event.ctrlKey && !event.altKey) {
      event.stopPropagation();
    }
    if (!run) return;
    event.preventDefault();
    if (!event.repeat || REPEATED.has(event.key)) run();
  }
  /**
   * What a key would do now (nothing is done).
   * @param {{ key: string, target: Element, shiftKey?: boolean, ctrlKey?: boolean, altKey?: boolean }} event
   */
  runOf({ key, target, shiftKey = false, ctrlKey = false, altKey = false }) {
    return keyRun(this, {
      key,
      target,
      shiftKey,
      ctrlKey,
      altKey
    });
  }
  /** @param {MouseEvent} event */
  onContextMenu(event) {
    const lane = (
      /** @type {Element} */
      event.target.closest(".rk-lane")
    );
    if (!(lane instanceof HTMLElement)) return;
    event.preventDefault();
    lane.click();
    this.marker.pick(event);
    showMore(this, lane);
  }
  // --- time ----------------------------------------------------------------------------------
  /** @param {boolean} moving */
  paint(moving) {
    this.screen.paint(moving);
  }
  toggle() {
    if (!this.film) return;
    if (this.player.playing) this.player.pause();
    else if (this.guide.on) this.guide.next();
    else this.play();
  }
  // Whoever moves on from the end of a run need not be told of it any more.
  leaveEnd() {
    const { textContent } = this.ui.notice;
    if (textContent === ENDS.forward || textContent === ENDS.back) this.tell("");
  }
  play() {
    this.leaveEnd();
    this.strip.unghost();
    this.player.play();
    this.screen.paintTransport();
  }
  onStop() {
    this.guide.stopped();
    this.paint(false);
    this.cursor.send();
  }
  /**
   * @param {number} at
   * @param {boolean} dragging the kernel hears where it ends
   */
  seek(at, dragging) {
    this.leaveEnd();
    this.strip.unghost();
    this.player.seek(at);
    this.guide.follow(at);
    if (!this.player.playing) this.paint(false);
    if (!dragging) this.cursor.send();
  }
  /**
   * @param {number} from
   * @param {number} to
   */
  onTick(from, to) {
    this.pills.upTo(from, to);
    this.paint(true);
  }
};

// lab/main.js
function render({ model, el }) {
  const lab = new Lab(model, el);
  el.rebalanceLab = lab;
  el.append(hidingStill(model.get("still")));
  return () => lab.close();
}
playAlone(render);
var main_default = { render };
export {
  PageModel,
  boardAt,
  bytesOf,
  main_default as default,
  readFilm,
  twinText
};
