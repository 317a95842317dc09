// What the lab can do beside playing: links, comparison, files, presenting, and what Esc closes.

class LabTools extends LabCost {
  // The next partition in the selected lane: marked, and said.
  spot(step) {
    const board = boardAt(this.film, this.player.at), held = board.owned[this.selected] || [];
    if (!held.length || !this.stage.tokens) return;
    const at = held.indexOf(this.spotted);
    this.spotted = held[(at < 0 ? (step > 0 ? 0 : held.length - 1) : at + step + held.length) % held.length];
    this.showSpot();
  }

  showSpot() {
    const board = boardAt(this.film, this.player.at);
    this.stage.tokens.forEach((token) => token.node.classList.toggle("rk-spot", token.index === this.spotted));
    const state = board.partitions[this.spotted], at_ = positionAt(this.film, this.spotted, this.player.at, state.flows);
    say(this.status, `${this.film.partitions[this.spotted]}: ${state.word}${at_ ? `, ${Math.max(0, at_.end - at_.position)} records wait` : ""}`);
  }

  // A click on a partition marks it: tokens lie above the lanes and let clicks through.
  pick(event) {
    if (!this.stage || !this.stage.tokens || this.panels.name !== "flow") return;
    const hit = this.stage.tokens.find((token) => { const box = token.node.getBoundingClientRect(); return event.clientX >= box.left && event.clientX <= box.right && event.clientY >= box.top && event.clientY <= box.bottom; });
    if (!hit) return;
    this.spotted = hit.index;
    this.showSpot();
  }

  unspot() {
    this.spotted = null;
    if (this.stage && this.stage.tokens) this.stage.tokens.forEach((token) => token.node.classList.remove("rk-spot"));
  }

  board() {
    return (this.stage.lanes[this.selected] && this.stage.lanes[this.selected].node) || this.stage.board;
  }

  filter() {
    const field = this.panels.name === "flow" ? null : this.panels.panel.querySelector("input[type=search]");
    if (field) field.focus(); else showPresets(this, this.presetButton);
  }

  async share() {
    const answer = await this.talk.request({ type: "link", at_ms: Math.round(this.player.at) });
    if (answer.type === "refused") { this.refuse(answer.words); return; }
    const { token } = answer, address = new URL(location.href);
    address.hash = "";
    address.searchParams.set("rebalance-lab", token);
    const row = (words, text) => {
      const field = make("input", { type: "text", readonly: true, value: text, "aria-label": words });
      const copy = make("button", { type: "button", "aria-label": `Copy ${words}` }, "Copy");
      copy.addEventListener("click", () => { field.select(); copyText(text, this, "Copied."); });
      return make("div", { class: "rk-field" }, make("span", {}, words), make("div", { class: "rk-bar" }, field, copy));
    };
    const other = make("input", { type: "text", "aria-label": "Link to open", placeholder: "rk1.…" }), go = make("button", { type: "button" }, "Open");
    go.addEventListener("click", () => { this.popup.close(true); this.ask({ type: "open", token: other.value }); });
    this.popup.show(this.shareButton, make("h2", {}, "Link to this moment"), make("p", {}, `${token.length} characters: scenario, what was done, cursor. No code.`), row("link", token), row("in a notebook", `Lab.from_link("${token}")`), row("in a terminal", `rebalance-kit lab ${token}`), row("address of this page", address.href), make("div", { class: "rk-field" }, make("span", {}, "Open a link"), make("div", { class: "rk-bar" }, other, go)));
    copyText(token, this, "The link is copied.");
  }

  async compare(branches) {
    if (this.comparing) { this.comparing = null; set(this.compareButton, "aria-pressed", "false"); this.showStage(); return; }
    if (this.fogged) { this.tell("The future is hidden while you predict."); return; }
    const answer = await this.talk.request(branches ? { type: "compare", branches } : { type: "compare" });
    if (answer.type === "refused") { this.refuse(answer.words); return; }
    const [table, ...films] = await Promise.all(answer.buffers.map(inflate));
    this.comparing = new Compare(this, table, films.map(decodeFilm));
    set(this.compareButton, "aria-pressed", "true");
    this.showStage();
  }

  save(what) {
    return save(this, what).catch((failure) => this.tell(`This browser could not make the file: ${failure.message}`));
  }

  // --- presenting ------------------------------------------------------------------------------
  present() {
    this.presenting = !this.presenting;
    set(this.presentButton, "aria-pressed", this.presenting ? "true" : "false");
    this.root.classList.toggle("rk-present", this.presenting);
    if (this.presenting && this.root.requestFullscreen) this.root.requestFullscreen().catch(() => {});
    if (!this.presenting && document.fullscreenElement) document.exitFullscreen();
    this.root.style.zoom = "";
    if (this.presenting) this.awake(); else this.root.classList.remove("rk-quiet");
    this.applyTheme();
    requestAnimationFrame(() => { this.width = 0; this.fit(); });
  }

  // While presenting, tabs and actions come back for four seconds at any key or move.
  awake() {
    if (!this.presenting) return;
    this.root.classList.remove("rk-quiet");
    clearTimeout(this.sleepy);
    this.sleepy = setTimeout(() => { if (this.presenting && !this.root.querySelector(".rk-popup:not([hidden])")) this.root.classList.add("rk-quiet"); }, 4000);
  }

  // What Esc closes; nothing when there is nothing to close, so that it leaves the lab.
  escape() {
    if (!this.help.hidden) return () => this.toggleHelp();
    const open = this.popups.find((one) => one.open);
    if (open) return () => { if (this.predict.on) this.predict.end(); else open.close(true); };
    if (this.predict.on) return () => this.predict.end();
    if (this.comparing) return () => this.compare(null);
    if (this.presenting) return () => this.present();
    return null;
  }

  get still() {
    return this.calm === null ? matchMedia("(prefers-reduced-motion: reduce)").matches : this.calm;
  }
}
