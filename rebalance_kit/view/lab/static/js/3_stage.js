// The stage at up to sixteen members: lanes, tokens, rail, coordinator. Lanes and rail never move.

const RAIL = 184, GAP = 14, COORDINATOR = 66, FULL_HEIGHT = 330;
const ALERTING = new Set(["stopped", "was leaving", "no owner", "zombie"]);

function make(tag, attributes = {}, ...children) {
  const node = tag.startsWith("svg:") ? document.createElementNS("http://www.w3.org/2000/svg", tag.slice(4)) : document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) if (value !== null && value !== undefined && value !== false) node.setAttribute(key, value === true ? "" : value);
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

function set(node, key, value) {
  const text = value === null || value === undefined ? null : String(value);
  if (node.getAttribute(key) === text) return;
  if (text === null) node.removeAttribute(key); else node.setAttribute(key, text);
}

// Sizes are chosen once a film from the most that any lane ever holds, so nothing resizes in play.
function measure(film, width, large) {
  const inner = Math.max(680, width - 40), tight = width < 960;
  const busWidth = tight ? 92 : 104, railWidth = tight ? 164 : RAIL;
  const count = film.members.length;
  const most = Math.max(1, ...film.mostIn);
  const columns = count > 6 ? 2 : 1;
  const laneHeight = count <= 4 ? 76 : count <= 6 ? 52 : 44;
  const laneGap = 8;
  const all = inner - busWidth - GAP - railWidth;
  const laneWidth = columns === 1 ? all : (all - 10) / 2;
  const head = columns > 1 ? 150 : (tight ? 222 : 224) + (large ? 34 : 0);
  const track = laneWidth - head - 8;
  const cells = fitCells(track, laneHeight, most);
  if (count > 16 || !cells) return { tiles: true, inner };
  const rows = Math.ceil(count / columns);
  const lanes = Math.max(rows * (laneHeight + laneGap) - laneGap, 244);
  const height = Math.max(FULL_HEIGHT, COORDINATOR + 10 + lanes + 10);
  const rail = fitRail(height - COORDINATOR - 20, film.mostInRail, railWidth - 20);
  return { tiles: false, inner, large, busWidth, railWidth, columns, rows, laneHeight, laneGap, laneWidth, head, track, cells, height, rail, railX: inner - railWidth, laneTop: COORDINATOR + 10 };
}

function fitCells(track, laneHeight, most) {
  for (let rows = 1; rows <= 3; rows += 1) {
    const height = rows === 1 ? laneHeight - 22 : Math.floor((laneHeight - 14 - (rows - 1) * 5) / rows);
    const columns = Math.ceil(most / rows);
    const width = Math.min(160, Math.floor((track - 9 * (columns - 1)) / columns));
    if (height >= 16 && width >= (rows === 1 && height >= 50 ? 80 : 54)) return { rows, columns, width, height };
  }
  return null;
}

function fitRail(height, most, wide) {
  const room = height - 52;
  for (const height of [54, 32, 26]) if (most * (height + 8) <= room) return { columns: 1, width: wide, height, gap: 8 };
  for (const columns of [2, 3]) {
    const width = Math.floor((wide - 6 * (columns - 1)) / columns);
    for (const each of [26, 20, 16]) if (Math.ceil(most / columns) * (each + 6) <= room) return { columns, width, height: each, gap: 6 };
  }
  return { columns: 3, width: 50, height: 16, gap: 3 };
}

function laneBox(sizes, index) {
  const column = Math.floor(index / sizes.rows), row = index % sizes.rows;
  return { x: sizes.busWidth + column * (sizes.laneWidth + 10), y: sizes.laneTop + row * (sizes.laneHeight + sizes.laneGap), width: sizes.laneWidth, height: sizes.laneHeight };
}

function tokenBox(sizes, owner, slot) {
  if (owner < 0) {
    const { columns, width, height, gap } = sizes.rail;
    return { x: sizes.railX + 10 + (slot % columns) * (width + 6), y: sizes.laneTop + 44 + Math.floor(slot / columns) * (height + gap), width, height };
  }
  const lane = laneBox(sizes, owner), { columns, rows, width, height } = sizes.cells;
  slot = Math.min(slot, columns * rows - 1); // what a lane holds while the group forms may not fit
  const row = Math.floor(slot / columns), block = rows * height + (rows - 1) * 5;
  return { x: lane.x + sizes.head + (slot % columns) * (width + 9), y: lane.y + (lane.height - block) / 2 + row * (height + 5), width, height };
}

