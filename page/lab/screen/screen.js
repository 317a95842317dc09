// What the lab shows: which picture stands on the stage, its size, and the words around it.

import { make, say, set } from "../../shared/dom.js";
import { measure } from "../board/sizes.js";
import { Stage } from "../board/stage.js";
import { Tiles } from "../board/tiles.js";
import { boardAt } from "../film/board.js";
import { GONE } from "../film/format.js";
import { fillClock, sentenceAt } from "../film/sentences.js";
import { seconds } from "../film/times.js";
import { refusalOf } from "../acting/deeds.js";
import { Said } from "../numbers/said.js";
import { twinText } from "../words/twin.js";
import { paintGuideBar, reserveGuideBar } from "../guide/bar.js";
import { paintLead } from "../guide/lead.js";
import { icon } from "./icons.js";
import { Speaker } from "./speaker.js";

/** What presenting makes room for at least, in the lab's own pixels. */
const PRESENTED = { width: 960, height: 560 };
const COMPARED = { width: 1024, height: 700 };
/** An open drawer stands beside the board where the screen has room. */
const BESIDE = { width: 1200, height: 560 };
/** Nothing that is presented is smaller, in pixels of a screen of this size (a smaller window is a page that is zoomed). */
const LEAST_PX = 18, LEAST_OF = { width: 1024, height: 720 };
/** What a sentence is given at most; a longer one is rare, and moves what stands below it. */
const MOST_SAID = 56, MOST_SAID_LOW = 80;
/** How many of the longest sentences are measured, so that there is room for each. */
const LONGEST = 6;

/** From so many pixels on everything is drawn larger. */
const ENLARGED = [[1750, 1.4], [1500, 1.25], [0, 1]];
/** Below these widths there is less air between things. */
const NARROW = Object.freeze({
  "rk-snug": 1130,
  "rk-tight": 960,
  "rk-thin": 900,
  "rk-low": 720,
  "rk-phone": 480,
});
const LEAST_WIDTH = 300;
/** Small words of the projector's theme. */
const PROJECTED_PX = 13.5;
const MOST_SQUARES = 24;

/** @typedef {import("../film/board.js").Board} Board */

/** The picture and the words around it. */
export class Screen {
  /** @param {import("../lab.js").Lab} lab */
  constructor(lab) {
    this.lab = lab;
    this.speaker = new Speaker(lab.ui.status);
    this.cause = new Said(lab, lab.ui.cause);
    this.effect = new Said(lab, lab.ui.effect);
    /** @type {any} */
    this.stage = null; // a Stage or Tiles
    this.width = 0;
    this.outer = 0;
    this.beside = 0; // the width that an open drawer takes
    this.tall = 0; // what the board needs where that is more than is made room for
    this.spare = 0; // height that presenting gives to the lanes
    this.least = 0; // the size of small words where the lab is presented, in its own pixels
    this.lesson = ""; // what the axis of time belongs to
    /** @type {string | null} */
    this.meterKey = null;
  }

  /** The width there is, in the lab's own pixels. */
  room() {
    const { el, ui, presenter } = this.lab;
    if (!presenter.on) {
      const wide = el.clientWidth || 1040;
      const [, large] = ENLARGED.find(([from]) => wide >= from) ?? [0, 1];
      ui.root.style.zoom = large > 1 ? String(large) : "";
      this.least = 0;
      this.measureWindow(large);
      return Math.floor(wide / large) - (ui.root.offsetWidth - ui.root.clientWidth);
    }
    const beside = this.lab.drawer.open && innerWidth >= BESIDE.width ? BESIDE : PRESENTED;
    const { width, height } = this.lab.comparison.view ? COMPARED : beside;
    const needed = Math.max(height, this.tall);
    const zoom = innerWidth < innerHeight
      ? 1
      : Math.max(0.5, Math.min(innerWidth / width, innerHeight / needed));
    ui.root.style.zoom = zoom.toFixed(3);
    const shrunk = Math.min(1, innerWidth / LEAST_OF.width, innerHeight / LEAST_OF.height);
    this.least = LEAST_PX * shrunk / zoom;
    ui.root.style.setProperty("--rk-least", `${this.least.toFixed(2)}px`);
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
    this.tall = 0;
    this.spare = 0;
    this.fit();
  }

  fit() {
    const { film, strip, selected } = this.lab;
    if (!film) return;
    const outer = this.room();
    const beside = this.lab.drawer.besideOf(outer);
    const width = Math.max(LEAST_WIDTH, outer - (beside || this.lab.pane.widthOf(outer)));
    if (this.stage && this.width === width && this.outer === outer && this.beside === beside) return;
    this.width = width;
    this.outer = outer;
    this.beside = beside;
    this.markNarrow();
    const focused = this.stage && this.stage.root.contains(document.activeElement);
    this.stage = this.makeStage(width);
    strip.show(film, Math.max(LEAST_WIDTH, outer), this.lesson);
    this.showStage();
    this.reserveSentence();
    reserveGuideBar(this.lab);
    if (this.lab.drawer.open) this.lab.drawer.place(null);
    if (focused && this.stage.lanes[selected]) this.stage.lanes[selected].node.focus();
    this.showAll();
  }

