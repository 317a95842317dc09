// The lab itself: regions, buttons, keys, and the talk with the kernel (one request at a time, one waiting).

class Lab {
  constructor(model, el) {
    this.model = model;
    this.el = el;
    this.selected = 0;
    this.waiting = null;
    this.queued = null;
    this.lastSpoken = { place: -1, at: 0 };
    this.player = new Player((from, to) => this.onTick(from, to), () => this.stopped());
    this.build();
    this.listen();
    this.takeFilm(true);
  }

  build() {
    const button = (words, label, run, extra = {}) => {
      const node = make("button", { type: "button", "aria-label": label, ...extra }, words);
      node.addEventListener("click", run);
      return node;
    };
    this.title = make("b", { class: "rk-title" });
    this.protocols = make("div", { class: "rk-seg", role: "group", "aria-label": "Protocol" });
    this.assignor = this.choice("Assignor", (value) => this.ask({ type: "set", name: "assignor", value }));
    this.theme = this.choice("Theme", (value) => { this.model.set("theme", value); this.model.save_changes(); });
    this.header = make("div", { class: "rk-head", role: "toolbar", "aria-label": "Scenario and protocol" }, this.title, this.protocols, this.assignor.root, make("span", { class: "rk-gap" }), this.theme.root,
      button("?", "Keyboard and legend", () => this.toggleHelp(), { class: "rk-help" }));
    this.cause = make("p", { class: "rk-cause" });
    this.effect = make("p", { class: "rk-effect" });
    this.meter = make("span", { class: "rk-squares", "aria-hidden": "true" });
    this.flowing = make("b", {});
    this.sayRegion = make("div", { class: "rk-say" }, make("div", {}, this.cause, this.effect), make("div", { class: "rk-meter" }, this.meter, this.flowing, make("span", {}, "flow")));
    this.stageHome = make("div", { class: "rk-stagehome" });
    this.who = make("span", { class: "rk-selected" });
    this.actions = ACTIONS.map((action) => Object.assign(button(action.words, action.words, () => this.act(action.do)), { action }));
    this.actions.forEach((node) => node.append(make("kbd", { "aria-hidden": "true" }, node.action.key)));
    this.add = button("+ Member", "Add member", () => this.act("add"));
    this.add.append(make("kbd", { "aria-hidden": "true" }, "M"));
    this.notice = make("span", { class: "rk-notice", role: "alert" });
    this.undo = button("Undo", "Undo", () => this.ask({ type: "undo" }));
    this.redo = button("Redo", "Redo", () => this.ask({ type: "redo" }));
    this.actionBar = make("div", { class: "rk-actions", role: "toolbar", "aria-label": "Actions" }, this.who, ...this.actions, this.add, this.notice, make("span", { class: "rk-gap" }), this.undo, this.redo);
    this.playButton = button(icon("play"), "Play", () => this.toggle(), { class: "rk-play" });
    this.clock = make("b", { class: "rk-clock" });
    this.pace = make("span", { class: "rk-pace", "aria-hidden": "true" });
    this.speed = this.choice("Speed", (value) => { this.player.speed = value === "Auto" ? value : Number(value); });
    this.fillChoice(this.speed, SPEEDS.map((each) => [String(each), each === "Auto" ? "Auto" : `${each} ×`]), "Auto");
    this.transport = make("div", { class: "rk-transport", role: "toolbar", "aria-label": "Playback" },
      button(icon("first"), "Previous mark", () => this.jump(-1, "marks")), button(icon("back"), "Previous event", () => this.jump(-1, "events")), this.playButton,
      button(icon("next"), "Next event", () => this.jump(1, "events")), button(icon("last"), "Next mark", () => this.jump(1, "marks")), this.clock, this.pace, this.speed.root);
    this.strip = new Strip((at, dragging) => this.seek(at, dragging));
    this.status = make("div", { class: "rk-status", role: "status", "aria-live": "polite" });
    this.twin = make("pre", { class: "rk-twin" });
    this.details = make("details", { class: "rk-astext" }, make("summary", {}, "As text"), this.twin);
    this.help = make("div", { class: "rk-keys", hidden: true }, make("table", {}, make("caption", {}, "Keys"), make("tbody", {}, ...KEYS.map(([key, does]) => make("tr", {}, make("th", { scope: "row" }, key), make("td", {}, does))))));
    this.root = make("section", { class: "rk-lab rk-light", "data-lm-suppress-shortcuts": "true" }, this.header, this.sayRegion, this.stageHome, this.actionBar, this.transport, this.strip.root, this.details, this.help, this.status);
    this.el.append(this.root);
  }

