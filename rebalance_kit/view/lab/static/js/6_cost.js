// What a deed costs, said before it is done and after; and the ways to step and jump through time.

const STEPS = [["events", "event"], ["messages", "message"]];
const JUMPS = [["marks", "any mark"], ["rebalances", "rebalance"], ["callbacks", "callback"], ["faults", "fault"]];
const QUIET_APIS = new Set(["Heartbeat", "ConsumerGroupHeartbeat", "OffsetCommit"]);

class LabCost {
  // A button that is hovered or focused for a moment says what it will cost; the kernel keeps the run for the click.
  previewed(node, what) {
    let waiting;
    const begin = () => { clearTimeout(waiting); waiting = setTimeout(() => this.preview(what), this.film.partitions.length > 64 ? 700 : 150); };
    const end = () => { clearTimeout(waiting); say(this.cost, ""); };
    node.addEventListener("pointerenter", begin);
    node.addEventListener("focus", begin);
    node.addEventListener("pointerleave", end);
    node.addEventListener("blur", end);
  }

  async preview(what) {
    const member = this.film.members[this.selected], known = MORE.find((one) => one.do === what);
    if (this.previewing || this.talk.changing || this.player.playing || this.predict.on || this.alone || (known.member && (!member || this.refusal(what)))) return;
    this.previewing = true;
    const frozen = member && boardAt(this.film, this.player.at).members[this.selected].state.life === "frozen";
    const slow = setTimeout(() => say(this.cost, "computing…"), 150);
    const answer = await this.talk.request({ type: "preview", do: what === "freeze" && frozen ? "thaw" : what, member: known.member ? member.name : null, at_ms: Math.round(this.player.at) });
    clearTimeout(slow);
    this.previewing = false;
    if (answer.type === "done") this.lastPreview = { what, member: this.selected, at: Math.round(this.player.at), cost: answer.cost };
    say(this.cost, answer.type === "done" ? answer.words : "");
  }

  // After a deed: what was foreseen beside what it came to.
  tellCost(answer) {
    const foreseen = this.foreseen ? `foreseen ${thousands(this.foreseen.cost)}, ` : "";
    say(this.cost, `Stopped from here on: ${thousands(answer.cost)} partition-seconds (${foreseen}without it ${thousands(answer.without)}).`);
    this.foreseen = this.lastPreview = null;
  }

  // --- stepping and jumping --------------------------------------------------------------------
  jump(direction, kind) {
    this.player.pause();
    const before = this.player.at;
    this.player.step(direction, this.timesOf(kind));
    this.paint(direction > 0);
    if (direction > 0 && (kind === "events" || kind === "messages")) this.pillsUpTo(this.player.at - 1, this.player.at);
    if (this.player.at === before || this.player.at === this.film.end) this.tell(direction > 0 ? "The run ends here." : "The run begins here.");
    this.sendCursor();
  }

  timesOf(kind) {
    const { film } = this;
    if (kind === "events") return film.events;
    const times = kind === "messages" ? film.messages.map((one) => one.sent)
      : kind === "callbacks" ? film.callbacks
      : film.marks.filter((mark) => kind === "marks" || mark.kind === { rebalances: "rebalance", faults: "fault" }[kind]).map((mark) => mark.at);
    return [...new Set(times)].sort((a, b) => a - b);
  }
}

function thousands(value) {
  return value.toLocaleString("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
}
