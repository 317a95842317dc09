// The legend: every sign of the lab, drawn as the lab draws it, beside what it means.

import { make } from "../../shared/dom.js";
import { LOOKS, MARKS } from "../../generated/kinds.js";

/** @typedef {[Node, string]} Sign what is drawn, and what it means */

/** The legend as groups of signs. */
function buildLegend() {
  return make(
    "div",
    { class: "rk-legend", role: "group", "aria-label": "Signs" },
    group("Partitions", PARTITIONS.map(([word, flows, says]) => [token(word, flows), says])),
    group("Records of a partition", RECORDS.map(([sign, says]) => [text(sign), says])),
    group("Members", [
      ...DISCS.map((look) => /** @type {Sign} */ ([face(look), LOOKS[look].legend])),
      ...rings(),
    ]),
    group("Coordinator and messages", coordinator()),
    group("Above and in the strip", STRIP.map(({ sign, legend }) => [text(sign), legend])),
  );
}

const PARTITIONS = /** @type {[string, boolean, string][]} */ ([
  [
    "flows",
    true,
    "Read by its owner. The notch at the left has the colour of the owner, or of the last one.",
  ],
  ["stopped", false, "Unread although it has an owner: crossed lines."],
  ["callback", false, "Its owner is in a rebalance callback: slanted lines."],
  ["give up", true, "Its owner has to give it up: a dashed edge; with slanted lines it is unread meanwhile."],
  ["new", true, "Just assigned: a second edge."],
  ["no owner", false, "Nobody owns it: a dotted edge."],
]);
const RECORDS = /** @type {[string, string][]} */ ([
  ["■", "processed and committed"],
  ["□", "processed, not committed: the next owner gets it again"],
  ["|", "position of the reader"],
  ["●", "a record that waits"],
  ["▂", "bar at the foot: how many wait, on a square-root scale"],
  ["◎", "records that came twice, so far"],
  ["⊠", "records that were skipped, so far"],
]);
/** @typedef {import("../../generated/kinds.js").Look} Look */
const DISCS = /** @type {Look[]} */ (Object.keys(LOOKS)).filter((look) => LOOKS[look].legend);
const STRIP = [
  ...Object.values(MARKS).filter(({ legend }) => legend).map(({ sign, legend }) => ({ sign, legend })),
  {
    sign: "▬",
    legend: "a bar per partition: plain when it is read, crossed or slanted when not, dotted without owner",
  },
];

/**
 * @param {string} name
 * @param {Sign[]} signs
 */
function group(name, signs) {
  const rows = signs.map(([sign, says]) => make("div", {}, make("dt", {}, sign), make("dd", {}, says)));
  return make("section", {}, make("b", {}, name), make("dl", {}, ...rows));
}

/** @param {string} sign */
function text(sign) {
  return make("b", { class: "rk-sign" }, sign);
}

const HUE = "--hue:var(--rk-m1);--tint:var(--rk-m1t);--on:var(--rk-m1o)";

/**
 * @param {string} word
 * @param {boolean} flows
 */
function token(word, flows) {
  return make(
    "span",
    { class: "rk-token rk-chip", style: HUE, "data-word": word, "data-flows": flows ? "yes" : "no" },
    make("i", { class: "rk-notch" }),
    make("span", { class: "rk-word" }, word),
  );
}

/** @param {Look} look */
function face(look) {
  return make(
    "span",
    { class: "rk-legendface", style: HUE, "data-look": look },
    make("span", { class: "rk-disc rk-pat1" }, make("b", {}, "C1")),
    make("span", { class: "rk-badge" }, LOOKS[look].badge),
  );
}

/** @returns {Sign[]} */
function rings() {
  const pin = make(
    "span",
    { class: "rk-legendface", style: HUE, "data-static": "1" },
    make("span", { class: "rk-disc rk-pat0" }, make("b", {}, "C1")),
  );
  return [
    [pin, "A pin: a static member, with a group.instance.id."],
    [ring("rk-ringleft", "70 100"), "Outer ring: what is left of session.timeout.ms."],
    [
      ring("rk-ringleft", "2.2 2.2"),
      "Dotted ring: a request that waits at the coordinator holds the session.",
    ],
    [
      ring("rk-ringpoll", "40 100"),
      "Inner ring: what is left of max.poll.interval.ms while poll() is not called.",
    ],
    [ring("rk-tick", ""), "Tick: where the ring stands when the next heartbeat is due."],
  ];
}

/**
 * @param {string} kind
 * @param {string} dashes
 */
function ring(kind, dashes) {
  const place = { cx: 30, cy: 30, pathLength: 100, transform: "rotate(-90 30 30)" };
  const radius = kind === "rk-ringpoll" ? 22.5 : 26.5;
  const drawn = kind === "rk-tick"
    ? make("svg:line", { class: kind, x1: 30, x2: 30, y1: 0, y2: 9, transform: "rotate(60 30 30)" })
    : make("svg:circle", { class: kind, ...place, r: radius, "stroke-dasharray": dashes });
  const back = make("svg:circle", { class: "rk-ringback", cx: 30, cy: 30, r: 26.5 });
  const picture = make(
    "svg:svg",
    { class: "rk-ring", viewBox: "0 0 60 60", "aria-hidden": "true" },
    back,
    drawn,
  );
  return make("span", { class: "rk-legendface", style: HUE }, picture);
}

/** @returns {Sign[]} */
function coordinator() {
  const seat = (/** @type {string} */ kind) => make("i", { class: `rk-seat rk-${kind}`, style: HUE }, "C1");
  const pill = (/** @type {string} */ kind, /** @type {string} */ words) =>
    make("span", { class: `rk-pill ${kind}`, style: HUE }, words);
  return [
    [seat("in"), "in the group, or joined this rebalance"],
    [seat("out"), "the group waits for it"],
    [seat("dead"), "the group waits for it, and it is dead or frozen"],
    [seat("coming"), "its request is on the way"],
    [pill("rk-up", "request"), "a request, filled"],
    [pill("rk-down", "answer"), "an answer, with an edge; a red edge is an error"],
  ];
}

/** The legend and the keys, shown over the board and hidden again. */
export class Legend {
  /** @param {import("../lab.js").Lab} lab */
  constructor(lab) {
    this.lab = lab;
    /** @type {HTMLElement | null} where the focus was */
    this.home = null;
  }

  toggle() {
    const { ui: { help }, focus } = this.lab;
    help.hidden = !help.hidden;
    help.querySelector(".rk-legend")?.remove(); // its samples look like tokens and lanes: they are there only while shown
    if (help.hidden) {
      focus.giveBack(this.home);
      return;
    }
    help.prepend(buildLegend());
    this.home = focus.home(null);
    help.focus();
  }
}
