// Buttons and keys: what each does, with its words and its sign. A key does what its button does.

const ACTIONS = [
  { do: "crash", key: "C", words: "Crash", member: true },
  { do: "leave", key: "L", words: "Leave", member: true },
  { do: "freeze", key: "Z", words: "Freeze", member: true },
  { do: "restart", key: "R", words: "Restart", member: true },
];
// The rest stands in a menu; `args` are worked out from the lab, and can be changed in the scenario afterwards.
const MORE = [
  ...ACTIONS,
  { do: "stall", key: "W", words: "Stop polling for 20 s", member: true, args: () => ({ for_ms: 20000 }) },
  { do: "slow_down", words: "Need 100 ms a record from now on", member: true, args: () => ({ processing_ms: 100 }) },
  { do: "slow_callback", words: "Take 5 s in each callback", member: true, args: () => ({ callback_ms: 5000 }) },
  { do: "duplicate", key: "D", words: "Start a second process with its group.instance.id", member: true, args: (lab, member) => ({ as: fresh(lab, member.name) }) },
  { do: "cut_network", key: "X", words: "Cut its network", member: true },
  { do: "heal_network", words: "Heal its network", member: true },
  { do: "drop_next", key: "Delete", words: "Lose its next heartbeat", member: true, args: (lab) => ({ api: beatOf(lab) }) },
  { do: "delay_next", words: "Delay its next heartbeat by 5 s", member: true, args: (lab) => ({ api: beatOf(lab), by_ms: 5000 }) },
  { do: "enforce_rebalance", key: "E", words: "enforceRebalance()", member: true },
  { do: "subscribe", words: "Subscribe it to all topics", member: true, args: (lab) => ({ topics: lab.model.get("controls").topics.map(([name]) => name) }) },
  { do: "reconfigure", words: "Bounce it with max.poll.records=50", member: true, args: () => ({ configs: { "max.poll.records": 50 }, after_ms: 2000 }) },
  { do: "remove", words: "Remove it as an administrator", member: true },
  { do: "add", key: "M", words: "Add a member" },
  { do: "add_partitions", key: "P", words: "Add two partitions", args: (lab) => { const topic = topicOf(lab), [, count] = lab.model.get("controls").topics.find(([name]) => name === topic); return { topic, partitions: count + 2 }; } },
  { do: "create_topic", words: "Create a topic “more” with two partitions", args: () => ({ topic: "more", partitions: 2 }) },
  { do: "delete_topic", words: "Delete the topic", args: (lab) => ({ topic: topicOf(lab) }) },
  { do: "scale_to", words: "Scale out by two members", args: (lab) => ({ members: lab.running() + 2 }) },
  { do: "rolling_restart", words: "Rolling restart, 10 s apart", args: () => ({ every_ms: 10000, after_ms: 2000 }) },
  { do: "broker_down", key: "B", words: "Stop the coordinator's broker" },
  { do: "broker_up", words: "Start the coordinator's broker" },
  { do: "coordinator_failover", key: "O", words: "Move the coordinator, 2 s without one", args: () => ({ for_ms: 2000 }) },
];

// The topic of the marked partition, else the first one.
function topicOf(lab) {
  const topics = lab.model.get("controls").topics.map(([name]) => name), marked = lab.spotted === null || lab.spotted === undefined ? "" : lab.film.partitions[lab.spotted].replace(/-\d+$/, "");
  return topics.includes(marked) ? marked : topics[0];
}

function fresh(lab, name) {
  let number = 2;
  while (lab.film.members.some((one) => one.name === `${name}-copy${number}`)) number += 1;
  return `${name}-copy${number}`;
}

function beatOf(lab) {
  return stateAt(lab.film.groupTrack, lab.film.groupStates, lab.player.at).protocol === "consumer" ? "ConsumerGroupHeartbeat" : "Heartbeat";
}

