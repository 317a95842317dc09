// The lab: its parts, and the talk with the kernel. Each part is a module of its own and asks the lab for the others.

import { make, say, set } from "../shared/dom.js";
import { Costs } from "./acting/costs.js";
import { act } from "./acting/deeds.js";
import { keyRun } from "./acting/keys.js";
import { Predict } from "./acting/predict.js";
import { Steps } from "./acting/steps.js";
import { Pills } from "./board/pills.js";
import { showMore } from "./dialogs/more.js";
import { Popup } from "./dialogs/popup.js";
import { FilmError, readFilm } from "./film/format.js";
import { Guide } from "./guide/guide.js";
import { Pane } from "./guide/pane.js";
import { forgetAddress, linkOfAddress } from "./kernel/address.js";
import { Talk } from "./kernel/talk.js";
import { settingsOf } from "./numbers/number.js";
import { Panels } from "./panels/panels.js";
import { Comparison } from "./screen/comparison.js";
import { showControls } from "./screen/controls.js";
import { Legend } from "./screen/legend.js";
import { Focus } from "./screen/focus.js";
import { Marker } from "./screen/marker.js";
import { Newcomer } from "./screen/newcomer.js";
import { Presenter } from "./screen/presenter.js";
import { buildRegions } from "./screen/regions.js";
import { Screen } from "./screen/screen.js";
import { Options, Theme } from "./screen/theme.js";
import { Store } from "./store.js";
import { Cursor } from "./time/cursor.js";
import { Player } from "./time/player.js";
import { Strip } from "./time/strip.js";
import { ENDS } from "./words/notices.js";

/** @typedef {import("./film/format.js").Film} Film */

const WAITS = "Waits for the kernel.";
const DEAD =
  "The kernel does not answer: it is busy, was restarted or is gone. You can still play and read this run. To act, wait, or run this cell again.";