class Stage {
  constructor(film, sizes, onSelect) {
    this.film = film;
    this.sizes = sizes;
    this.root = make("div", { class: "rk-stage", style: `height:${sizes.height}px;min-width:${sizes.inner}px` });
    this.coordinator = new CoordinatorBar(film, sizes);
    this.board = make("div", { class: "rk-board", role: "listbox", "aria-label": "Members", tabindex: "-1" });
    this.rail = make("div", { class: "rk-rail", role: "group", "aria-label": "No owner", style: `left:${sizes.railX}px;top:${sizes.laneTop}px;width:${sizes.railWidth}px;height:${sizes.height - sizes.laneTop - 10}px` },
      make("b", {}, "No owner"), make("span", { class: "rk-railcount" }), make("p", { class: "rk-railnote" }));
    this.bus = make("div", { class: "rk-bus", "aria-hidden": "true" });
    this.tokenLayer = make("div", { class: "rk-tokens", "aria-hidden": "true" });
    this.lanes = film.members.map((member) => this.makeLane(member, onSelect));
    this.tokens = film.partitions.map((name, index) => this.makeToken(name, index));
    this.root.append(this.coordinator.root, this.bus, this.rail, this.board, this.tokenLayer);
    this.offerLane(film, onSelect);
    this.drawBus();
  }

  // Where there is room for one more lane, it is offered.
  offerLane(film, onSelect) {
    if (film.members.length >= 3) return;
    const box = laneBox({ ...this.sizes, rows: 99 }, film.members.length);
    const node = make("button", { type: "button", class: "rk-offer", "aria-label": "Add a member", style: `left:${box.x}px;top:${box.y}px;width:${box.width}px;height:${box.height}px` }, "+ Add a member");
    node.addEventListener("click", () => onSelect(-1));
    this.root.append(node);
  }

  drawBus() {
    const { sizes } = this;
    const bottom = laneBox(sizes, Math.min(sizes.rows, this.film.members.length) - 1);
    this.bus.style.top = `${COORDINATOR}px`;
    this.bus.style.height = `${bottom.y + bottom.height / 2 - COORDINATOR}px`;
    this.film.members.forEach((member) => {
      const lane = laneBox(sizes, member.index);
      if (lane.x > sizes.busWidth) return;
      this.bus.append(make("i", { style: `top:${lane.y + lane.height / 2 - COORDINATOR}px` }));
    });
  }

  makeLane(member, onSelect) {
    const box = laneBox(this.sizes, member.index);
    const small = box.height < 60;
    const ring = make("svg:svg", { class: "rk-ring", viewBox: "0 0 60 60", "aria-hidden": "true" },
      make("svg:circle", { class: "rk-ringback", cx: 30, cy: 30, r: 26.5 }), make("svg:circle", { class: "rk-ringpoll", cx: 30, cy: 30, r: 22.5, pathLength: 100, transform: "rotate(-90 30 30)" }),
      make("svg:line", { class: "rk-tick", x1: 30, x2: 30, y1: 0, y2: 7 }), make("svg:circle", { class: "rk-ringleft", cx: 30, cy: 30, r: 26.5, pathLength: 100, transform: "rotate(-90 30 30)" }));
    const badge = make("span", { class: "rk-badge" });
    const disc = make("span", { class: `rk-disc rk-pat${member.pattern}` }, make("b", {}, member.label));
    const name = make("b", { class: "rk-name" }, member.name), doing = make("span", { class: "rk-doing" }), third = make("span", { class: "rk-third" });
    const empty = make("span", { class: "rk-empty" }), more = make("b", { class: "rk-more", "aria-hidden": "true" });
    const node = make("div", {
      class: `rk-lane${small ? " rk-small" : ""}${this.sizes.columns > 1 ? " rk-narrow" : ""}`, role: "option", id: `rk-${Math.random().toString(36).slice(2)}`, "data-member": member.name,
      tabindex: "-1", style: `left:${box.x}px;top:${box.y}px;width:${box.width}px;height:${box.height}px;--hue:var(--rk-m${member.hue});--tint:var(--rk-m${member.hue}t);--on:var(--rk-m${member.hue}o);--head:${this.sizes.head}px`,
    }, make("span", { class: "rk-face", "aria-hidden": "true" }, ring, disc, badge), make("span", { class: "rk-who", "aria-hidden": "true" }, name, doing, third), empty, more);
    node.addEventListener("click", () => onSelect(member.index));
    this.board.append(node);
    return { node, ring: ring.lastChild, poll: ring.children[1], tick: ring.children[2], badge, disc, doing, third, empty, more };
  }

