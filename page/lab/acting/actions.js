// What can be done: each deed with its words and its key.

import { stateAt } from "../film/tracks.js";
import { boardAt } from "../film/board.js";
import { choice, config, count, seconds, text, topicList, topicsOf } from "./arguments.js";

/** @typedef {import("../lab.js").Lab} Lab */
/** @typedef {import("./arguments.js").Argument} Argument */

/**
 * @typedef {object} Action
 * @property {string} do the scenario's name of it
 * @property {string} words with its arguments in braces
 * @property {string} group what it is done to
 * @property {string} [key]
 * @property {boolean} [member] whether it is done to the selected member
 * @property {Argument[]} [asks] its arguments, in the order of the words
 * @property {(lab: Lab, member: import("../film/board.js").SeatedMember) => Record<string, unknown>} [args] what is not asked
 */

/** What deeds are done to, as the menu heads them. */
export const GROUPS = Object.freeze(
  /** @type {[string, string][]} */ ([
    ["application", "Application"],
    ["process", "Process"],
    ["network", "Network"],
    ["broker", "Broker"],
    ["topics", "Topics"],
    ["group", "Group"],
  ]),
);
const CRASH = { do: "crash", key: "C", words: "Crash", group: "process", member: true };
const LEAVE = { do: "leave", key: "L", words: "Leave", group: "process", member: true };
const FREEZE = { do: "freeze", key: "Z", words: "Freeze", group: "process", member: true };
const RESTART = { do: "restart", key: "R", words: "Restart", group: "process", member: true };

/**
 * The deeds that have buttons.
 * @type {Action[]}
 */
export const ACTIONS = [CRASH, LEAVE, FREEZE, RESTART];
const APIS = ["JoinGroup", "SyncGroup", "Heartbeat", "ConsumerGroupHeartbeat", "OffsetCommit", "LeaveGroup"];

/**
 * All of them; those without a button stand in a menu.
 * @type {Action[]}
 */
export const MORE = [
  {
    do: "stall",
    key: "W",
    words: "Stop polling for {} s",
    group: "application",
    member: true,
    asks: [seconds("for_ms", 20)],
  },
  {
    do: "slow_down",
    words: "Need {} ms a record from now on",
    group: "application",
    member: true,
    asks: [count("processing_ms", () => 100)],
  },
  {
    do: "slow_callback",
    words: "Take {} s in each callback",
    group: "application",
    member: true,
    asks: [seconds("callback_ms", 5)],
  },
  {
    do: "subscribe",
    words: "Subscribe to {}",
    group: "application",
    member: true,
    asks: [topicList("topics")],
  },
  { do: "enforce_rebalance", key: "E", words: "enforceRebalance()", group: "application", member: true },
  CRASH,
  LEAVE,
  FREEZE,
  RESTART,
  {
    do: "freeze_for",
    words: "Freeze for {} s",
    group: "process",
    member: true,
    asks: [seconds("for_ms", 20)],
  },
  {
    do: "reconfigure",
    words: "Bounce with {}, away for {} s",
    group: "process",
    member: true,
    asks: [config("configs", "max.poll.records=50"), seconds("after_ms", 2)],
  },
  {
    do: "duplicate",
    key: "D",
    words: "Start a second process with its group.instance.id",
    group: "process",
    member: true,
    args: (lab, member) => ({ as: fresh(lab, member.name) }),
  },
  { do: "cut_network", key: "X", words: "Cut it off from the coordinator", group: "network", member: true },
  { do: "heal_network", words: "Let it reach the coordinator again", group: "network", member: true },
  {
    do: "drop_next",
    key: "Delete",
    words: "Lose its next {}",
    group: "network",
    member: true,
    asks: [choice("api", () => APIS, beatOf)],
  },
  {
    do: "delay_next",
    words: "Delay its next {} by {} s",
    group: "network",
    member: true,
    asks: [choice("api", () => APIS, beatOf), seconds("by_ms", 5)],
  },
  { do: "broker_down", key: "B", words: "Stop the coordinator's broker", group: "broker" },
  { do: "broker_up", words: "Start the coordinator's broker", group: "broker" },
  {
    do: "coordinator_failover",
    key: "O",
    words: "Move the coordinator, {} s without one",
    group: "broker",
    asks: [seconds("for_ms", 2)],
  },
  {
    do: "add_partitions",
    key: "P",
    words: "Let {} grow to {} partitions",
    group: "topics",
    asks: [choice("topic", topicNames, topicName), count("partitions", (lab) => topicOf(lab)[1] + 2)],
  },
  {
    do: "create_topic",
    words: "Create topic {} with {} partitions",
    group: "topics",
    asks: [text("topic", "more"), count("partitions", () => 2)],
  },
  {
    do: "delete_topic",
    words: "Delete topic {}",
    group: "topics",
    asks: [choice("topic", topicNames, topicName)],
  },
  { do: "add", key: "M", words: "Add a member", group: "group" },
  {
    do: "scale_to",
    words: "Scale to {} members, {} s apart",
    group: "group",
    asks: [count("members", (lab) => running(lab) + 2), seconds("every_ms", 0)],
  },
  {
    do: "rolling_restart",
    words: "Restart all, {} s apart, away for {} s",
    group: "group",
    asks: [seconds("every_ms", 10), seconds("after_ms", 2)],
  },
  { do: "remove", words: "Remove it as an administrator", group: "group", member: true },
];

