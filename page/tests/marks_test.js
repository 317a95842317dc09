import { clusters, labelled } from "../lab/time/marks.js";
import { Scale } from "../lab/time/scale.js";
import { same } from "./assert.js";

/** @type {(at: number, kind: string, words: string) => import("../lab/time/marks.js").Mark} */
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