  choice(label, run) {
    const select = make("select", { "aria-label": label });
    select.addEventListener("change", () => run(select.value));
    return { root: make("label", { class: "rk-choice" }, make("span", {}, label), select), select };
  }

  fillChoice(choice, options, value) {
    const key = JSON.stringify(options);
    if (choice.key !== key) {
      choice.key = key;
      choice.select.replaceChildren(...options.map(([name, words]) => make("option", { value: name }, words)));
    }
    choice.select.value = value;
  }

  listen() {
    const on = (name, run) => { this.model.on(name, run); this.offs.push(() => this.model.off(name, run)); };
    this.offs = [];
    on("change:film", () => this.takeFilm(false));
    on("change:theme", () => this.applyTheme());
    on("change:controls", () => this.showControls());
    on("change:cursor_ms", () => this.followCursor());
    on("msg:custom", (message) => this.hear(message));
    this.root.addEventListener("keydown", (event) => this.onKey(event));
    this.observer = new ResizeObserver(() => this.fit());
    this.observer.observe(this.el);
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    const dark = () => this.applyTheme();
    this.dark.addEventListener("change", dark);
    this.themeWatch = new MutationObserver(dark);
    this.themeWatch.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light"] });
    this.offs.push(() => this.dark.removeEventListener("change", dark), () => this.themeWatch.disconnect(), () => this.observer.disconnect());
  }

  close() {
    this.player.pause();
    this.offs.forEach((off) => off());
  }

  // --- the kernel's side ---------------------------------------------------------------------
  async takeFilm(first) {
    const view = this.model.get("film");
    const raw = await inflate(view);
    if (view !== this.model.get("film")) return; // a newer one came meanwhile
    this.film = decodeFilm(raw);
    this.serial = this.model.get("controls").serial;
    this.selected = Math.min(this.selected, this.film.members.length - 1);
    this.player.load(this.film);
    if (first) this.player.seek(this.model.get("cursor_ms"));
    this.showControls();
    this.applyTheme(true);
    this.stage = null;
    this.fit();
    if (this.whenFilmed) this.whenFilmed();
    this.whenFilmed = null;
  }

  showControls() {
    const controls = this.model.get("controls");
    say(this.title, controls.title);
    set(this.root, "aria-label", `Rebalance lab, ${controls.title}`);
    if (this.protocols.children.length !== controls.protocols.length) {
      this.protocols.replaceChildren(...controls.protocols.map(([name, words]) => {
        const node = make("button", { type: "button", "data-protocol": name }, words);
        node.addEventListener("click", () => this.ask({ type: "set", name: "protocol", value: name }));
        return node;
      }));
    }
    [...this.protocols.children].forEach((node) => set(node, "aria-pressed", node.dataset.protocol === controls.protocol ? "true" : "false"));
    this.fillChoice(this.assignor, controls.assignors.map((name) => [name, name]), controls.assignor);
    this.fillChoice(this.theme, [["auto", "Auto"], ["light", "Light"], ["dark", "Dark"], ["projector", "Projector"]], this.model.get("theme"));
    this.undo.disabled = !controls.undo;
    this.redo.disabled = !controls.redo;
    set(this.undo, "title", controls.undo || "Nothing to undo");
    set(this.redo, "title", controls.redo || "Nothing to redo");
  }

  ask(message) {
    if (this.waiting) { this.queued = message; return; }
    this.waiting = { ...message, at_ms: Math.round(this.player.at), id: (this.lastId = (this.lastId || 0) + 1) };
    this.slow = setTimeout(() => this.tell("Waits for the kernel."), 300);
    this.waiting.started = performance.now();
    this.model.send(this.waiting);
  }

  hear(message) {
    if (!this.waiting || message.id !== this.waiting.id) { return; }
    clearTimeout(this.slow);
    this.roundTrip = performance.now() - this.waiting.started;
    this.waiting = null;
    this.tell(message.type === "refused" ? message.words : "");
    if (message.type === "done") this.whenShown(message);
    const next = this.queued;
    this.queued = null;
    if (next) this.ask(next);
  }

  // The film travels beside the answer and is inflated first.
  whenShown(message) {
    if (this.serial === message.serial) this.follow(message); else this.whenFilmed = () => this.follow(message);
  }

  // What was done happens at the cursor, so time goes on from there.
  follow(message) {
    if (message.select) {
      const index = this.film.members.findIndex((one) => one.name === message.select);
      if (index >= 0) this.selected = index;
    }
    this.paint(false);
    if (message.play) this.play();
  }

