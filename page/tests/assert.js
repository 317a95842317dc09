// Two ways to say what is expected; no library is needed for more.

/**
 * Two values are the same, all the way down.
 * @param {unknown} actual
 * @param {unknown} expected
 */
export function same(actual, expected) {
  const [a, b] = [actual, expected].map((value) => JSON.stringify(value, null, 1));
  if (a !== b) throw new Error(`expected ${b}, found ${a}`);
}

/**
 * Two numbers differ by less than a thousandth.
 * @param {number} actual
 * @param {number} expected
 */
export function close(actual, expected) {
  if (!(Math.abs(actual - expected) < 1e-3)) throw new Error(`expected ${expected}, found ${actual}`);
}

/**
 * A call raises an error whose message matches.
 * @param {() => unknown} call
 * @param {RegExp} pattern
 */
export function raises(call, pattern) {
  let message = "no error";
  try {
    call();
  } catch (error) {
    message = /** @type {Error} */ (error).message;
  }
  if (!pattern.test(message)) throw new Error(`expected an error like ${pattern}, found: ${message}`);
}