  makeToken(name, index) {
    const [, topic, number] = name.match(/^(.*-)(\d+)$/);
    const title = make("span", { class: "rk-part" }, make("span", {}, topic), make("b", {}, number));
    const word = make("span", { class: "rk-word" }), records = make("span", { class: "rk-records" }), lag = make("i", { class: "rk-lag" });
    const node = make("div", { class: "rk-token", "data-partition": name }, make("i", { class: "rk-notch" }), title, word, records, lag);
    this.tokenLayer.append(node);
    return { node, word, records, lag, index, box: null, key: "" };
  }

  // Draw one moment. `moving` lets tokens fly; scrubbing shows states, never flights.
  paint(board, selected, moving) {
    this.coordinator.paint(this.film, board);
    this.lanes.forEach((lane, index) => this.paintLane(lane, board, index, selected === index));
    this.tokens.forEach((token) => this.paintToken(token, board, moving));
    const orphans = board.partitions.filter((one) => one.owner === -1).length;
    say(this.rail.children[1], orphans ? String(orphans) : "");
    say(this.rail.children[2], orphans ? this.waits(board) : "Every partition has an owner.");
    set(this.rail, "data-count", orphans);
    set(this.rail, "aria-label", orphans ? `No owner: ${spoken(this.film.partitions.filter((_, index) => board.partitions[index].owner === -1))}` : "No owner: none");
  }

  // Since when the longest of the ownerless partitions stands still.
  waits(board) {
    const since = board.partitions.map((one, index) => (one.owner === -1 ? sinceWhen(this.film.partitionTracks[index], this.film.partitionStates, board.at, (state) => !state.flows) : Infinity));
    const first = Math.min(...since);
    return `${since.filter(Number.isFinite).length > 1 ? "The longest" : "It"} has stopped for ${seconds(board.at - first)}.`;
  }

  paintLane(lane, board, index, chosen) {
    const { film } = this, { state } = board.members[index];
    const ends = sessionEnds(film, index, board.at);
    const length = film.sessions[index][state.protocol === "consumer" ? 1 : 0];
    const look = lookOf(state);
    set(lane.node, "data-look", look);
    set(lane.node, "data-doing", state.doing);
    set(lane.node, "aria-selected", chosen ? "true" : "false");
    set(lane.node, "aria-label", memberLine(film, board, index));
    const parked = state.parked === "JoinGroup" && state.life === "alive";
    set(lane.ring, "stroke-dasharray", parked ? "2.2 2.2" : ends === null ? "0 100" : `${Math.max(0, Math.min(100, (100 * (ends - board.at)) / length)).toFixed(1)} 100`);
    this.paintTimers(lane, board, index, ends, length, look);
    say(lane.badge, { crashed: "×", died: "×", frozen: "‖", zombie: "?", fenced: "–" }[look] || "");
    say(lane.doing, doingLine(film, board, index));
    say(lane.third, thirdLine(state, ends, board));
    const owned = board.owned[index].length;
    const room = this.sizes.cells.columns * this.sizes.cells.rows;
    say(lane.more, owned > room ? `+${owned - room}` : "");
const also = owned ? [] : alsoRead(board, index).map((one) => film.partitions[one]);
    say(lane.empty, also.length ? `Still reads ${spoken(also)}: done twice.` : owned || state.life !== "alive" ? "" : state.standing === "member" ? "Owns nothing." : "Owns nothing yet.");
  }

