// The lab itself: regions, buttons, keys, and the talk with the kernel (one request at a time, one waiting).

class Lab extends LabView {
  constructor(model, el) {
    super();
    this.model = model;
    this.el = el;
    this.selected = 0;
    this.letters = true;
    this.calm = null;
    this.pills = "all";
    this.alone = !!model.get("controls").alone;
    this.lastSpoken = { place: -1, at: 0 };
    this.talk = new Talk(model, (busy) => this.busy(busy), (dead) => this.dead(dead));
    this.player = new Player((from, to) => this.onTick(from, to), () => this.stopped(), () => this.still);
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
    const dialog = (words, label, run, extra = {}) => button(words, label, (event) => run(event.currentTarget), { "aria-haspopup": "dialog", ...extra });
    this.title = make("b", { class: "rk-title" });
    this.presetButton = dialog("", "Lessons", (node) => showPresets(this, node), { class: "rk-presetbutton" });
    this.presetButton.append(this.title, " ▾");
    this.protocols = make("div", { class: "rk-seg", role: "group", "aria-label": "Protocol" });
    this.compareButton = button("Compare", "Compare the protocols", () => this.compare(null), { class: "rk-comparebutton", "aria-pressed": "false" });
    this.settingsButton = dialog("Settings", "Settings", (node) => showSettings(this, node));
    this.predictButton = button("Predict", "Predict", (event) => this.predict.begin(event.currentTarget), { "aria-pressed": "false" });
    this.shareButton = dialog("Copy link", "Copy link", () => this.share());
    this.presentButton = button("Present", "Present", () => this.present(), { "aria-pressed": "false" });
    this.menuButton = dialog("⋯", "More: files, theme, history", (node) => showMenu(this, node), { class: "rk-help" });
    this.header = make("div", { class: "rk-head", role: "toolbar", "aria-label": "Scenario and protocol" }, this.presetButton, make("div", { class: "rk-segs" }, this.protocols, this.compareButton), make("span", { class: "rk-gap" }), this.settingsButton, this.predictButton, this.shareButton, this.presentButton, this.menuButton,
      button("?", "Keyboard and legend", () => this.toggleHelp(), { class: "rk-help" }));
    this.lesson = make("p", { class: "rk-lesson" });
    this.band = make("p", { class: "rk-band", role: "alert" });
    this.predict = new Predict(this);
    this.cause = make("p", { class: "rk-cause" });
    this.effect = make("p", { class: "rk-effect" });
    this.meter = make("span", { class: "rk-squares", "aria-hidden": "true" });
    this.flowing = make("b", {});
    this.sayRegion = make("div", { class: "rk-say" }, make("div", {}, this.cause, this.effect), make("div", { class: "rk-meter" }, this.meter, this.flowing, make("span", {}, "flow")));
    this.stageHome = make("div", { class: "rk-stagehome" });
    this.who = make("span", { class: "rk-selected" });
    this.actions = ACTIONS.map((action) => Object.assign(button(action.words, action.words, () => this.act(action.do)), { action }));
    this.actions.forEach((node) => { node.append(make("kbd", { "aria-hidden": "true" }, node.action.key)); this.previewed(node, node.action.do); });
    this.add = button("+ Member", "Add member", () => this.act("add"));
    this.add.append(make("kbd", { "aria-hidden": "true" }, "M"));
    this.previewed(this.add, "add");
    this.more = dialog("More", "More actions", (node) => showMore(this, node));
    this.notice = make("span", { class: "rk-notice", role: "alert" });
    this.cost = make("span", { class: "rk-cost" });
    this.undo = button("Undo", "Undo", () => this.ask({ type: "undo" }));
    this.redo = button("Redo", "Redo", () => this.ask({ type: "redo" }));
    this.fork = button("Fork here", "Fork here", () => this.ask({ type: "fork" }));
    this.branches = button("", "History and branches", (event) => showHistory(this, event.currentTarget), { class: "rk-branches", "aria-haspopup": "dialog" });
    this.actionBar = make("div", { class: "rk-actions", role: "toolbar", "aria-label": "Actions" }, this.who, ...this.actions, this.add, this.more, make("span", { class: "rk-words" }, this.notice, this.cost));
    this.playButton = button(icon("play"), "Play", () => this.toggle(), { class: "rk-play" });
    this.clock = make("b", { class: "rk-clock" });
    this.pace = make("span", { class: "rk-pace", "aria-hidden": "true" });
    this.speed = this.choice("Speed", (value) => { this.player.speed = value === "Auto" ? value : Number(value); });
    this.steps = this.choice("Step", () => {});
    this.fillChoice(this.steps, STEPS, "events");
    this.jumps = this.choice("Jump", () => {});
    this.fillChoice(this.jumps, JUMPS, "marks");
    this.fillChoice(this.speed, SPEEDS.map((each) => [String(each), each === "Auto" ? "Auto" : `${each} ×`]), "Auto");
    this.transport = make("div", { class: "rk-transport", role: "toolbar", "aria-label": "Playback" },
      button(icon("first"), "Jump back", () => this.jump(-1, this.jumps.select.value)), button(icon("back"), "Step back", () => this.jump(-1, this.steps.select.value)), this.playButton,
      button(icon("next"), "Step forward", () => this.jump(1, this.steps.select.value)), button(icon("last"), "Jump forward", () => this.jump(1, this.jumps.select.value)), this.clock, this.pace, this.speed.root, this.steps.root, this.jumps.root, make("span", { class: "rk-gap" }), this.branches, this.fork, this.undo, this.redo);
    this.strip = new Strip((at, dragging) => this.seek(at, dragging));
    this.status = make("div", { class: "rk-status", role: "status", "aria-live": "polite" });
    this.twin = make("pre", { class: "rk-twin" });
    this.details = make("details", { class: "rk-astext" }, make("summary", {}, "As text"), this.twin);
    this.help = make("div", { class: "rk-keys", role: "dialog", "aria-label": "Keys", tabindex: "-1", hidden: true }, make("table", {}, make("caption", {}, "Keys"), make("tbody", {}, ...KEYS.map(([key, does]) => make("tr", {}, make("th", { scope: "row" }, key), make("td", {}, does))))));
    this.popup = new Popup(this, "menu", "Menu");
    this.drawer = new Popup(this, "drawer", "Drawer");
    this.popups = [this.popup, this.drawer];
    this.panels = new Panels(this);
    this.root = make("section", { class: "rk-lab rk-light", "data-lm-suppress-shortcuts": "true" }, this.header, this.lesson, this.band, this.panels.list, this.sayRegion, this.stageHome, this.actionBar, this.transport, this.strip.root, this.details, this.help, this.popup.root, this.drawer.root, this.status);
    for (const node of [this.actionBar, this.fork, this.undo, this.redo, this.branches, this.settingsButton, this.predictButton, this.shareButton, this.protocols, this.compareButton]) node.hidden = this.alone;
    this.el.append(this.root);
  }

