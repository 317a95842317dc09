import { around, clock, lasting, STEPS, tick } from "../forensics/clock.js";
import { rows } from "../forensics/marks.js";
import { same } from "./assert.js";

const AT = Date.UTC(2026, 10, 21, 2, 15, 37, 906);

Deno.test("a tick tells as much of the time as its step needs", () => {
  same([86_400, 60, 1, 0.1].map((step) => tick(AT, step)), [
    "2026-11-21",
    "02:15",
    "02:15:37",
    "02:15:37.906",
  ]);
  same(clock(AT), "02:15:37.906");
});

Deno.test("the steps of the axis rise", () => {
  same([...STEPS].sort((a, b) => a - b), STEPS);
});

Deno.test("durations are told in milliseconds, seconds or minutes", () => {
  same([12, 2_051, 180_000].map(lasting), ["12 ms", "2.1 s", "3.0 min"]);
});

Deno.test("what is shown has half as much room on both sides, a second at least, and ends with the look", () => {
  same(around(10_000, 14_000, 60_000), [8_000, 16_000]);
  same(around(500, 500, 1_200), [0, 1_200]);
});

Deno.test("marks that would hide each other stand in rows, and where all rows are full one is left out", () => {
  same(rows([0, 100, 110, 200], 24, 3), [0, 0, 1, 0]);
  same(rows([110, 100], 24, 2), [1, 0]);
  same(rows([5, 5, 5], 24, 2), [0, 1, null]);
});
