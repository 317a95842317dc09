import { advance, autoPace, stepFrom } from "../lab/time/pace.js";
import { close, same } from "./assert.js";

const BUSY = [10_000, 10_045, 20_000];

Deno.test("quiet time passes quickly, time near events slowly", () => {
  same([2_000, 8_999, 9_001, 10_900, 11_100, 19_500].map((at) => autoPace(BUSY, at)), [
    8,
    8,
    0.5,
    0.5,
    8,
    0.5,
  ]);
});

Deno.test("events that follow each other within moments take as long as it takes to see them", () => {
  same(autoPace(BUSY, 10_020), 0.1);
  same(autoPace([10_000, 10_001], 10_000), 0.02);
});

Deno.test("without events time passes quickly", () => {
  same(autoPace([], 5_000), 8);
});

Deno.test("time advances by its pace, which may change on the way", () => {
  close(advance(0, 100, () => 2), 200);
  close(advance(0, 100, (at) => (at < 32 ? 1 : 0.5)), 32 + 0.5 * 68);
  same(advance(5_000, 0, () => 8), 5_000);
});

Deno.test("a step leads to the next moment, and at last to the end", () => {
  same([0, 10_000, 10_045, 20_000].map((at) => stepFrom(at, 1, BUSY, 60_000)), [
    10_000,
    10_045,
    20_000,
    60_000,
  ]);
});

Deno.test("a step back leads to the moment before, and at last to the start", () => {
  same([60_000, 20_000, 10_046, 10_000, 3].map((at) => stepFrom(at, -1, BUSY, 60_000)), [
    20_000,
    10_045,
    10_045,
    0,
    0,
  ]);
});