  choice(label, run) {
    const select = make("select", { "aria-label": label, title: label });
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
    on("msg:custom", (message, buffers) => this.talk.hear(message, buffers));
    this.root.addEventListener("keydown", (event) => this.onKey(event));
    this.root.addEventListener("pointermove", () => this.awake());
    this.stageHome.addEventListener("click", (event) => this.pick(event));
    this.stageHome.addEventListener("contextmenu", (event) => { const lane = event.target.closest(".rk-lane"); if (lane) { event.preventDefault(); lane.click(); this.pick(event); showMore(this, lane); } });
    const full = () => { if (!document.fullscreenElement && this.presenting) this.present(); };
    document.addEventListener("fullscreenchange", full);
    this.observer = new ResizeObserver(() => this.fit());
    this.observer.observe(this.el);
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    const dark = () => this.applyTheme();
    this.dark.addEventListener("change", dark);
    this.themeWatch = new MutationObserver(dark);
    this.themeWatch.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light"] });
    this.offs.push(() => document.removeEventListener("fullscreenchange", full), () => this.dark.removeEventListener("change", dark), () => this.themeWatch.disconnect(), () => this.observer.disconnect());
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
    this.panels.forget();
    this.comparing = null;
    this.showControls();
    this.applyTheme(true);
    if (this.stage && this.stage.adopt && this.stage.adopt(this.film)) {
      this.strip.show(this.film, Math.max(360, this.outer));
      this.showStage();
    } else {
      this.stage = null;
      this.fit();
    }
    if (this.whenFilmed) this.whenFilmed();
    this.whenFilmed = null;
    if (first) this.openAddress();
  }