/**
 * The action of that name.
 * @param {string} name
 */
export function actionOf(name) {
  return MORE.find((action) => action.do === name);
}

/**
 * The arguments of a deed to the selected member: what was chosen, else what stands there.
 * @param {Lab} lab
 * @param {string} what
 * @param {string[]} [chosen] texts of its arguments
 */
export function argsOf(lab, what, chosen = []) {
  const action = actionOf(what);
  if (!action) return {};
  const member = boardAt(lab.film, lab.player.at).members[lab.selected];
  const asked = (action.asks ?? []).map((
    each,
    place,
  ) => [each.key, each.read(chosen[place] ?? each.usual(lab), lab)]);
  return { ...action.args?.(lab, member), ...Object.fromEntries(asked) };
}

/**
 * A deed in words, with its arguments.
 * @param {Lab} lab
 * @param {Action} action
 * @param {string[]} [chosen]
 */
export function wordsOf(lab, { words, asks = [] }, chosen = []) {
  const texts = asks.map((each, place) => chosen[place] ?? each.usual(lab));
  return texts.reduce((told, each) => told.replace("{}", each), words);
}

/** @param {Lab} lab */
function topicNames(lab) {
  return topicsOf(lab).map(([name]) => name);
}

/** @param {Lab} lab */
function topicName(lab) {
  return topicOf(lab)[0];
}

/**
 * The topic of the marked partition, else the first one.
 * @param {Lab} lab
 */
function topicOf(lab) {
  const { partition } = lab.marker;
  const marked = partition === null ? "" : lab.film.partitions[partition].replace(/-\d+$/, "");
  const topics = topicsOf(lab);
  return topics.find(([name]) => name === marked) ?? topics[0];
}

/**
 * A name that nobody has.
 * @param {Lab} lab
 * @param {string} name
 */
function fresh(lab, name) {
  let number = 2;
  while (lab.film.members.some((member) => member.name === `${name}-copy${number}`)) number += 1;
  return `${name}-copy${number}`;
}

/**
 * The heartbeat of the group's protocol at the cursor.
 * @param {Lab} lab
 */
function beatOf({ film, player }) {
  return film.heartbeats[stateAt(film.groupTrack, film.groupStates, player.at).protocol];
}

/**
 * How many processes run at the cursor.
 * @param {Lab} lab
 */
function running({ film, player }) {
  return boardAt(film, player.at).members.filter(({ state }) => ["alive", "frozen"].includes(state.life))
    .length;
}