/** How long a notice stays. */
const TOLD_MS = 12_000;
/** Requests after which another scenario is shown: what was asked of the last one is over. */
const BEGINS_ANEW = new Set(["open", "preset"]);
const REPEATED = new Set([".", ",", "<", ">", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"]);

/** One lab on a page. */
export class Lab {
  /**
   * @param {import("../shared/model.js").Model} model
   * @param {HTMLElement} el
   */
  constructor(model, el) {
    this.model = model;
    this.el = el;
    const { alone, acts } = model.get("controls");
    this.alone = !!alone;
    this.acts = !alone || !!acts; // a live group has no past to change, but deeds are done to it
    /** @type {unknown} */
    this.shownBytes = null;
    /** @type {any[] | null} */
    this.presets = null;
    /** @type {(() => void) | null} */
    this.whenFilmed = null;
    this.toldNotice = "";
    this.forgetting = 0;
    this.fromAddress = false;
    this.sawPlayed = false; // whether a deed was done here whose effect is played
    this.options = new Options();
    this.talk = new Talk(model, (busy) => this.busy(busy), (dead) => this.dead(dead));
    this.player = new Player(
      (from, to) => this.onTick(from, to),
      () => this.onStop(),
      () => this.options.still,
    );
    this.store = new Store(this.player);
    this.cursor = new Cursor(this.store, model, () => this.paint(false));
    this.pills = new Pills(this.store, this.options, (message) => this.screen.stage.pill(message));
    this.legend = new Legend(this);
    this.steps = new Steps(this);
    this.costs = new Costs(this);
    this.marker = new Marker(this);
    this.focus = new Focus(this);
    this.comparison = new Comparison(this);
    this.predict = new Predict(this);
    this.presenter = new Presenter(this);
    this.newcomer = new Newcomer(this);
    this.guide = new Guide(this);
    this.pane = new Pane(this);
    this.ui = buildRegions(this);
    this.screen = new Screen(this);
    this.theme = new Theme(this);
    this.strip = new Strip((at, dragging) => this.seek(at, dragging));
    this.popup = new Popup(this, "menu", "Menu");
    this.drawer = new Popup(this, "drawer", "Drawer");
    this.popups = [this.popup, this.drawer];
    this.panels = new Panels(this);
    this.assemble();
    this.newcomer.mark();
    this.listen();
    this.takeFilm(true);
  }

  // What is shown stands in the store; everything that asks the lab for it reads it there.
  get film() {
    return this.store.film;
  }

  set film(film) {
    this.store.film = film;
  }

  get serial() {
    return this.store.serial;
  }

  get selected() {
    return this.store.selected;
  }

  set selected(place) {
    this.store.select(place);
  }

  /** Whether the run is still being made, by real processes: whoever rests at its end stays there. */
  get live() {
    return !!this.model.get("controls").live;
  }

  assemble() {
    const { ui } = this;
    ui.middle.append(ui.stageHome, this.pane.root);
    ui.viewbar.append(this.panels.list, ui.share);
    ui.root.append(
      ui.header,
      make("div", { class: "rk-intro" }, ui.lesson, ui.story),
      ui.band,
      ui.viewbar,
      ui.sentences,
      ui.middle,
      this.newcomer.signs,
      ui.actionBar,
    );
    ui.root.append(
      ui.transport,
      this.strip.root,
      ui.details,
      ui.help,
      this.popup.root,
      this.drawer.root,
      ui.status,
    );
    this.el.append(ui.root);
  }

  listen() {
    const listeners = /** @type {[string, (...args: any[]) => void][]} */ ([
      ["change:film", () => this.takeFilm(false)],
      ["change:theme", () => this.theme.apply()],
      ["change:controls", () => this.takeControls()],
      ["change:cursor_ms", () => this.cursor.follow()],
      ["comm_live_update", () => this.talk.request({ type: "alive" }, true)],
      ["msg:custom", (message, buffers) => this.talk.hear(message, buffers)],
    ]);
    listeners.forEach(([name, run]) => this.model.on(name, run));
    this.unlisten = () => listeners.forEach(([name, run]) => this.model.off(name, run));
    const { root, stageHome } = this.ui;
    root.addEventListener("keydown", (event) => this.onKey(event));
    this.focus.listen();
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
    this.focus.close();
    this.theme.close();
  }

  // --- the kernel's side ---------------------------------------------------------------------
  /** @param {boolean} first */
  async takeFilm(first) {
    const bytes = this.model.get("film");
    try {
      const film = await readFilm(bytes);
      if (bytes !== this.model.get("film")) return; // a newer one came meanwhile
      this.film = film;
      this.shownBytes = bytes;
    } catch (failure) {
      if (!(failure instanceof FilmError)) throw failure;
      this.screen.refuseFilm(failure.message);
      this.showControls();
      return;
    }
    const follows = this.live && (first || this.player.at >= this.player.end);
    this.store.select(this.selected);
    this.player.load(this.film);
    if (follows) this.player.seek(this.film.end);
    else if (first) this.player.seek(this.model.get("cursor_ms"));
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
    this.store.serial = this.model.get("controls").serial;
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
    const token = this.alone ? null : linkOfAddress();
    if (!token) return;
    this.fromAddress = true;
    this.ask({ type: "open", token });
  }

  showControls() {
    const controls = this.model.get("controls");
    this.store.numbers = settingsOf(controls);
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
    this.talk.change({ at_ms: Math.round(this.player.at), ...message }, (answer) => {
      if (answer.type === "refused" && !then) this.refuse(answer.words);
      if (answer.type === "done") {
        if (BEGINS_ANEW.has(String(message.type))) this.beginAnew();
        if (!this.model.get("controls").notice || this.ui.notice.classList.contains("rk-refused")) {
          this.tell("");
        }
        if (answer.cost === undefined) this.costs.say(""); // what was said belongs to a deed that is not the last one any more
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
    if (busy && !this.ui.notice.textContent && !this.ui.band.textContent) this.tell(WAITS); // what is told stays longer than a wait
    if (busy) return;
    if (this.ui.notice.textContent === WAITS) this.tell("");
  }

  /** @param {boolean} dead */
  dead(dead) {
    say(this.ui.band, dead ? DEAD : "");
    this.panels?.dead(dead);
    if (!dead) return;
    if (this.ui.notice.textContent === WAITS) this.tell("");
    this.predict?.leave(); // nothing could be asked or locked in: what was covered is shown again
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
    if (answer.seek !== undefined) {
      this.player.pause();
      this.player.seek(answer.seek);
      this.cursor.send(); // pausing has sent where the page was
    }
    if (!painted || this.selected !== selected || this.player.at !== at) this.paint(false);
    if (answer.cost !== undefined) this.costs.tell(answer);
    if (answer.told ?? answer.nothing) this.tell(answer.told ?? answer.nothing);
    if (answer.play && !this.predict.on) this.play();
    this.sawPlayed = !!answer.play || this.sawPlayed;
    if (this.model.get("controls").branches?.length > 1) this.newcomer.forked();
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
    this.store.select(index);
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
    if (!this.film || event.metaKey) return;
    const target = /** @type {Element} */ (event.target);
    const typing = target.tagName === "INPUT" && target !== this.strip.slider && event.key !== "Escape";
    if (typing) return;
    const choosing = target.tagName === "SELECT" && event.key !== "Escape" && !event.altKey;
    const run = choosing ? null : this.runOf(/** @type {any} */ (event));
    // JupyterLab's shortcuts match the focused element before they look for who suppresses them: X cuts the cell.
    if (run || choosing || (event.key.length === 1 && !event.ctrlKey && !event.altKey)) {
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
    return keyRun(this, { key, target, shiftKey, ctrlKey, altKey });
  }

  /** @param {MouseEvent} event */
  onContextMenu(event) {
    const lane = /** @type {Element} */ (event.target).closest(".rk-lane");
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
    if (this.sawPlayed || this.model.get("controls").done?.length) this.newcomer.played();
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
}
