import { clusters, labelled } from "../lab/time/marks.js";
import { Scale } from "../lab/time/scale.js";
import { same } from "./assert.js";

/** @type {(at: number, kind: import("../generated/kinds.js").MarkKind, words: string) => import("../lab/time/marks.js").Mark} */
const mark = (at, kind, words) => ({ at, kind, member: null, words });
const scale = new Scale(0, 90_000, 900);

Deno.test("marks that stand on each other share a place, and the heaviest gives the words", () => {
  const found = clusters([
    mark(20_000, "fault", "consumer-1 crashes"),
    mark(63_900, "timer", "session of consumer-1 ends"),
    mark(63_900, "rebalance", "rebalance begins"),
    mark(64_200, "twice", "62 records come twice"),
  ], scale);
  same(found.map((each) => each.words), ["consumer-1 crashes", "62 records come twice"]);
  same(found[1].signs.map((each) => each.kind), ["twice", "timer"]);
  same(found[1].marks.length, 3);
});

Deno.test("words stand left of a sign near the right end", () => {
  const shown = clusters([mark(85_000, "timer", "session of consumer-1 ends")], scale);
  same([...labelled(shown, scale).values()], [true]);
});

Deno.test("a fault is told beside signs of rebalances, which give it their room", () => {
  const shown = clusters([
    mark(31_000, "rebalance", "rebalance begins"),
    mark(34_000, "fault", "consumer-2 crashes"),
    mark(40_000, "rebalance", "rebalance begins"),
  ], scale);
  same([...labelled(shown, scale).values()], [false]);
  same(shown.map((each) => each.signs.length), [1, 1, 0]);
});

Deno.test("words that have no room at the right stand at the left", () => {
  const shown = clusters([
    mark(45_000, "timer", "session of consumer-1 ends"),
    mark(47_000, "twice", "3 records come twice"),
  ], scale);
  same([...labelled(shown, scale).entries()].map(([each, flip]) => [each.kind, flip]), [
    ["twice", false],
    ["timer", true],
  ]);
});

Deno.test("larger letters are given more room", () => {
  const shown = clusters([mark(72_000, "timer", "session of consumer-1 ends")], scale);
  same([...labelled(shown, scale, 1).values()], [true]);
  same([...labelled([shown[0]], new Scale(0, 90_000, 925), 1).values()], [false]);
  same([...labelled([shown[0]], new Scale(0, 90_000, 925), 1.25).values()], [true]);
});

Deno.test("signs that would stand on each other share a place, larger ones sooner", () => {
  const marks = [
    mark(60_000, "timer", "session of consumer-1 ends"),
    mark(60_100, "fault", "consumer-2 crashes"),
    mark(61_500, "twice", "3 records come twice"),
  ];
  same(clusters(marks, scale).map((each) => each.marks.length), [3]);
  const apart = [marks[0], mark(61_300, "twice", "3 records come twice")];
  same(clusters(apart, scale).length, 2);
  same(clusters(apart, scale, 1.25).length, 1);
});