  // Inside the ring of the session: what is left of the poll interval while the application does not poll; a tick
  // where the ring will stand when the next heartbeat is due.
  paintTimers(lane, board, index, ends, length, look) {
    const left = pollLeft(this.film, index, board.at), beat = ends === null || look !== "live" ? null : nextBeat(this.film, index, board.at);
    set(lane.poll, "stroke-dasharray", left === null ? "0 100" : `${(100 * left).toFixed(1)} 100`);
    set(lane.node, "data-silent", left === null ? null : "yes");
    set(lane.tick, "transform", beat === null || beat >= ends ? null : `rotate(${((360 * (ends - beat)) / length).toFixed(0)} 30 30)`);
    set(lane.tick, "visibility", beat === null || beat >= ends ? "hidden" : null);
  }

  paintToken(token, board, moving) {
    const { film, sizes } = this, state = board.partitions[token.index];
    token.node.hidden = state.owner === GONE;
    if (state.owner === GONE) { token.key = ""; return; }
    const track = film.slots[token.index];
    const slot = track.slots[Math.max(0, placeOf(track.times, board.at))];
    const box = tokenBox(sizes, state.owner, slot);
    const key = `${box.x},${box.y},${box.width},${box.height}`;
    if (key !== token.key) {
      if (moving && token.key) this.leaveGhost(token, state);
      token.node.classList.toggle("rk-fly", !!(moving && token.key));
      token.node.style.transform = `translate(${box.x}px,${box.y}px)`;
      token.node.style.width = `${box.width}px`;
      token.node.style.height = `${box.height}px`;
      token.node.classList.toggle("rk-chip", box.height < 50);
      token.node.classList.toggle("rk-mid", box.height >= 50 && box.width < 128);
      token.node.classList.toggle("rk-tiny", box.height < 50 && box.width < 128);
      token.key = key;
      token.box = box;
    }
    const shown = state.owner >= 0 ? state.owner : state.last;
    const hue = shown >= 0 ? film.members[shown].hue : 0;
    const colours = hue ? `var(--rk-m${hue})|var(--rk-m${hue}t)` : "var(--rk-ink)|var(--rk-surface)";
    if (token.colours !== colours) {
      const [one, tint] = colours.split("|");
      token.node.style.setProperty("--hue", one);
      token.node.style.setProperty("--tint", tint);
      token.colours = colours;
    }
    const ownerName = state.owner >= 0 ? film.members[state.owner].name : "";
    set(token.node, "data-owner", ownerName);
    set(token.node, "data-word", state.word);
    say(token.word, tokenWord(film, token.index, state, board.at, token.box));
    const records = positionAt(film, token.index, board.at, state.flows);
    paintLag(token, records, film.mostLag);
    if (token.box.height >= 50) paintRecords(token, records, token.box.width, state.flows);
  }

  leaveGhost(token, state) {
    const { x, y, width, height } = token.box;
    const to = state.owner < 0 ? "no owner" : this.film.members[state.owner].label;
    const ghost = make("div", { class: "rk-ghost", style: `transform:translate(${x}px,${y}px);width:${width}px;height:${height}px` }, width < 130 ? `→ ${to}` : `${this.film.partitions[token.index]} → ${to}`);
    this.tokenLayer.prepend(ghost);
    setTimeout(() => ghost.remove(), 1500);
  }

  // Messages of one moment follow each other, so that each can be read; those that do not fit are left out.
  pill(message) {
    const now = performance.now();
    this.nextPill = Math.max(now, this.nextPill || 0);
    if (this.nextPill - now > 900) return;
    setTimeout(() => this.fly(message), this.nextPill - now);
    this.nextPill += 160;
  }

  // A message as a pill on the bus: it lives at least 350 ms of the reader's time.
  fly(message) {
    if (!this.root.isConnected) return;
    const lane = laneBox(this.sizes, message.member), member = this.film.members[message.member];
    const top = 0, bottom = lane.y + lane.height / 2 - COORDINATOR;
    const quiet = /Heartbeat|OffsetCommit/.test(message.api) && !message.error && !message.news;
    const node = make("b", { class: `rk-pill${quiet ? " rk-dot" : ""}${message.request ? " rk-up" : " rk-down"}${message.error ? " rk-error" : ""}`, style: `--hue:var(--rk-m${member.hue});--on:var(--rk-m${member.hue}o)` },
      quiet ? "" : message.error ? message.error.replaceAll("_", " ") : message.api.replace("ConsumerGroup", ""));
    this.bus.append(node);
    const lost = message.arrives === null;
    const from = message.request ? bottom : top, to = lost ? (from + (message.request ? top : bottom)) / 2 : message.request ? top : bottom;
    const still = !!this.root.closest(".rk-calm");
    const flight = node.animate(still ? [{ transform: `translate(-50%,${to}px)` }, { transform: `translate(-50%,${to}px)` }] : [{ transform: `translate(-50%,${from}px)` }, { transform: `translate(-50%,${to}px)` }], { duration: still ? 700 : 450, fill: "forwards" });
    flight.onfinish = () => node.remove();
  }
}