  /** Keep room for the longest sentence of the run, so that none is cut and nothing below moves while it plays. */
  reserveSentence() {
    const { film, ui } = this.lab, { moment } = ui;
    if (!moment.clientWidth) return; // the guide speaks in its place
    const looks = `position:absolute;visibility:hidden;width:${moment.clientWidth}px`;
    const longest = [...new Map(film.sentences.said.map((said) => [said.join(" "), said])).entries()]
      .sort(([a], [b]) => b.length - a.length).slice(0, LONGEST);
    const tries = longest.map(([, [cause, effect]]) =>
      make(
        "div",
        { style: looks, "aria-hidden": "true" },
        make("p", { class: "rk-cause" }, fillClock(cause, 0)),
        make("p", { class: "rk-effect" }, fillClock(effect, 0)),
      )
    );
    ui.sentences.append(...tries);
    const height = Math.max(0, ...tries.map((node) => node.offsetHeight));
    tries.forEach((node) => node.remove());
    moment.style.minHeight = `${
      Math.min(height, this.outer < NARROW["rk-low"] ? MOST_SAID_LOW : MOST_SAID)
    }px`;
  }

  /** All of a narrow lab is set tighter, or only what an open drawer leaves little room. */
  markNarrow() {
    const { outer, beside } = this, { root, viewbar, middle } = this.lab.ui;
    root.classList.toggle("rk-beside", beside > 0);
    for (const [name, least] of Object.entries(NARROW)) {
      root.classList.toggle(name, outer < least);
      [viewbar, middle].forEach((part) => part.classList.toggle(name, beside > 0 && outer - beside < least));
    }
  }

  /**
   * Presenting, the strip and its axis stay on the screen: where they would not, everything is drawn smaller; where there
   * is height to spare, lanes are taller.
   */
  showAll() {
    const { ui, presenter, comparison, strip } = this.lab;
    if (!presenter.on || comparison.view || this.spare) return;
    const { scrollHeight, clientHeight } = ui.root;
    if (!this.tall && scrollHeight > clientHeight) this.tall = scrollHeight + 2;
    else {
      this.spare = Math.max(0, clientHeight - strip.root.offsetTop - strip.root.offsetHeight - 12);
      if (this.spare < 8) return;
    }
    this.width = 0;
    this.fit();
  }

  /** @param {number} width */
  makeStage(width) {
    const { film } = this.lab;
    const onSelect = (/** @type {number} */ index) => this.onSelect(index);
    const sizes = this.sizesOf(film, width);
    const offers = this.lab.acts; // without a kernel nobody can be added
    return "cells" in sizes ? new Stage(film, sizes, onSelect, offers) : new Tiles(film, sizes, onSelect);
  }

  /**
   * @param {import("../film/format.js").Film} film
   * @param {number} width
   */
  sizesOf(film, width) {
    const large = this.lab.ui.root.classList.contains("rk-projector") ? this.least || PROJECTED_PX : 0;
    return measure(film, width, large, this.spare);
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
    this.speaker.repeat(); // the same sentence may say something else of this run
    if (this.stage?.adopt(film, this.sizesOf(film, this.width))) {
      strip.show(film, Math.max(LEAST_WIDTH, this.outer), this.lesson);
      this.showStage();
      this.reserveSentence();
    } else {
      const focused = this.stage?.root.contains(document.activeElement);
      this.stage = null;
      this.fit();
      if (focused) this.focusTarget().focus();
    }
  }

  /** Say in place of the board why there is none. */
  refuseFilm(/** @type {string} */ words) {
    this.lab.ui.stageHome.replaceChildren(make("p", { class: "rk-wait", role: "alert" }, words));
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
    const compares = comparison.view !== null;
    const turned = ui.root.classList.contains("rk-comparing") !== compares;
    ui.root.classList.toggle("rk-comparing", compares);
    if (turned && this.lab.presenter.on) this.refit();
    this.paint(false);
    if (inside) this.focusAfterChange();
  }

  focusAfterChange() {
    const { panels, comparison, ui } = this.lab;
    if (!ui.help.hidden) ui.help.focus();
    else if (comparison.view) comparison.view.root.focus();
    else if (panels.name === "flow") this.focusTarget().focus();
    else {
      const tab = panels.tabOf(panels.name);
      (tab.checkVisibility() ? tab : this.lab.ui.playButton).focus();
    }
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
    this.stage.lanes.forEach((/** @type {{ node: Element }} */ lane, /** @type {number} */ index) =>
      set(lane.node, "tabindex", index === selected ? "0" : "-1")
    );
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
    const share = (100 * board.flowing) / board.there;
    const percent = `${share.toFixed(board.flowing % board.there ? 1 : 0)} %`;
    say(ui.flowing, many ? percent : `${board.flowing} of ${board.there}`);
    const key = many ? "" : board.partitions.map((state) => `${state.owner}${state.flows}`).join();
    if (this.meterKey === key) return;
    this.meterKey = key;
    const shown = many ? [] : board.partitions.filter((state) => state.owner !== GONE);
    ui.meter.replaceChildren(...shown.map((state) => {
      if (!state.flows) return make("i", { class: state.owner < 0 ? "rk-none" : "rk-stop" });
      return make("i", { style: `background:var(--rk-m${film.members[state.owner].hue})` });
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
    const pace = player.playing && player.speed === "Auto" ? `${player.pace(player.at)} ×` : "";
    say(ui.pace, this.lab.live && player.at >= player.end ? "live" : pace);
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
      const text = /** @type {Text} */ (node.firstChild);
      if (text.data !== words) text.data = words;
      set(node, "aria-label", member ? `${words} ${member.name}` : words);
    }
  }
}
