// A member's lane: the disc with its rings, its words, and where its partitions stand.

import { LOOKS } from "../../generated/kinds.js";
import { make, say, set } from "../../shared/dom.js";
import { nextBeat, pollLeft, sessionEnds } from "../film/clocks.js";
import { doingLine, lookOf, thirdLine } from "../words/lines.js";
import { alsoRead, memberLine, spoken } from "../words/twin.js";
import { laneBox } from "./sizes.js";

const RING = { cx: 30, cy: 30, r: 26.5, pathLength: 100, transform: "rotate(-90 30 30)" };

/** One lane of the stage. */
export class Lane {
  /**
   * @param {import("../film/format.js").Member} member
   * @param {import("./sizes.js").LaneSizes} sizes
   * @param {(index: number) => void} onSelect
   */
  constructor(member, sizes, onSelect) {
    this.index = member.index;
    this.room = sizes.cells[member.index].columns * sizes.cells[member.index].rows;
    this.session = make("svg:circle", { class: "rk-ringleft", ...RING });
    this.poll = make("svg:circle", { class: "rk-ringpoll", ...RING, r: 22.5 });
    this.tick = make("svg:line", { class: "rk-tick", x1: 30, x2: 30, y1: 0, y2: 7 });
    this.badge = make("span", { class: "rk-badge" });
    this.doing = make("span", { class: "rk-doing" });
    this.third = make("span", { class: "rk-third" });
    this.empty = make("span", { class: "rk-empty" });
    this.more = make("b", { class: "rk-more", "aria-hidden": "true" });
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
    const narrow = sizes.columns > 1 || !sizes.busWidth ? " rk-narrow" : "";
    const hue = `--rk-m${member.hue}`;
    const place = `left:${box.x}px;top:${box.y}px;width:${box.width}px;height:${box.height}px`;
    const ring = make(
      "svg:svg",
      { class: "rk-ring", viewBox: "0 0 60 60", "aria-hidden": "true" },
      make("svg:circle", { class: "rk-ringback", cx: 30, cy: 30, r: 26.5 }),
      this.poll,
      this.tick,
      this.session,
    );
    const disc = make("span", { class: `rk-disc rk-pat${member.pattern}` }, make("b", {}, member.label));
    const name = make("b", { class: "rk-name" }, member.name);
    return make(
      "div",
      {
        class: `rk-lane${small}${narrow}`,
        role: "option",
        id: `rk-${Math.random().toString(36).slice(2)}`,
        "data-member": member.name,
        tabindex: "-1",
        style: `${place};--hue:var(${hue});--tint:var(${hue}t);--on:var(${hue}o);--head:${sizes.head}px`,
      },
      make("span", { class: "rk-face", "aria-hidden": "true" }, ring, disc, this.badge),
      make("span", { class: "rk-who", "aria-hidden": "true" }, name, this.doing, this.third),
      this.empty,
      this.more,
    );
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
    say(this.badge, LOOKS[look].badge);
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
    const turn = beat === null || ends === null || beat >= ends ? null : (360 * (ends - beat)) / length;
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
}

/**
 * The ring of the session: dashed while a request holds it, else the share that is left.
 * @param {import("../film/format.js").MemberState} state
 * @param {number | null} ends
 * @param {number} at
 */
function sessionDashes(state, ends, at) {
  if (state.session === 0 && state.life === "alive") return "2.2 2.2";
  if (ends === null) return "0 100";
  const share = (100 * (ends - at)) / (state.session || 1);
  return `${Math.max(0, Math.min(100, share)).toFixed(1)} 100`;
}