  // A link in the page's address opens in the first lab of the page.
  openAddress() {
    const came = performance.getEntriesByType("navigation")[0]; // JupyterLab takes its address over and drops what it does not know
    const places = [location.href, came ? came.name : ""].filter(Boolean).map((one) => new URL(one));
    const token = places.map((one) => one.searchParams.get("rebalance-lab") || new URLSearchParams(one.hash.slice(1)).get("rebalance-lab")).find(Boolean);
    if (!token || this.alone || window.rebalanceLinkOpened === token) return;
    window.rebalanceLinkOpened = token;
    this.ask({ type: "open", token });
  }

  showControls() {
    const controls = this.model.get("controls");
    say(this.title, controls.title);
    set(this.presetButton, "title", controls.title);
    set(this.root, "aria-label", `Rebalance lab, ${controls.title}`);
    if (this.protocols.children.length !== controls.protocols.length) {
      this.protocols.replaceChildren(...controls.protocols.map(([name, words]) => {
        const node = make("button", { type: "button", "data-protocol": name }, words);
        node.addEventListener("click", () => this.ask({ type: "set", name: "protocol", value: name }));
        return node;
      }));
    }
    [...this.protocols.children].forEach((node) => set(node, "aria-pressed", node.dataset.protocol === controls.protocol ? "true" : "false"));
    set(this.presetButton, "aria-label", `Lessons: ${controls.title}`);
    say(this.lesson, controls.try ? `${controls.lesson}. Try: ${controls.try} Watch: ${controls.watch}.` : "");
    const here = controls.branches && controls.branches[controls.here];
    if (here) {
      this.branches.replaceChildren(...controls.branches.slice(-4).map((one) => make("i", { class: one === here ? "rk-hereB" : "" })), here[0]);
      set(this.branches, "aria-label", `History: ${controls.branches.length} branch${controls.branches.length === 1 ? "" : "es"}, ${here[0]} is shown`);
    }
    this.undo.disabled = !controls.undo;
    this.redo.disabled = !controls.redo;
    set(this.undo, "title", controls.undo || "Nothing to undo");
    set(this.redo, "title", controls.redo || "Nothing to redo");
    if (controls.notice && controls.notice !== this.toldNotice) this.tell(controls.notice);
    this.toldNotice = controls.notice;
  }

  // One change at a time; `then` hears the answer, refused or done.
  ask(message, then = null) {
    this.talk.change({ at_ms: Math.round(this.player.at), ...message }, (answer) => {
      if (answer.type === "refused" && !then) this.refuse(answer.words);
      if (answer.type === "done") { if (!this.model.get("controls").notice) this.tell(""); this.whenShown(answer); }
      if (then) then(answer);
    });
  }

  busy(busy) {
    this.root.classList.toggle("rk-busy", busy);
    if (busy) this.tell("Waits for the kernel."); else if (this.notice.textContent === "Waits for the kernel.") this.tell("");
  }

