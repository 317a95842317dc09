// Buttons and keys: what each does, with its words and its sign. A key does what its button does.

const ACTIONS = [
  { do: "crash", key: "C", words: "Crash" },
  { do: "leave", key: "L", words: "Leave" },
  { do: "freeze", key: "Z", words: "Freeze" },
  { do: "restart", key: "R", words: "Restart" },
];
const ICONS = {
  first: "M3 3v10M14 3.5L9 8l5 4.500zM9 3.500L4 8l5 4.500z", back: "M4 3v10M12.500 3.500L6 8l6.500 4.500z", next: "M12 3v10M3.500 3.500L10 8l-6.500 4.500z",
  last: "M13 3v10M2 3.500L7 8l-5 4.500zM7 3.500L12 8l-5 4.500z", play: "M4.500 2.500L13 8l-8.500 5.500z", pause: "M4 3h3v10H4zM9 3h3v10H9z",
};
const KEYS = [
  ["Space", "play, pause"], [". ,", "next, previous event"], ["N Shift+N", "next, previous mark"], ["Home End", "start, end"], ["] [", "faster, slower"],
  ["↑ ↓", "member above, below"], ["1–9", "select a member"], ["C L Z R", "crash, leave, freeze or thaw, restart the selected member"], ["M", "add a member"],
  ["U Shift+U", "undo, redo"], ["T", "next protocol"], ["I", "read the moment aloud again"], ["?", "this table"], ["Esc", "close; leave the lab"],
];

function icon(name) {
  return make("svg:svg", { width: 16, height: 16, viewBox: "0 0 16 16", "aria-hidden": "true" }, make("svg:path", { d: ICONS[name], fill: "currentColor", stroke: "currentColor", "stroke-width": 1.2, "stroke-linejoin": "round" }));
}

// What a key asks for, or nothing.
function keyRun(lab, event) {
  const { key, shiftKey, ctrlKey } = event, inButton = event.target.tagName === "BUTTON" || event.target.tagName === "SUMMARY";
  const onSlider = event.target === lab.strip.slider;
  if (ctrlKey) return key === "z" ? () => lab.ask({ type: "undo" }) : key === "y" ? () => lab.ask({ type: "redo" }) : null;
  if (key === " ") return inButton ? null : () => lab.toggle();
  if (onSlider && shiftKey && key.startsWith("Arrow")) return () => lab.seek(lab.player.at + (key === "ArrowLeft" || key === "ArrowDown" ? -1000 : 1000), false);
  if (onSlider && key.startsWith("Arrow")) return null;
  if (/^[1-9]$/.test(key)) return () => lab.select(Number(key) - 1);
  return {
    ".": () => lab.jump(1, "events"), ",": () => lab.jump(-1, "events"), n: () => lab.jump(1, "marks"), N: () => lab.jump(-1, "marks"),
    Home: () => lab.seek(0, false), End: () => lab.seek(lab.film.end, false), "]": () => lab.faster(1), "[": () => lab.faster(-1),
    ArrowUp: () => lab.select(lab.selected - 1), ArrowDown: () => lab.select(lab.selected + 1),
    c: () => lab.act("crash"), l: () => lab.act("leave"), z: () => lab.act("freeze"), r: () => lab.act("restart"), m: () => lab.act("add"),
    u: () => lab.ask({ type: "undo" }), U: () => lab.ask({ type: "redo" }), t: () => lab.nextProtocol(),
    i: () => { lab.lastSpoken.place = -1; lab.paint(false); }, "?": () => lab.toggleHelp(), Escape: lab.help.hidden ? null : () => lab.toggleHelp(),
  }[key] || null;
}