  followCursor() {
    const at = this.model.get("cursor_ms");
    if (!this.film || this.player.playing || at === this.sentCursor || at === Math.round(this.player.at)) return;
    this.player.seek(at);
    this.paint(false);
  }

  sendCursor() {
    this.sentCursor = Math.round(this.player.at);
    if (this.model.get("cursor_ms") === this.sentCursor) return;
    this.model.set("cursor_ms", this.sentCursor);
    this.model.save_changes();
  }

  // --- acting --------------------------------------------------------------------------------
  act(what) {
    const member = this.film.members[this.selected];
    const refused = what === "add" ? "" : this.refusal(what);
    if (refused) { this.tell(refused); return; }
    const frozen = member && boardAt(this.film, this.player.at).members[this.selected].state.life === "frozen";
    this.player.pause();
    this.ask({ type: "act", do: what === "freeze" && frozen ? "thaw" : what, member: what === "add" ? null : member.name });
  }

  refusal(what) {
    const member = this.film.members[this.selected];
    if (!member) return "Nobody is in the group. Add a member (M).";
    const { life } = stateAt(this.film.memberTracks[member.index], this.film.memberStates, this.player.at);
    if (life === "alive" || (life === "frozen" && what !== "leave")) return "";
    if (what === "restart") return "";
    const why = { crashed: "has crashed", died: "has died", closed: "has left", absent: "has not started", frozen: "is frozen. Thaw it first" }[life];
    return life === "frozen" ? `${member.name} ${why}.` : `${member.name} ${why}. Restart it first.`;
  }

  tell(words) {
    say(this.notice, words);
  }

  select(index) {
    this.selected = Math.max(0, Math.min(index, this.film.members.length - 1));
    this.paint(false);
    const lane = this.stage.lanes[this.selected];
    if (lane && this.root.contains(document.activeElement) && document.activeElement.closest(".rk-board")) lane.node.focus();
  }

  // --- time ----------------------------------------------------------------------------------
  toggle() {
    if (!this.film) return;
    if (this.player.playing) this.player.pause(); else this.play();
  }

  play() {
    this.player.play();
    this.paintTransport();
  }

  stopped() {
    this.paint(false);
    this.sendCursor();
  }

  seek(at, dragging) {
    this.player.seek(at);
    if (!this.player.playing) this.paint(false);
    if (!dragging) this.sendCursor();
  }

  jump(direction, kind) {
    this.player.pause();
    const times = kind === "marks" ? [...new Set(this.film.marks.map((mark) => mark.at))] : this.film.events;
    this.player.step(direction, times);
    this.paint(direction > 0);
    if (direction > 0 && kind === "events") this.pillsUpTo(this.player.at - 1, this.player.at);
    this.sendCursor();
  }

  onTick(from, to) {
    this.pillsUpTo(from, to);
    this.paint(true);
  }

  pillsUpTo(from, to) {
    if (to - from > 200) return;
    const { messages } = this.film;
    this.sentTimes = this.sentTimesOf === messages ? this.sentTimes : messages.map((one) => one.sent);
    this.sentTimesOf = messages;
    for (let place = placeOf(this.sentTimes, from) + 1; place < messages.length && messages[place].sent <= to; place += 1) this.stage.pill(messages[place]);
  }

  // --- drawing -------------------------------------------------------------------------------
  fit() {
    if (!this.film) return;
    const width = Math.max(720, Math.floor(this.el.clientWidth || 1040));
    if (this.stage && this.width === width) return;
    this.width = width;
    this.root.classList.toggle("rk-tight", width < 960);
    const sizes = measure(this.film, width, this.root.classList.contains("rk-projector"));
    const Kind = sizes.tiles ? Tiles : Stage;
    const old = this.stageHome.firstChild;
    const focused = old && old.contains(document.activeElement);
    this.stage = new Kind(this.film, sizes, (index) => {
      if (index < 0) { this.act("add"); return; }
      this.select(index);
      this.stage.lanes[index].node.focus();
    });
    this.stageHome.replaceChildren(this.stage.root);
    this.strip.show(this.film, width);
    this.paint(false);
    if (focused && this.stage.lanes[this.selected]) this.stage.lanes[this.selected].node.focus();
  }