  dead(dead) {
    say(this.band, dead ? "The kernel does not answer. You can still play and read this run. To act, restart the kernel and run the cell again." : "");
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
    if (message.seek !== undefined) { this.player.pause(); this.player.seek(message.seek); }
    this.paint(false);
    if (message.cost !== undefined) this.tellCost(message);
    if (message.play && !this.predict.on) this.play();
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
    if (this.alone) return;
    const member = this.film.members[this.selected], known = MORE.find((one) => one.do === what) || {};
    const refused = known.member ? this.refusal(what) : "";
    if (refused) { this.refuse(refused); return; }
    const board = boardAt(this.film, this.player.at);
    const frozen = member && board.members[this.selected].state.life === "frozen";
    this.player.pause();
    let name = what === "freeze" && frozen ? "thaw" : what;
    if (what === "broker_down" && !board.group.up) name = "broker_up";
    this.foreseen = this.lastPreview && this.lastPreview.what === what && this.lastPreview.at === Math.round(this.player.at) && this.lastPreview.member === this.selected ? this.lastPreview : null;
    const message = { type: "act", do: name, member: known.member ? member.name : null, args: known.args ? known.args(this, member) : {}, at_ms: Math.round(this.player.at) };
    if (this.predict.on) { this.predict.ask({ ...message, words: `${known.words}${known.member ? `, ${member.name}` : ""}` }); return; }
    this.ask(message);
  }

  running() {
    return boardAt(this.film, this.player.at).members.filter((one) => ["alive", "frozen"].includes(one.state.life)).length;
  }

  refusal(what) {
    const member = this.film.members[this.selected];
    if (!member) return "Nobody is in the group. Add a member (M).";
    const { life } = stateAt(this.film.memberTracks[member.index], this.film.memberStates, this.player.at);
    if (life === "alive" || (life === "frozen" && what !== "leave")) return "";
    if (what === "restart" || what === "heal_network" || what === "remove") return "";
    const why = { crashed: "has crashed", died: "has died", closed: "has left", absent: "has not started", frozen: "is frozen. Thaw it first" }[life];
    return life === "frozen" ? `${member.name} ${why}.` : `${member.name} ${why}. Restart it first.`;
  }

  tell(words) {
    say(this.notice, words);
    set(this.notice, "title", words || null);
    this.notice.classList.remove("rk-refused");
  }

  refuse(words) {
    this.tell(words);
    this.notice.classList.add("rk-refused");
  }

  select(index) {
    this.selected = Math.max(0, Math.min(index, this.film.members.length - 1));
    this.unspot();
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

  onTick(from, to) {
    this.pillsUpTo(from, to);
    this.paint(true);
  }

  pillsUpTo(from, to) {
    if (to - from > 200 || this.pills === "none") return;
    const { messages } = this.film;
    this.sentTimes = this.sentTimesOf === messages ? this.sentTimes : messages.map((one) => one.sent);
    this.sentTimesOf = messages;
    for (let place = placeOf(this.sentTimes, from) + 1; place < messages.length && messages[place].sent <= to; place += 1) if (this.pills === "all" || messages[place].news || messages[place].error || !QUIET_APIS.has(messages[place].api)) this.stage.pill(messages[place]);
  }

  toggleHelp() {
    this.help.hidden = !this.help.hidden;
    if (!this.help.hidden) this.help.focus();
  }

  onKey(event) {
    this.awake();
    if (!this.film || event.metaKey || event.target.tagName === "SELECT" || (event.target.tagName === "INPUT" && event.target !== this.strip.slider && event.key !== "Escape")) return;
    const run = keyRun(this, event);
    if (!run) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.repeat && ![".", ",", "<", ">", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"].includes(event.key)) return;
    run();
  }

  // What a key would do now (nothing is done).
  runOf({ key, target, shiftKey = false, ctrlKey = false, altKey = false }) {
    return keyRun(this, { key, target, shiftKey, ctrlKey, altKey });
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
