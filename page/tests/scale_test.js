import { following, labelShift, reachOf, Scale, worstPerPixel, zoomed } from "../lab/time/scale.js";
import { close, same } from "./assert.js";

Deno.test("a moment stands in proportion, and a pixel names its moment", () => {
  const scale = new Scale(10_000, 30_000, 400);
  same([10_000, 20_000, 30_000].map((at) => scale.x(at)), [0, 200, 400]);
  for (const at of [10_000, 12_345, 29_999]) close(scale.at(scale.x(at)), at);
});

Deno.test("a run of no length has a scale", () => {
  same(new Scale(0, 0, 400).x(0), 0);
});

Deno.test("the axis takes the smallest step that leaves few enough ticks", () => {
  same(new Scale(0, 9_000, 100).ticks([1, 2, 5], 10), { step: 1, ticks: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] });
  same(new Scale(0, 11_000, 100).ticks([1, 2, 5], 10), { step: 2, ticks: [0, 2, 4, 6, 8, 10] });
  same(new Scale(0, 100_000, 100).ticks([1, 2, 5], 10).step, 10);
});

Deno.test("an axis never shrinks and grows by whole stretches", () => {
  same(reachOf(0, 40_000), 40_000);
  same(reachOf(40_000, 40_000), 40_000);
  same(reachOf(40_000, 80_000), 90_000);
  same(reachOf(90_000, 85_000), 90_000);
  same(reachOf(90_000, 40_000), 90_000);
});

Deno.test("the axis of a stretch begins at the first step within it", () => {
  same(new Scale(12_300, 18_000, 100).ticks([2], 10).ticks, [14, 16, 18]);
  same(new Scale(14_000, 18_000, 100).ticks([2], 10).ticks, [14, 16, 18]);
});

Deno.test("ticks of fractions of a second do not drift", () => {
  const { ticks } = new Scale(0, 1_000, 100).ticks([0.1], 11);
  same(ticks.length, 11);
  close(ticks[10], 1);
});

Deno.test("a bar narrower than a pixel is a pixel wide, one outside is none", () => {
  const scale = new Scale(0, 1_000, 100);
  same(scale.clip(500, 501)?.width, 1);
  same(scale.clip(-500, 200), { left: 0, right: 20, width: 19 });
  same(scale.clip(1_000, 2_000), null);
  same(scale.clip(-100, 0), null);
});

Deno.test("zooming keeps the cursor in the middle, within the run", () => {
  const zoomedIn = zoomed(new Scale(0, 60_000, 100), 0.5, 30_000, 60_000, 500);
  same([zoomedIn.from, zoomedIn.to], [15_000, 45_000]);
  const atStart = zoomed(new Scale(0, 60_000, 100), 0.5, 1_000, 60_000, 500);
  same([atStart.from, atStart.to], [0, 30_000]);
  const atEnd = zoomed(new Scale(0, 60_000, 100), 0.5, 60_000, 60_000, 500);
  same([atEnd.from, atEnd.to], [30_000, 60_000]);
});

Deno.test("zooming ends at the shortest stretch and at the whole run", () => {
  const shortest = zoomed(new Scale(0, 600, 100), 0.5, 300, 60_000, 500);
  same(shortest.to - shortest.from, 500);
  const whole = zoomed(new Scale(10_000, 20_000, 100), 0, 15_000, 60_000, 500);
  same([whole.from, whole.to], [0, 60_000]);
});

Deno.test("a stretch moves on when the cursor leaves it", () => {
  const scale = new Scale(10_000, 20_000, 100);
  same(following(scale, 15_000, 60_000), scale);
  const later = following(scale, 30_000, 60_000);
  same([later.from, later.to], [27_500, 37_500]);
  const last = following(scale, 59_000, 60_000);
  same([last.from, last.to], [50_000, 60_000]);
});

Deno.test("a label keeps its margin on both sides", () => {
  same([labelShift(0, 400, 26), labelShift(200, 400, 26), labelShift(400, 400, 26)], [26, 0, -26]);
});

Deno.test("each pixel shows the worst of its time", () => {
  const worst = worstPerPixel([[100, 300], [200, 201], [900, 1_000]], new Scale(0, 1_000, 10));
  same([...worst], [0, 1, 2, 1, 0, 0, 0, 0, 0, 1, 1]);
});