  paint(moving) {
    if (!this.stage) return;
    const board = boardAt(this.film, this.player.at);
    this.stage.paint(board, this.selected, moving && this.player.playing);
    this.stage.lanes.forEach((lane, index) => set(lane.node, "tabindex", index === this.selected ? "0" : "-1"));
    const [cause, effect, place] = sentenceAt(this.film, this.player.at);
    say(this.cause, cause);
    say(this.effect, effect);
    this.paintMeter(board);
    this.strip.paint(this.player.at, `${seconds(this.player.at).replace(" s", " seconds")}, ${board.group.state}, ${board.flowing} of ${this.film.partitions.length} flow`);
    this.paintTransport();
    this.paintActions(board);
    this.speak(place, cause, effect);
    if (!this.player.playing) say(this.twin, twinText(this.film, board));
  }

  paintMeter(board) {
    const many = this.film.partitions.length > 24;
    say(this.flowing, many ? `${((100 * board.flowing) / board.partitions.length).toFixed(board.flowing % board.partitions.length ? 1 : 0)} %` : `${board.flowing} of ${board.partitions.length}`);
    const key = many ? "" : board.partitions.map((one) => `${one.owner}${one.flows}`).join();
    if (this.meterKey === key) return;
    this.meterKey = key;
    this.meter.replaceChildren(...(many ? [] : board.partitions.map((one) => make("i", { class: one.flows ? "" : one.owner < 0 ? "rk-none" : "rk-stop", style: one.flows ? `background:var(--rk-m${this.film.members[one.owner].hue})` : "" }))));
  }

  paintTransport() {
    const { playing } = this.player;
    if (this.playButton.getAttribute("aria-label") !== (playing ? "Pause" : "Play")) this.playButton.replaceChildren(icon(playing ? "pause" : "play"));
    set(this.playButton, "aria-label", playing ? "Pause" : "Play");
    say(this.clock, seconds(this.player.at));
    say(this.pace, playing && this.player.speed === "Auto" ? `${this.player.pace(this.player.at)} ×` : "");
  }

  paintActions(board) {
    const member = board.members[this.selected];
    say(this.who, member ? `${member.name} selected` : "nobody selected");
    const frozen = member && member.state.life === "frozen";
    this.actions.forEach((node) => {
      const refused = this.refusal(node.action.do);
      set(node, "aria-disabled", refused ? "true" : "false");
      set(node, "title", refused || null);
      const words = node.action.do === "freeze" && frozen ? "Thaw" : node.action.words;
      if (node.firstChild.data !== words) node.firstChild.data = words;
      set(node, "aria-label", member ? `${words} ${member.name}` : words);
    });
  }

  // One polite message per 1.5 s while playing: the latest sentence replaces what waits.
  speak(place, cause, effect) {
    if (place === this.lastSpoken.place) return;
    const now = performance.now();
    clearTimeout(this.speaking);
    const wait = Math.max(0, 1500 - (now - this.lastSpoken.at));
    this.lastSpoken.place = place;
    this.speaking = setTimeout(() => {
      this.lastSpoken.at = performance.now();
      say(this.status, `${seconds(this.player.at)} ${cause} ${effect}`);
    }, this.player.playing ? wait : 0);
  }

  applyTheme(quiet) {
    let theme = this.model.get("theme");
    if (theme === "auto") {
      const light = document.body.getAttribute("data-jp-theme-light");
      theme = light === "true" ? "light" : light === "false" ? "dark" : this.dark.matches ? "dark" : "light";
    }
    for (const each of ["light", "dark", "projector"]) this.root.classList.toggle(`rk-${each}`, each === theme);
    this.theme.select.value = this.model.get("theme");
    if (quiet || !this.stage) return;
    this.width = 0;
    this.fit();
  }

  toggleHelp() {
    this.help.hidden = !this.help.hidden;
  }

  onKey(event) {
    if (!this.film || event.altKey || event.metaKey || event.target.tagName === "SELECT") return;
    const run = keyRun(this, event);
    if (!run) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.repeat && ![".", ",", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"].includes(event.key)) return;
    run();
  }

  faster(by) {
    const place = Math.max(0, Math.min(SPEEDS.length - 1, SPEEDS.indexOf(this.player.speed) + by));
    this.player.speed = SPEEDS[place];
    this.speed.select.value = String(SPEEDS[place]);
  }

  nextProtocol() {
    const { protocols, protocol } = this.model.get("controls");
    const place = protocols.findIndex(([name]) => name === protocol);
    this.ask({ type: "set", name: "protocol", value: protocols[(place + 1) % protocols.length][0] });
  }
}

export default {
  render({ model, el }) {
    const lab = new Lab(model, el);
    el.rebalanceLab = lab;
    return () => lab.close();
  },
};