const ICONS = {
  first: "M3 3v10M14 3.5L9 8l5 4.500zM9 3.500L4 8l5 4.500z", back: "M4 3v10M12.500 3.500L6 8l6.500 4.500z", next: "M12 3v10M3.500 3.500L10 8l-6.500 4.500z",
  last: "M13 3v10M2 3.500L7 8l-5 4.500zM7 3.500L12 8l-5 4.500z", play: "M4.500 2.500L13 8l-8.500 5.500z", pause: "M4 3h3v10H4zM9 3h3v10H9z",
};
const KEYS = [
  ["Space", "play, pause"], [". ,", "next, previous event"], ["> <", "next, previous message"], ["N Shift+N", "next, previous mark"], ["Home End", "start, end"], ["] [", "faster, slower"],
  ["↑ ↓", "member above, below"], ["← →", "partition in the lane"], ["1–9", "select a member"], ["Enter", "menu of the selected member"],
  ["C L Z R", "crash, leave, freeze or thaw, restart"], ["W D X E Delete", "stop polling, duplicate, cut network, enforce a rebalance, lose the next heartbeat"],
  ["M P B O", "add a member, add partitions, broker down or up, move the coordinator"], ["U Shift+U", "undo, redo"], ["K H V", "fork here, history, compare"],
  ["G", "predict"], ["T A S", "next protocol, assignor, settings"], ["Alt+1–9", "open a tab"], ["= −", "zoom the timeline"], ["/", "filter or search"], ["F", "present"], ["Q", "copy link"],
  ["I Shift+I", "read the moment again, read everything"], ["?", "this table"], ["Esc", "close; leave the lab"],
];

function icon(name) {
  return make("svg:svg", { width: 16, height: 16, viewBox: "0 0 16 16", "aria-hidden": "true" }, make("svg:path", { d: ICONS[name], fill: "currentColor", stroke: "currentColor", "stroke-width": 1.2, "stroke-linejoin": "round" }));
}

// What a key asks for, or nothing.
function keyRun(lab, event) {
  const { key, shiftKey, ctrlKey, altKey, target } = event, inButton = target.tagName === "BUTTON" || target.tagName === "SUMMARY";
  const onSlider = target === lab.strip.slider, onBoard = !!target.closest(".rk-board");
  if (altKey) return /^[1-9]$/.test(key) && TABS[key - 1] ? () => lab.panels.open(TABS[key - 1][0]) : null;
  if (ctrlKey) return key === "z" ? () => lab.ask({ type: "undo" }) : key === "y" ? () => lab.ask({ type: "redo" }) : null;
  if (key === " ") return inButton ? null : () => lab.toggle();
  if (key === "Escape") return lab.escape();
  if (onSlider && shiftKey && key.startsWith("Arrow")) return () => lab.seek(lab.player.at + (key === "ArrowLeft" || key === "ArrowDown" ? -1000 : 1000), false);
  if (onSlider && key.startsWith("Arrow")) return null;
  if (key === "Enter" || (key === "F10" && shiftKey)) return onBoard ? () => showMore(lab, target) : null;
  if (key.startsWith("Arrow")) return lab.panels.name !== "flow" && !onBoard ? null : { ArrowUp: () => lab.select(lab.selected - 1), ArrowDown: () => lab.select(lab.selected + 1), ArrowLeft: () => lab.spot(-1), ArrowRight: () => lab.spot(1) }[key];
  const always = { ".": () => lab.jump(1, "events"), ",": () => lab.jump(-1, "events"), ">": () => lab.jump(1, "messages"), "<": () => lab.jump(-1, "messages"), Home: () => lab.seek(0, false), End: () => lab.seek(lab.film.end, false), "?": () => lab.toggleHelp() };
  if (always[key]) return always[key];
  if (!lab.letters) return null;
  if (/^[1-9]$/.test(key)) return () => lab.select(Number(key) - 1);
  const action = MORE.find((one) => one.key && one.key.toLowerCase() === key.toLowerCase() && !shiftKey);
  if (action) return () => lab.act(action.do);
  return {
    0: () => { lab.tell(groupLine(lab.film, boardAt(lab.film, lab.player.at))); }, n: () => lab.jump(1, "marks"), N: () => lab.jump(-1, "marks"), "]": () => lab.faster(1), "[": () => lab.faster(-1),
    u: () => lab.ask({ type: "undo" }), U: () => lab.ask({ type: "redo" }), t: () => lab.nextProtocol(), a: () => showSettings(lab, lab.settingsButton), s: () => showSettings(lab, lab.settingsButton),
    k: () => lab.ask({ type: "fork" }), h: () => showHistory(lab, lab.menuButton), v: () => lab.compare(null), g: () => lab.predict.begin(lab.predictButton), f: () => lab.present(), q: () => lab.share(),
    "=": () => lab.panels.views.timeline.zoom(0.5), "-": () => lab.panels.views.timeline.zoom(2), "/": () => lab.filter(),
    i: () => { lab.lastSpoken.place = -1; lab.paint(false); }, I: () => say(lab.status, twinText(lab.film, boardAt(lab.film, lab.player.at))),
  }[key] || null;
}
