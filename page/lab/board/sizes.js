// Sizes of the board: chosen once per film from the most that any lane ever holds, so that nothing resizes in play.

export const RAIL = 184;
export const GAP = 14;
export const COORDINATOR = 54;
export const FULL_HEIGHT = 284;
/** The least that three lanes take. */
const LANES = 216;
const WIDEST_TOKEN = 200;
/** The least width of a token that is as high as its lane. */
const LEAST_TOKEN = 80;
/** How much taller a lane is at most where there is height to spare. */
const MOST_TALLER = 40;
/** The rail's title where the rail lies under the lanes. */
const RAIL_TITLE = 31;
const LETTER = 7;
const BESIDE_NAME = 20;
const WORD = 62;
const RECORDS = 128;
const WORDED = 150;
const COUNTED = 112, COUNTED_LARGE = 11;
const LARGER = 1.35;
/** How high a token is for its letters. */
const LINE = 1.3;
/** A lower token of the rail shows its number alone for a projector: name and time do not fit beside each other. */
const LARGE_CHIP = 32;
const LARGER_NAME = 1.16, NAME_PX = 13;
/** *leader · generation 12* is so many times as wide as its letters are high. */
const LARGE_HEAD = 11.6;
/** Below this width what has no owner stands under the lanes, and no bus beside them. */
const LOW = 720;
const PHONE = 480, LOW_FACE = 50;
const LOW_HEAD = { least: 138, most: 210, share: 0.32 };
const LOW_LANE = 64;
const LOW_TOKEN = { width: 56, height: 24, gap: 5 };
/** The rail's title above its tokens, and its two lines of text below them. */
const RAIL_TEXT = 98;

/** @typedef {{ x: number, y: number, width: number, height: number, bare?: boolean }} Box `bare`: the number alone */
/** @typedef {{ rows: number, columns: number, width: number, height: number }} Cells */

/**
 * @typedef {object} LaneSizes
 * @property {number} inner
 * @property {number} busWidth
 * @property {number} railWidth
 * @property {number} railX
 * @property {number} columns of lanes
 * @property {number} rows of lanes
 * @property {number} laneHeight
 * @property {number} laneGap
 * @property {number} laneWidth
 * @property {number} laneTop
 * @property {number} head the part of a lane left of its tokens
 * @property {Cells[]} cells tokens in each lane
 * @property {number} whole from this width on a token has room for its name beside its word, and for records
 * @property {number} worded from this width on a low token has room for its word
 * @property {number} counted from this width on a token that stopped has room for how many records wait
 * @property {number} railY
 * @property {number} railHeight
 * @property {number} height
 * @property {{ columns: number, width: number, height: number, gap: number }} rail tokens in the rail
 * @property {number} [bareFrom] a token in a lane that is narrower shows its number alone
 * @property {boolean} bare whether tokens in the rail show their number alone, because the name of the one topic would be cut
 */

/**
 * The sizes of lanes; without `cells` where tiles are drawn instead.
 * @param {import("../film/format.js").Film} film
 * @param {number} width
 * @param {number} large the size of small words for a projector, else 0
 * @param {number} [spare] height that lanes take beyond what they need
 * @returns {LaneSizes | { inner: number, spare: number, large: number }}
 */
