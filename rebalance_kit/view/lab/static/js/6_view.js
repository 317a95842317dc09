// What the lab shows: which picture stands on the stage, its size, and the words around it.

class LabView extends LabTools {
  // --- drawing -------------------------------------------------------------------------------
  room() {
    if (!this.presenting) {
      const wide = this.el.clientWidth || 1040, large = wide >= 1500 ? 1.25 : 1;
      this.root.style.zoom = large > 1 ? String(large) : "";
      return Math.floor(wide / large);
    }
    const zoom = Math.max(0.6, Math.min(innerWidth / 960, innerHeight / 580));
    this.root.style.zoom = zoom.toFixed(3);
    return Math.floor(innerWidth / zoom);
  }

  fit() {
    if (!this.film) return;
    const outer = this.room(), width = Math.max(720, outer);
    if (this.stage && this.width === width && this.outer === outer) return;
    this.width = width;
    this.outer = outer;
    this.root.classList.toggle("rk-tight", outer < 960);
    this.root.classList.toggle("rk-snug", outer < 1130);
    this.root.classList.toggle("rk-thin", outer < 900);
    const sizes = measure(this.film, width, this.root.classList.contains("rk-projector"));
    const Kind = sizes.tiles ? Tiles : Stage;
    const focused = this.stage && this.stage.root.contains(document.activeElement);
    this.stage = new Kind(this.film, sizes, (index) => {
      if (index < 0) { this.act("add"); return; }
      this.select(index);
      this.stage.lanes[index].node.focus();
    });
    this.strip.show(this.film, Math.max(360, outer));
    this.showStage();
    if (focused && this.stage.lanes[this.selected]) this.stage.lanes[this.selected].node.focus();
  }

  // Which picture stands on the stage; its height stays what the board needs, so that no notebook jumps.
  showStage() {
    if (!this.stage) return;
    const node = this.comparing ? this.comparing.root : this.panels.name === "flow" ? this.stage.root : this.panels.panel;
    if (node !== this.stage.root) node.style.height = this.comparing ? "" : this.stage.root.style.height;
    const inside = this.stageHome.firstChild !== node && this.stageHome.contains(document.activeElement);
    if (this.stageHome.firstChild !== node) this.stageHome.replaceChildren(node);
    this.panels.list.hidden = !!this.comparing;
    this.root.classList.toggle("rk-comparing", !!this.comparing);
    this.paint(false);
    if (inside) (this.comparing ? this.comparing.root : this.panels.name === "flow" ? this.board() : this.panels.tabs.find((one) => one.dataset.tab === this.panels.name)).focus();
  }

  paint(moving) {
    if (!this.stage) return;
    const board = boardAt(this.film, this.player.at);
    if (this.comparing) this.comparing.paint(this.player.at);
    else if (this.panels.name !== "flow") this.panels.paint(moving);
    else this.stage.paint(board, this.selected, moving && this.player.playing);
    this.stage.lanes.forEach((lane, index) => set(lane.node, "tabindex", index === this.selected ? "0" : "-1"));
    const [cause, effect, place] = sentenceAt(this.film, this.player.at);
    say(this.cause, cause);
    say(this.effect, effect);
    this.paintMeter(board);
    this.strip.paint(this.player.at, `${seconds(this.player.at).replace(" s", " seconds")}, ${board.group.state}, ${board.flowing} of ${board.there} flow`);
    this.paintTransport();
    this.paintActions(board);
    this.speak(place, cause, effect);
    if (!this.player.playing) say(this.twin, this.comparing ? this.comparing.twin : twinText(this.film, board));
  }

  paintMeter(board) {
    const many = this.film.partitions.length > 24;
    say(this.flowing, many ? `${((100 * board.flowing) / board.there).toFixed(board.flowing % board.there ? 1 : 0)} %` : `${board.flowing} of ${board.there}`);
    const key = many ? "" : board.partitions.map((one) => `${one.owner}${one.flows}`).join();
    if (this.meterKey === key) return;
    this.meterKey = key;
    this.meter.replaceChildren(...(many ? [] : board.partitions.filter((one) => one.owner !== GONE).map((one) => make("i", { class: one.flows ? "" : one.owner < 0 ? "rk-none" : "rk-stop", style: one.flows ? `background:var(--rk-m${this.film.members[one.owner].hue})` : "" }))));
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
    let theme = this.presenting ? "projector" : this.model.get("theme");
    if (theme === "auto") {
      const light = document.body.getAttribute("data-jp-theme-light");
      theme = light === "true" ? "light" : light === "false" ? "dark" : this.dark.matches ? "dark" : "light";
    }
    for (const each of ["light", "dark", "projector"]) this.root.classList.toggle(`rk-${each}`, each === theme);
    this.root.classList.toggle("rk-calm", this.still);
    if (quiet || !this.stage) return;
    this.width = 0;
    this.fit();
  }
}
