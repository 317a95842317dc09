// A film is what the kernel sends once a run: tables of states, and tracks that say when which holds.
// Everything here is looking up; no rule of Kafka lives in the page.

const GONE = -2; // the owner of a partition that is not there (yet, or any more)
const MEMBER = ["life", "standing", "doing", "generation", "leader", "parked", "sending", "callback", "error", "instanceId", "protocol", "epoch"];

async function inflate(view) {
  const stream = new Blob([view]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

function decodeFilm(raw) {
  const film = { ...raw };
  film.memberStates = raw.memberStates.map((row) => Object.fromEntries(MEMBER.map((key, place) => [key, row[place]])));
  film.partitionStates = raw.partitionStates.map(([owner, word, flows, last, target, also]) => ({ owner: word === "not there" ? GONE : owner, word, flows: !!flows, last, target, also }));
  film.groupStates = raw.groupStates.map(([state, protocol, generation, targetEpoch, assignor, reason, up]) => ({ state, protocol, generation, targetEpoch, assignor, reason, up: !!up }));
  film.members = raw.members.map(([name, label, hue, pattern], index) => ({ name, label, hue, pattern, index }));
  film.memberTracks = raw.memberTracks.map(decodeTrack);
  film.partitionTracks = raw.partitionTracks.map(decodeTrack);
  film.groupTrack = decodeTrack(raw.groupTrack);
  film.beats = raw.beats.map(sums);
  film.says = decodeSays(raw.says);
  film.positions = raw.positions && raw.positions.map(decodePositions);
  film.mostLag = Math.max(20, ...(film.positions || []).flatMap((looks) => looks.map(([, position, end]) => end - position)));
  film.callbacks = sums(raw.callbacks || []);
  film.polls = raw.polls || film.members.map(() => []);
  film.marks = raw.marks.map(([at, kind, member, words]) => ({ at, kind, member, words }));
  film.messages = raw.messages.map(([sent, flight, member, api, request, error, news]) => ({ sent, arrives: flight < 0 ? null : sent + flight, member, api, request: !!request, error, news: !!news }));
  film.known = raw.known === undefined ? raw.end : raw.known; // the rest of a long run follows
  film.maxFlow = film.partitions.length;
  placeTokens(film);
  film.events = eventTimes(film);
  return film;
}

function decodeTrack(flat) {
  const times = [], states = [];
  let at = 0;
  for (let i = 0; i < flat.length; i += 2) { at += flat[i]; times.push(at); states.push(flat[i + 1]); }
  return { times, states };
}

function decodeSays({ words, track }) {
  const times = [], said = [];
  let at = 0;
  for (let i = 0; i < track.length; i += 3) { at += track[i]; times.push(at); said.push([words[track[i + 1]], words[track[i + 2]]]); }
  return { times, said };
}

function decodePositions(flat) {
  const known = [];
  let last = [0, 0, 0, 0];
  for (let i = 0; i < flat.length; i += 4) { last = last.map((value, k) => value + flat[i + k]); known.push(last); }
  return known;
}

function sums(waits) {
  let at = 0;
  return waits.map((wait) => (at += wait));
}

// The last place in sorted `times` that is not after `at` (-1 when all are after).
function placeOf(times, at) {
  let low = 0, high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= at) low = middle + 1; else high = middle;
  }
  return low - 1;
}

function stateAt(track, table, at) {
  return table[track.states[Math.max(0, placeOf(track.times, at))]];
}

function sinceWhen(track, table, at, same) {
  let place = Math.max(0, placeOf(track.times, at));
  while (place > 0 && same(table[track.states[place - 1]])) place -= 1;
  return track.times[place];
}

function sentenceAt(film, at) {
  const place = Math.max(0, placeOf(film.says.times, at));
  const [cause, effect] = film.says.said[place] || ["", ""];
  return [fillClock(cause, at), fillClock(effect, at), place];
}

function fillClock(text, at) {
  return text.replace(/\{(left|ago):(\d+)\}/g, (_, way, ms) => seconds(Math.max(0, way === "left" ? ms - at : at - ms)));
}

function seconds(ms) {
  return `${(ms / 1000).toFixed(1)} s`;
}

function sessionEnds(film, member, at) {
  const state = stateAt(film.memberTracks[member], film.memberStates, at);
  if (state.standing !== "member" || state.parked === "JoinGroup") return null;
  const place = placeOf(film.beats[member], at);
  return place < 0 ? null : film.beats[member][place] + film.sessions[member][state.protocol === "consumer" ? 1 : 0];
}

// The part of max.poll.interval.ms that is left to a member that does not poll; null while it polls.
function pollLeft(film, member, at) {
  const [limit, ...spans] = film.polls[member] || [];
  for (let i = 0; i < spans.length; i += 2) if (spans[i] <= at && at < spans[i + 1]) return Math.max(0, limit - (at - spans[i])) / limit;
  return null;
}