export function measure(film, width, large, spare = 0) {
  if (width < LOW) return measureLow(film, width, large);
  const inner = Math.max(680, width - 40), tight = width < 960;
  const busWidth = tight ? 92 : 104, railWidth = tight ? 164 : RAIL;
  const count = film.members.length;
  const columns = count > 6 ? 2 : 1;
  const rows = Math.ceil(count / columns);
  const laneHeight = (count <= 4 ? 68 : count <= 6 ? 52 : 44) +
    Math.min(MOST_TALLER, Math.floor(spare / Math.max(rows, 3)));
  const laneGap = 6;
  const all = inner - busWidth - GAP - railWidth;
  const laneWidth = columns === 1 ? all : (all - 10) / 2;
  const head = columns > 1 ? 150 : (tight ? 222 : 224) + larger(large);
  const track = laneWidth - head - 8;
  const named = nameWidth(film.partitions) * (large ? Math.max(LARGER_NAME, large / NAME_PX) : 1);
  const spared = Math.min(sharedAfterOne(film), Math.floor((track + 9) / (LEAST_TOKEN + 9)));
  const cells = film.members.flatMap((_, index) =>
    fitCells(track, laneHeight, Math.max(1, spared, film.mostIn[index] ?? 0), named, large) ?? []
  );
  if (count > 16 || cells.length < count) return { inner, spare, large };
  const lanes = Math.max(rows * (laneHeight + laneGap) - laneGap, LANES + spare);
  const height = Math.max(FULL_HEIGHT, COORDINATOR + 8 + lanes + 6);
  const rail = fitRail(height - COORDINATOR - 14, film.mostInRail, railWidth - 20);
  return {
    inner,
    busWidth,
    railWidth,
    columns,
    rows,
    laneHeight,
    laneGap,
    laneWidth,
    head,
    cells,
    whole: Math.max(RECORDS, named + WORD) * (large ? LARGER : 1),
    counted: large ? COUNTED_LARGE * large : COUNTED,
    worded: large ? named + WORD * large / NAME_PX : Math.min(Math.max(RECORDS, named + WORD), WORDED),
    bareFrom: large && topicsOf(film.partitions) === 1 ? named : 0,
    height,
    rail,
    bare: topicsOf(film.partitions) === 1 &&
      (rail.width < named * (large ? LARGER : 1) || large > 0 && rail.height < LARGE_CHIP),
    railX: inner - railWidth,
    railY: COORDINATOR + 8,
    railHeight: height - COORDINATOR - 18,
    laneTop: COORDINATOR + 8,
  };
}

/**
 * What larger words need beside a lane's disc.
 * @param {number} large
 */
function larger(large) {
  return large ? Math.max(34, Math.round(LARGE_HEAD * large) - 140) : 0;
}

/**
 * The sizes on a phone or in a narrow cell: lanes over the whole width, and below them what has no owner.
 * @param {import("../film/format.js").Film} film
 * @param {number} width
 * @param {number} large
 * @returns {LaneSizes | { inner: number, spare: number, large: number }}
 */
function measureLow(film, width, large) {
  const inner = width - 24, count = film.members.length, laneHeight = LOW_LANE, laneGap = 5;
  const { least, most, share } = LOW_HEAD;
  const usual = Math.round(Math.max(least, Math.min(most, inner * share)));
  const head = width < PHONE
    ? usual + (large ? 30 : 0)
    : Math.max(usual, LOW_FACE + Math.round(LARGE_HEAD * large));
  const cells = film.members.flatMap((_, index) =>
    fitCells(inner - head - 8, laneHeight, Math.max(1, film.mostIn[index] ?? 0), LOW_TOKEN.width, large) ?? []
  );
  if (count > 8 || cells.length < count) return { inner, spare: 0, large };
  const laneTop = COORDINATOR + 8, railY = laneTop + count * (laneHeight + laneGap);
  const columns = Math.floor((inner - 14) / (LOW_TOKEN.width + LOW_TOKEN.gap));
  const railRows = Math.max(1, Math.ceil(film.mostInRail / columns));
  const railHeight = RAIL_TITLE + railRows * (LOW_TOKEN.height + LOW_TOKEN.gap) + 6;
  const bare = topicsOf(film.partitions) === 1;
  return {
    inner,
    busWidth: 0,
    railWidth: inner,
    columns: 1,
    rows: count,
    laneHeight,
    laneGap,
    laneWidth: inner,
    head,
    cells,
    whole: RECORDS + WORD,
    counted: large ? COUNTED_LARGE * large : COUNTED,
    worded: WORDED,
    height: railY + railHeight + 8,
    rail: { columns, ...LOW_TOKEN },
    bare,
    bareFrom: bare ? nameWidth(film.partitions) * (large ? LARGER_NAME : 1) : 0,
    railX: 0,
    railY,
    railHeight,
    laneTop,
  };
}

/**
 * How many partitions a lane holds once another member is gone: room for them from the start, so that no tile of a healthy
 * member shrinks when somebody crashes.
 * @param {import("../film/format.js").Film} film
 */