function lookOf(state) {
  if (state.life === "absent" || state.life === "closed") return state.life;
  if (state.life === "crashed") return state.standing === "member" || state.standing === "away" ? "crashed" : "gone";
  if (state.life === "died") return state.error === "FENCED_INSTANCE_ID" ? "fenced" : "died";
  if (state.life === "frozen") return "frozen";
  return state.doing === "removed, still works" ? "zombie" : "live";
}

function doingLine(film, board, index) {
  const { state } = board.members[index];
  if (!["crashed", "gone", "died", "left"].includes(state.doing)) return state.doing;
  const since = sinceWhen(film.memberTracks[index], film.memberStates, board.at, (one) => one.doing === state.doing);
  return state.doing === "crashed" ? `crashed ${seconds(board.at - since)} ago` : `${state.doing} at ${seconds(since)}`;
}

function thirdLine(state, ends, board) {
  if (state.error) return state.error;
  if (["crashed", "frozen", "died"].includes(state.life)) return ends === null ? "" : `session ends in ${seconds(ends - board.at)}`;
  if (state.life !== "alive" || state.generation === null) return "";
  const number = `${state.protocol === "consumer" ? "epoch" : `${board.group.protocol === "consumer" ? "classic · " : ""}generation`} ${state.generation}`;
  return state.leader ? `leader · ${number}` : number;
}

function tokenWord(film, index, state, at, box) {
  if (state.word === "was leaving" && box.width < 170) return "leaving";
  if (state.flows || box.width < (state.owner >= 0 ? 190 : 128)) return state.word;
  const since = seconds(at - sinceWhen(film.partitionTracks[index], film.partitionStates, at, (one) => !one.flows));
  return box.height < 50 && state.owner < 0 ? since : `${state.word} ${since}`;
}

// The queue that waits, as a bar on a square-root scale: a short one is seen, a long one still grows.
function paintLag(token, at, most) {
  const wide = at ? Math.min(1, Math.sqrt(Math.max(0, at.end - at.position) / most)) : 0;
  const width = `${Math.round(wide * Math.max(0, token.box.width - 14))}px`;
  if (token.lagWidth !== width) { token.lagWidth = width; token.lag.style.width = width; }
}

// Records, oldest left: ■ committed, □ processed, | position, ● waiting.
function paintRecords(token, at, width, flows) {
  const key = at ? `${Math.min(3, Math.max(0, at.committed))},${Math.min(3, Math.max(0, at.position - Math.max(0, at.committed)))},${Math.max(0, at.end - at.position)},${width},${flows}` : "";
  if (token.recordsKey === key) return;
  token.recordsKey = key;
  token.records.replaceChildren();
  if (!at) return;
  const [done, fresh, lag] = key.split(",").map(Number);
  if (width < 128) { if (lag && (width >= 112 || flows)) token.records.append(make("b", {}, `●${lag < 1000 ? lag : `${(lag / 1000).toFixed(1)}k`}`)); return; }
  const room = Math.max(0, Math.floor((width - 70) / 11) - done - fresh), dots = Math.min(lag, room);
  let x = 1;
  const marks = [];
  for (let i = 0; i < done; i += 1, x += 11) marks.push(make("svg:rect", { x, y: 2, width: 8, height: 8 }));
  for (let i = 0; i < fresh; i += 1, x += 11) marks.push(make("svg:rect", { x: x + 0.75, y: 2.75, width: 6.5, height: 6.5, class: "rk-hollow" }));
  marks.push(make("svg:rect", { x: x + 0.5, y: 0, width: 1.6, height: 12 }));
  x += 5;
  for (let i = 0; i < dots; i += 1, x += 11) marks.push(make("svg:circle", { cx: x + 4, cy: 6, r: 4 }));
  token.records.append(make("svg:svg", { width: x + 2, height: 12, viewBox: `0 0 ${x + 2} 12` }, ...marks));
  if (lag > dots) token.records.append(make("b", {}, `+${lag - dots}`));
}