// The next heartbeat of a member after a moment, as the run has it; null where it sends none any more.
function nextBeat(film, member, at) {
  const next = film.beats[member][placeOf(film.beats[member], at) + 1];
  return next === undefined ? null : next;
}

// Where a partition stands: the log grows evenly between two looks, an owner that kept up keeps up.
function positionAt(film, partition, at, flows) {
  const known = film.positions && film.positions[partition];
  if (!known || !known.length) return null;
  const place = placeOf(known.map((one) => one[0]), at);
  if (place < 0) return null;
  const [since, position, end, committed] = known[place];
  const next = known[place + 1];
  const first = known[0];
  const rate = since > first[0] ? (end - first[2]) / (since - first[0]) : 0;
  const [until, thenPosition, thenEnd] = next || [at, 0, end + Math.round(rate * (at - since))];
  const share = until > since ? (at - since) / (until - since) : 1;
  const logEnd = Math.max(end, Math.round(end + (thenEnd - end) * share));
  if (!flows) return { position, end: logEnd, committed };
  if (next && thenEnd - thenPosition > Math.max(2, end - position)) return { position: Math.round(position + (thenPosition - position) * share), end: logEnd, committed };
  return { position: Math.max(position, logEnd - (next ? Math.max(0, thenEnd - thenPosition) : 0)), end: Math.max(logEnd, position), committed };
}

// Every token keeps its place in a lane (or in the rail, lane -1) for as long as it stays there.
function placeTokens(film) {
  const moves = [];
  film.partitionTracks.forEach((track, partition) => {
    let before;
    track.times.forEach((at, place) => {
      const owner = film.partitionStates[track.states[place]].owner;
      if (owner !== before) moves.push({ at, partition, owner });
      before = owner;
    });
  });
  moves.sort((a, b) => a.at - b.at || a.partition - b.partition);
  const taken = new Map(), here = new Map();
  film.slots = film.partitions.map(() => ({ times: [], slots: [] }));
  film.mostIn = film.members.map(() => 0);
  film.mostInRail = 0;
  const rest = () => here.forEach(({ owner, slot }) => { if (owner >= 0) film.mostIn[owner] = Math.max(film.mostIn[owner], slot + 1); });
  let rested = false;
  for (let i = 0; i < moves.length;) {
    if (!rested && moves[i].at > film.settled) { rest(); rested = true; }
    let j = i;
    for (; j < moves.length && moves[j].at === moves[i].at; j += 1) {
      const left = here.get(moves[j].partition);
      if (left) taken.get(left.owner).delete(left.slot);
    }
    for (; i < j; i += 1) {
      const { at, partition, owner } = moves[i];
      if (!taken.has(owner)) taken.set(owner, new Set());
      const used = taken.get(owner);
      let slot = 0;
      while (used.has(slot)) slot += 1;
      used.add(slot);
      here.set(partition, { owner, slot });
      film.slots[partition].times.push(at);
      film.slots[partition].slots.push(slot);
      if (owner === -1) film.mostInRail = Math.max(film.mostInRail, slot + 1);
      else if (owner >= 0 && moves[i].at > film.settled) film.mostIn[owner] = Math.max(film.mostIn[owner], slot + 1);
    }
  }
  if (!rested) rest();
}

// Moments worth stopping at: marks, changes of the group, tokens that change hands.
function eventTimes(film) {
  const times = new Set(film.marks.map((mark) => mark.at));
  film.groupTrack.times.forEach((at) => times.add(at));
  film.slots.forEach((track) => track.times.forEach((at) => times.add(at)));
  film.partitionTracks.forEach((track) => { if (film.partitions.length <= 100) track.times.forEach((at) => times.add(at)); });
  return [...times].sort((a, b) => a - b);
}

// All a picture needs at one moment.
function boardAt(film, at) {
  const members = film.members.map((member) => ({ ...member, state: stateAt(film.memberTracks[member.index], film.memberStates, at) }));
  const partitions = film.partitionTracks.map((track) => stateAt(track, film.partitionStates, at));
  const group = stateAt(film.groupTrack, film.groupStates, at);
  const phase = { PreparingRebalance: "JoinGroup", CompletingRebalance: "SyncGroup" }[group.state];
  const inside = members.filter((one) => one.state.standing === "member");
  const joined = phase ? inside.filter((one) => one.state.parked === phase) : [];
  const awaited = phase ? inside.filter((one) => one.state.parked !== phase) : [];
  const coming = phase ? members.filter((one) => one.state.sending === phase) : [];
  const owned = members.map(() => []);
  partitions.forEach((state, index) => { if (state.owner >= 0) owned[state.owner].push(index); });
  return { at, members, partitions, group, phase, joined, awaited, coming, owned, there: partitions.filter((one) => one.owner !== GONE).length, flowing: partitions.filter((one) => one.flows && one.owner !== GONE).length };
}
