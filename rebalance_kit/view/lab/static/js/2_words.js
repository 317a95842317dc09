// Words for screen readers: the same grammar as the text twin that the kernel writes.

const FACTS = { flows: "flowing", "give up": "to be given up", callback: "stopped by a callback", new: "new, no record yet", "was leaving": "stopped while leaving" };

function spoken(names) {
  if (names.length > 6) return `${names[0]} and ${names.length - 1} more partitions`;
  let topic = "";
  return listed(names.map((name) => {
    const [, where, number] = name.match(/^(.*)-(\d+)$/);
    const said = where === topic ? number : name;
    topic = where;
    return said;
  })) || "nothing";
}

function listed(words) {
  return words.length > 1 ? `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}` : words.join("");
}

function memberLine(film, board, index) {
  const { name, state } = board.members[index];
  const track = film.memberTracks[index];
  const parts = [];
  if (["crashed", "gone", "died"].includes(state.doing)) {
    const since = sinceWhen(track, film.memberStates, board.at, (one) => one.doing === state.doing);
    parts.push(`${state.doing} ${seconds(board.at - since)} ago`);
  } else parts.push(state.doing);
  if (state.error) parts.push(state.error);
  if (state.generation !== null && state.life === "alive") parts.push(`${state.protocol === "consumer" ? "epoch" : "generation"} ${state.generation}`);
  const ends = sessionEnds(film, index, board.at);
  if (["crashed", "frozen", "died"].includes(state.life) && ends !== null) parts.push(`session ends in ${seconds(ends - board.at)}`);
  parts.push(holding(film, board, index));
  return `${name}: ${parts.join(", ")}.`;
}

// Partitions that a member outside the group still reads although another member has them.
function alsoRead(board, index) {
  return board.partitions.map((one, partition) => (one.also.includes(index) ? partition : -1)).filter((one) => one >= 0);
}

function holding(film, board, index) {
  const held = board.owned[index], also = alsoRead(board, index);
  if (also.length) return `still reads ${spoken(also.map((one) => film.partitions[one]))}`;
  if (!held.length) return "owns nothing";
  const fact = (partition) => FACTS[board.partitions[partition].word] || board.partitions[partition].word;
  const facts = [...new Set(held.map(fact))];
  const state = facts.length === 1 ? facts[0] : held.filter((one) => !board.partitions[one].flows).map((one) => `${film.partitions[one]} ${fact(one)}`).join(", ");
  const verb = ["crashed", "died", "frozen"].includes(board.members[index].state.life) ? "holds" : "owns";
  return `${verb} ${spoken(held.map((one) => film.partitions[one]))} (${state})`;
}

function groupLine(film, board) {
  const { group } = board;
  const number = group.generation === null ? "" : `, ${group.protocol === "consumer" ? "group epoch" : "generation"} ${group.generation}`;
  const room = group.state === "PreparingRebalance" ? `, joined ${board.joined.length} of ${board.joined.length + board.awaited.length}` : "";
  return `Group ${group.state}${number}${room}. ${board.flowing} of ${board.there} partitions flow.`;
}

function twinText(film, board) {
  const [cause, effect] = sentenceAt(film, board.at);
  const present = board.members.filter((one) => one.state.life !== "absent");
  const shown = present.length <= 12 ? present : present.filter((one) => one.state.doing !== "polls" || board.owned[one.index].some((held) => !board.partitions[held].flows)).slice(0, 12);
  const lines = [`${seconds(board.at)} of ${seconds(film.end)}, ${film.label}. ${cause} ${effect}`.trim(), groupLine(film, board)];
  shown.forEach((one) => lines.push(memberLine(film, board, one.index)));
  if (present.length > shown.length) lines.push(`${present.length - shown.length} more members.`);
  const orphans = film.partitions.filter((_, index) => board.partitions[index].owner === -1);
  if (orphans.length) lines.push(`No owner: ${spoken(orphans)}.`);
  return lines.join("\n");
}
