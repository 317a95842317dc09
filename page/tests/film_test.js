import { nextBeat, pollLeft, sessionEnds } from "../lab/film/clocks.js";
import { checkVersion, FILM_VERSION, GONE, partitionState } from "../lab/film/format.js";
import { decodePositions, positionBetween } from "../lab/film/positions.js";
import { fillClock } from "../lab/film/sentences.js";
import { placeTokens } from "../lab/film/slots.js";
import { placeOf, sums } from "../lab/film/times.js";
import { bars, decodeTrack, sinceWhen, stateAt } from "../lab/film/tracks.js";
import { offsetsOf } from "../lab/words/offsets.js";
import { raises, same } from "./assert.js";

Deno.test("the place in a sorted list is the last one that is not after", () => {
  same([9, 10, 15, 20, 99].map((at) => placeOf([10, 20, 20, 30], at)), [-1, 0, 0, 2, 3]);
  same(placeOf([], 5), -1);
});

Deno.test("a partition that is not there has no owner to draw, not even nobody", () => {
  same(partitionState([-1, "not there", 1, -1, -1, []]).owner, GONE);
  same(partitionState([-1, "no owner", 0, 0, -1, []]).owner, -1);
});

Deno.test("waits add up to moments", () => {
  same(sums([0, 5, 0, 10]), [0, 5, 5, 15]);
});

Deno.test("a state holds from its moment to the next; before the first one the first holds", () => {
  const track = decodeTrack([5, 1, 10, 0]);
  same(track, { times: [5, 15], states: [1, 0] });
  same([0, 5, 14, 15, 99].map((at) => stateAt(track, ["a", "b"], at)), ["b", "b", "b", "a", "a"]);
});

Deno.test("looking back, the same state goes on over its changes", () => {
  const track = decodeTrack([0, 0, 10, 1, 10, 2]);
  same(sinceWhen(track, ["x", "yes 1", "yes 2"], 25, (state) => state.startsWith("yes")), 10);
});

Deno.test("neighbours that look the same are one bar", () => {
  const track = decodeTrack([0, 0, 10, 1, 10, 2]);
  same(bars(track, ["a", "a", "b"], 50, (state) => state), [[0, 20, "a"], [20, 50, "b"]]);
});

Deno.test("between two looks the log grows evenly, and an owner that kept up keeps up", () => {
  const looks = decodePositions([1_000, 10, 10, 10, 1_000, 10, 10, 0]);
  same(looks, [[1_000, 10, 10, 10], [2_000, 20, 20, 10]]);
  same(positionBetween(looks, 1_500, true), { position: 15, end: 15, committed: 10 });
});

Deno.test("the position of an unread partition does not move while its log grows", () => {
  const looks = decodePositions([1_000, 10, 10, 10, 1_000, 0, 10, 0]);
  same(positionBetween(looks, 1_500, false), { position: 10, end: 15, committed: 10 });
});

Deno.test("after the last look the log grows as it has grown so far", () => {
  const looks = decodePositions([0, 0, 0, 0, 1_000, 10, 10, 0]);
  same(positionBetween(looks, 3_000, true)?.end, 30);
});

Deno.test("before the first look nothing is known", () => {
  same(positionBetween(decodePositions([1_000, 10, 10, 10]), 999, true), null);
  same(positionBetween(undefined, 5, true), null);
});

const film = /** @type {any} */ ({
  memberTracks: [decodeTrack([0, 0, 20_000, 1, 10_000, 2])],
  memberStates: [{ session: 10_000 }, { session: 0 }, { session: null }],
  beats: [[1_000, 4_000]],
  polls: [[300_000, 10_000, 310_000]],
});

Deno.test("a session ends its timeout after the last heartbeat, where the film says that one runs", () => {
  same([500, 1_000, 4_500].map((at) => sessionEnds(film, 0, at)), [null, 11_000, 14_000]);
  same([20_000, 30_000].map((at) => sessionEnds(film, 0, at)), [null, null]);
});

Deno.test("the next heartbeat is the run's next one", () => {
  same([0, 1_000, 4_000].map((at) => nextBeat(film, 0, at)), [1_000, 4_000, null]);
});

Deno.test("what is left of the poll interval shrinks while the member does not poll", () => {
  same([9_999, 10_000, 160_000, 310_000].map((at) => pollLeft(film, 0, at)), [null, 1, 0.5, null]);
});

Deno.test("clocks in a sentence run, and stop at nothing", () => {
  same(fillClock("{left:5000} more, crashed {ago:1000}", 3_500), "1.5 s more, crashed 2.5 s");
  same(fillClock("{left:5000} more", 9_000), "0.0 s more");
});

Deno.test("a token keeps its slot, and a free slot is taken again", () => {
  const states = [0, 1, -1].map((owner) => /** @type {any} */ ({ owner }));
  const tracks = [[0, 0], [0, 0, 10, 1, 10, 0], [0, 0], [15, 0]].map(decodeTrack);
  const { slots, mostIn, mostInRail } = placeTokens(tracks, states, 2, 0);
  same(slots.map((each) => each.slots), [[0], [1, 0, 3], [2], [1]]);
  same([mostIn, mostInRail], [[4, 1], 0]);
});

Deno.test("what lanes hold while the group forms does not count, what they hold then does", () => {
  const states = [0, 1].map((owner) => /** @type {any} */ ({ owner }));
  const tracks = [[0, 0], [0, 0, 10, 1]].map(decodeTrack);
  same(placeTokens(tracks, states, 2, 10).mostIn, [1, 1]);
});

Deno.test("a film of another version is refused in words", () => {
  checkVersion({ version: FILM_VERSION });
  raises(() => checkVersion({ version: 1 }), /reads films of version 5; the kernel sent one of version 1/);
  raises(() => checkVersion({ v: 1 }), /version none/);
});

Deno.test("offsets are named as ranges, and many ranges are counted", () => {
  const of = (/** @type {[number, number][]} */ ...spans) =>
    offsetsOf(spans.map(([first, last]) => ({ first, count: last - first + 1 })));
  same(of([5, 5]), "offset 5");
  same(of([9, 12], [5, 8], [20, 20]), "offsets 5 to 12 and 20");
  same(of([1, 2], [4, 5], [7, 8]), "offsets 1 to 2, 4 to 5 and 7 to 8");
  same(of([1, 2], [4, 5], [7, 8], [10, 11]), "offsets 1 to 2, 4 to 5 and 2 more ranges");
});