// Coordinator: classic shows its states and the waiting room, consumer its epochs.
class CoordinatorBar {
  constructor(film, sizes) {
    this.title = make("div", { class: "rk-ctitle" }, make("b", {}, "Coordinator"), make("span", {}, `group ${film.group}`));
    this.steps = make("ol", { class: "rk-steps" });
    this.number = make("div", { class: "rk-number" }, make("span", {}), make("b", {}));
    this.target = make("div", { class: "rk-number" }, make("span", {}, "Target epoch"), make("b", {}));
    this.room = make("div", { class: "rk-room" }, make("b", {}), make("span", { class: "rk-seats" }));
    this.root = make("div", { class: "rk-coordinator", style: `height:${COORDINATOR}px`, role: "group" }, this.title, this.steps, this.number, this.target, this.room);
    this.kind = "";
    this.seats = "";
  }

  paint(film, board) {
    const { group } = board;
    const short = this.root.closest(".rk-projector") !== null;
    const states = group.protocol === "consumer" ? ["Empty", "Assigning", "Reconciling", "Stable"] : ["Empty", "PreparingRebalance", "CompletingRebalance", "Stable"];
    if (this.kind !== group.protocol + short) {
      this.kind = group.protocol + short;
      this.steps.replaceChildren(...states.map((state) => make("li", { "data-state": state }, short ? state.replace("Rebalance", "") : state)));
    }
    [...this.steps.children].forEach((node) => set(node, "aria-current", node.dataset.state === group.state ? "step" : null));
    say(this.number.children[0], group.protocol === "consumer" ? "Group epoch" : "Generation");
    say(this.number.children[1], group.generation === null ? "–" : String(group.generation));
    this.target.hidden = group.protocol !== "consumer";
    say(this.target.children[1], group.targetEpoch === null ? "–" : String(group.targetEpoch));
    set(this.root, "aria-label", `Coordinator. ${groupLine(film, board)}`);
    set(this.root, "data-state", group.state);
    set(this.root, "data-up", group.up ? "yes" : "no");
    this.paintRoom(board);
  }

  paintRoom(board) {
    const { group } = board;
    const inside = board.members.filter((one) => one.state.standing === "member");
    const seated = group.protocol === "consumer" ? inside : board.joined;
    const wanted = board.phase && group.protocol !== "consumer" ? [...board.joined, ...board.awaited] : inside;
    const title = group.protocol === "consumer" ? "Members and epochs" : board.phase === "JoinGroup" ? `Joined ${board.joined.length} of ${wanted.length}`
      : board.phase === "SyncGroup" ? `SyncGroup ${board.joined.length} of ${wanted.length}` : `${inside.length} member${inside.length === 1 ? "" : "s"}`;
    say(this.room.children[0], title);
    const at = (one) => (group.protocol === "consumer" ? one.state.epoch ?? one.state.generation ?? "" : "");
    const kindOf = (one) => (!board.phase || group.protocol === "consumer" ? "in" : seated.includes(one) ? "in" : ["crashed", "frozen", "died"].includes(one.state.life) ? "dead" : "out");
    const room = this.root.closest(".rk-tight") ? 4 : 6;
    const seats = wanted.slice(0, wanted.length > room + 2 ? room : room + 2).map((one) => [one.label, one.hue, kindOf(one), at(one), group.generation]);
    board.coming.filter((one) => !wanted.includes(one)).slice(0, 3).forEach((one) => seats.push([one.label, one.hue, "coming", "", null]));
    const key = JSON.stringify(seats);
    if (key === this.seats) return;
    this.seats = key;
    this.room.children[1].replaceChildren(...seats.map(([label, hue, kind, epoch, current]) =>
      make("i", { class: `rk-seat rk-${kind}`, style: `--hue:var(--rk-m${hue});--on:var(--rk-m${hue}o)`, "data-behind": epoch !== "" && epoch !== current }, label, epoch === "" ? null : make("small", {}, String(epoch)))),
    wanted.length > room + 2 ? make("span", {}, `+${wanted.length - room}`) : "");
  }
}