function sharedAfterOne(film) {
  return Math.ceil(film.partitions.length / Math.max(1, film.members.length - 1));
}

/**
 * What the longest name of a partition takes on a chip.
 * @param {string[]} names
 */
function nameWidth(names) {
  return Math.max(...names.map((name) => name.length), 1) * LETTER + BESIDE_NAME;
}

/** @param {string[]} names of partitions */
function topicsOf(names) {
  return new Set(names.map((name) => name.slice(0, name.lastIndexOf("-")))).size;
}

/**
 * The rows and columns of tokens in a lane that holds so many at most: the fewest rows in which names are whole, else
 * those with the widest tokens, high enough for their words where any are.
 * @param {number} track
 * @param {number} laneHeight
 * @param {number} most
 * @param {number} named
 * @param {number} large
 * @returns {Cells | null}
 */
function fitCells(track, laneHeight, most, named, large) {
  const high = (/** @type {Cells} */ { height }) => Number(height >= LINE * large);
  /** @type {Cells[]} */
  const possible = [];
  for (let rows = 1; rows <= 3; rows += 1) {
    const height = rows === 1 ? laneHeight - 16 : Math.floor((laneHeight - 10 - (rows - 1) * 4) / rows);
    const columns = Math.ceil(most / rows);
    const width = Math.min(WIDEST_TOKEN, Math.floor((track - 9 * (columns - 1)) / columns));
    if (height < 15 || width < (rows === 1 && height >= 50 ? LEAST_TOKEN : 54)) continue;
    const cells = { rows, columns, width, height };
    if (width >= named && high(cells)) return cells;
    possible.push(cells);
  }
  return possible.sort((a, b) => high(b) - high(a) || b.width - a.width)[0] ?? null;
}

/**
 * @param {number} height
 * @param {number} most
 * @param {number} wide
 */
function fitRail(height, most, wide) {
  const room = height - RAIL_TEXT;
  for (const height of [54, 32, 26]) {
    if (most * (height + 8) <= room) return { columns: 1, width: wide, height, gap: 8 };
  }
  if (most * 25 <= room) return { columns: 1, width: wide, height: 22, gap: 3 };
  for (const [columns, each, gap] of [[2, 26, 6], [2, 20, 6], [3, 20, 6], [3, 16, 3]]) {
    const width = Math.floor((wide - 6 * (columns - 1)) / columns);
    if (Math.ceil(most / columns) * (each + gap) <= room) return { columns, width, height: each, gap };
  }
  return { columns: 3, width: 50, height: 16, gap: 3 };
}

/**
 * @param {import("./sizes.js").LaneSizes} sizes
 * @param {number} index
 */
export function laneBox(sizes, index) {
  const column = Math.floor(index / sizes.rows), row = index % sizes.rows;
  return {
    x: sizes.busWidth + column * (sizes.laneWidth + 10),
    y: sizes.laneTop + row * (sizes.laneHeight + sizes.laneGap),
    width: sizes.laneWidth,
    height: sizes.laneHeight,
  };
}

/**
 * @param {import("./sizes.js").LaneSizes} sizes
 * @param {number} owner
 * @param {number} slot
 */
export function tokenBox(sizes, owner, slot) {
  if (owner < 0) {
    const { columns, width, height, gap } = sizes.rail;
    return {
      x: sizes.railX + 10 + (slot % columns) * (width + 6),
      y: sizes.railY + (sizes.busWidth ? 44 : RAIL_TITLE) + Math.floor(slot / columns) * (height + gap),
      width,
      height,
      bare: sizes.bare,
    };
  }
  const lane = laneBox(sizes, owner), { columns, rows, width, height } = sizes.cells[owner];
  slot = Math.min(slot, columns * rows - 1); // what a lane holds while the group forms may not fit
  const row = Math.floor(slot / columns), block = rows * height + (rows - 1) * 4;
  return {
    x: lane.x + sizes.head + (slot % columns) * (width + 9),
    y: lane.y + (lane.height - block) / 2 + row * (height + 4),
    width,
    height,
    bare: width < (sizes.bareFrom ?? 0),
  };
}
