// Time and pixels: pure arithmetic, tested without a browser.

/** A stretch of time on so many pixels. */
export class Scale {
  /**
   * @param {number} from
   * @param {number} to
   * @param {number} width
   */
  constructor(from, to, width) {
    this.from = from;
    this.to = to;
    this.width = width;
  }

  /**
   * Where a moment stands.
   * @param {number} at
   */
  x(at) {
    return ((at - this.from) / Math.max(1, this.to - this.from)) * this.width;
  }

  /**
   * Which moment stands there.
   * @param {number} x
   */
  at(x) {
    return this.from + (x / this.width) * (this.to - this.from);
  }

  /**
   * Moments of the axis: multiples of the smallest step that leaves at most so many of them.
   * @param {number[]} steps in seconds, rising
   * @param {number} most
   */
  ticks(steps, most) {
    const span = (this.to - this.from) / 1000;
    const step = steps.find((each) => span / each <= most) ?? steps[steps.length - 1] * 2;
    const first = Math.ceil(this.from / 1000 / step - 1e-9);
    const ticks = [];
    for (let count = first; count * step * 1000 <= this.to; count += 1) ticks.push(count * step);
    return { step, ticks };
  }

  /**
   * The part of the width that a span covers, at least a pixel; null where none of it is seen.
   * @param {number} from
   * @param {number} until
   */
  clip(from, until) {
    const left = Math.max(0, this.x(from));
    const right = Math.min(this.width, this.x(until));
    return right <= 0 || left >= this.width ? null : { left, right, width: Math.max(1, right - left - 1) };
  }
}

const STRETCH_MS = 30_000;

/**
 * How far an axis reaches once a run of this length is on it: it never shrinks, and it grows by whole stretches, so that
 * few deeds move it.
 * @param {number} before how far it reached; 0 at first
 * @param {number} end
 */
export function reachOf(before, end) {
  if (!before || end <= before) return before || end;
  return Math.ceil(end / STRETCH_MS) * STRETCH_MS;
}

/**
 * The scale after zooming about a moment by a factor; by 0 it shows all.
 * @param {Scale} scale
 * @param {number} by
 * @param {number} at
 * @param {number} end
 * @param {number} least the shortest stretch
 */
export function zoomed(scale, by, at, end, least) {
  const span = by ? Math.min(end, Math.max(least, (scale.to - scale.from) * by)) : end;
  const from = Math.max(0, Math.min(end - span, at - span / 2));
  return new Scale(from, from + span, scale.width);
}

/**
 * The scale that shows a moment: moved on when the moment lies outside.
 * @param {Scale} scale
 * @param {number} at
 * @param {number} end
 */
export function following(scale, at, end) {
  if (at >= scale.from && at <= scale.to) return scale;
  const span = scale.to - scale.from;
  const from = Math.max(0, Math.min(end - span, at - span / 4));
  return new Scale(from, from + span, scale.width);
}

/**
 * How far a label is moved so that it keeps this margin on both sides.
 * @param {number} x
 * @param {number} width
 * @param {number} margin
 */
export function labelShift(x, width, margin) {
  return Math.round(Math.max(margin - x, Math.min(0, width - margin - x)));
}

/**
 * How many of many spans lie over each pixel at worst.
 * @param {[number, number][]} spans
 * @param {Scale} scale
 */
export function worstPerPixel(spans, scale) {
  const worst = new Float64Array(Math.ceil(scale.width) + 1);
  const edges = spans.flatMap(([from, until]) => [[from, 1], [until, -1]]);
  edges.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
  let now = 0;
  let last = 0;
  for (const [at, by] of edges) {
    const to = Math.floor(scale.x(at));
    for (let x = last; x <= to; x += 1) worst[x] = Math.max(worst[x], now);
    now += by;
    last = to;
    worst[to] = Math.max(worst[to], now);
  }
  for (let x = last; x < worst.length; x += 1) worst[x] = Math.max(worst[x], now);
  return worst;
}
