// Tabs on one cursor. A tab's content is asked for when it is opened, once per run, and moved through by the page.

import { make, say, set } from "../../shared/dom.js";
import { inflate } from "../film/format.js";
import { Timeline } from "../timeline/timeline.js";
import { CliView } from "./cli.js";
import { InvariantsView } from "./invariants.js";
import { LogsView } from "./logs.js";
import { MembersView } from "./members.js";
import { Messages } from "./messages.js";
import { MetricsView } from "./metrics.js";
import { FROM_KERNEL, TABS } from "./tabs.js";
import { WhyView } from "./why.js";

const REST_MS = 150;
const ASKS = "Asks the kernel…";

/** The tabs and the panel that they share. */
export class Panels {
  /** @param {import("../lab.js").Lab} lab */
  constructor(lab) {
    this.lab = lab;
    this.name = "flow";
    /** @type {Map<string, string>} */
    this.filled = new Map();
    /** @type {string | null} */
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
        title: `Alt+${place + 1}`,
      }, words);
      node.addEventListener("click", () => this.open(name));
      return node;
    });
    this.list = make("div", { class: "rk-tabs", role: "tablist", "aria-label": "Views" }, ...this.tabs);
    this.list.addEventListener("keydown", (event) => this.onKey(event));
    this.panel = make("div", { class: "rk-panel" });
    this.wait = make("p", { class: "rk-wait", role: "status" }, ASKS);
    this.home = lab.ui.stageHome; // the one panel of all tabs
    set(this.home, "role", "tabpanel");
    set(this.home, "id", `rk-panel-${key}`);
    this.views = this.viewsOf(lab);
    this.mark();
  }

  /**
   * Each tab is given what it uses.
   * @param {import("../lab.js").Lab} lab
   */
  viewsOf(lab) {
    const { store, ui } = lab;
    const width = () => lab.screen.width;
    const tell = (/** @type {string} */ words) => lab.tell(words);
    const seek = (/** @type {number} */ at, /** @type {boolean} */ dragging) => lab.seek(at, dragging);
    const choose = (/** @type {number} */ member) => {
      store.select(member);
      lab.paint(false);
    };
    return {
      timeline: new Timeline(store, ui.root, width, seek, choose),
      messages: new Messages(store, width),
      logs: new LogsView(store, tell),
      cli: new CliView(tell),
      metrics: new MetricsView(store),
      members: new MembersView(store),
      why: new WhyView(lab),
      invariants: new InvariantsView(seek),
    };
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
    return /** @type {any} */ (this.views)[name];
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
    this.wait.hidden = this.lab.store.dragged !== null || view.content !== null ||
      !FROM_KERNEL.has(this.name);
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
    if (this.lab.store.dragged) return; // asked for when it is let go
    const { name } = this;
    const key = this.keyOf(name);
    if (this.filled.get(name) === key || this.asking) return;
    if (name === "cli" && this.viewOf(name).content) {
      clearTimeout(this.resting);
      this.resting = setTimeout(() => this.fetch(name), REST_MS);
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
      member: lab.film.members[lab.selected]?.name,
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
}
