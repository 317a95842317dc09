// What can be done: each deed with its words and its key.

import { stateAt } from "../film/tracks.js";
import { boardAt } from "../film/board.js";

/** @typedef {import("../lab.js").Lab} Lab */

/**
 * @typedef {object} Action
 * @property {string} do the scenario's name of it
 * @property {string} words
 * @property {string} [key]
 * @property {boolean} [member] whether it is done to the selected member
 * @property {(lab: Lab, member: import("../film/board.js").SeatedMember) => Record<string, unknown>} [args] worked out
 *   from the lab; they can be changed in the scenario afterwards
 */

/** @type {Action[]} */
export const ACTIONS = [
  { do: "crash", key: "C", words: "Crash", member: true },
  { do: "leave", key: "L", words: "Leave", member: true },
  { do: "freeze", key: "Z", words: "Freeze", member: true },
  { do: "restart", key: "R", words: "Restart", member: true },
];

/**
 * All of them; those without a button stand in a menu.
 * @type {Action[]}
 */
export const MORE = [
  ...ACTIONS,
  { do: "stall", key: "W", words: "Stop polling for 20 s", member: true, args: () => ({ for_ms: 20000 }) },
  {
    do: "slow_down",
    words: "Need 100 ms a record from now on",
    member: true,
    args: () => ({ processing_ms: 100 }),
  },
  {
    do: "slow_callback",
    words: "Take 5 s in each callback",
    member: true,
    args: () => ({ callback_ms: 5000 }),
  },
  {
    do: "duplicate",
    key: "D",
    words: "Start a second process with its group.instance.id",
    member: true,
    args: (lab, member) => ({ as: fresh(lab, member.name) }),
  },
  { do: "cut_network", key: "X", words: "Cut it off from the coordinator", member: true },
  { do: "heal_network", words: "Let it reach the coordinator again", member: true },
  {
    do: "drop_next",
    key: "Delete",
    words: "Lose its next heartbeat",
    member: true,
    args: (lab) => ({ api: beatOf(lab) }),
  },
  {
    do: "delay_next",
    words: "Delay its next heartbeat by 5 s",
    member: true,
    args: (lab) => ({ api: beatOf(lab), by_ms: 5000 }),
  },
  { do: "enforce_rebalance", key: "E", words: "enforceRebalance()", member: true },
  {
    do: "subscribe",
    words: "Subscribe it to all topics",
    member: true,
    args: (lab) => ({ topics: topicsOf(lab).map(([name]) => name) }),
  },
  {
    do: "reconfigure",
    words: "Bounce it with max.poll.records=50",
    member: true,
    args: () => ({ configs: { "max.poll.records": 50 }, after_ms: 2000 }),
  },
  { do: "remove", words: "Remove it as an administrator", member: true },
  { do: "add", key: "M", words: "Add a member" },
  {
    do: "add_partitions",
    key: "P",
    words: "Add two partitions",
    args: (lab) => {
      const [topic, count] = topicOf(lab);
      return { topic, partitions: count + 2 };
    },
  },
  {
    do: "create_topic",
    words: "Create a topic “more” with two partitions",
    args: () => ({ topic: "more", partitions: 2 }),
  },
  { do: "delete_topic", words: "Delete the topic", args: (lab) => ({ topic: topicOf(lab)[0] }) },
  { do: "scale_to", words: "Scale out by two members", args: (lab) => ({ members: running(lab) + 2 }) },
  {
    do: "rolling_restart",
    words: "Rolling restart, 10 s apart",
    args: () => ({ every_ms: 10000, after_ms: 2000 }),
  },
  { do: "broker_down", key: "B", words: "Stop the coordinator's broker" },
  { do: "broker_up", words: "Start the coordinator's broker" },
  {
    do: "coordinator_failover",
    key: "O",
    words: "Move the coordinator, 2 s without one",
    args: () => ({ for_ms: 2000 }),
  },
];

/**
 * The action of that name.
 * @param {string} name
 */
export function actionOf(name) {
  return MORE.find((action) => action.do === name);
}

/**
 * The arguments of a deed to the selected member.
 * @param {Lab} lab
 * @param {string} what
 */
export function argsOf(lab, what) {
  return actionOf(what)?.args?.(lab, boardAt(lab.film, lab.player.at).members[lab.selected]) ?? {};
}

/**
 * Topics with their numbers of partitions.
 * @param {Lab} lab
 * @returns {[string, number][]}
 */
function topicsOf(lab) {
  return lab.model.get("controls").topics;
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
