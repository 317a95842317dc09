// Sizes of the board: chosen once per film from the most that any lane ever holds, so that nothing resizes in play.

export const RAIL = 184;
export const GAP = 14;
export const COORDINATOR = 66;
export const FULL_HEIGHT = 330;

/** @typedef {{ x: number, y: number, width: number, height: number }} Box */
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
 * @property {Cells} cells tokens in a lane
 * @property {number} height
 * @property {{ columns: number, width: number, height: number, gap: number }} rail tokens in the rail
 */

/**
 * The sizes of lanes; without `cells` where tiles are drawn instead.
 * @param {import("../film/format.js").Film} film
 * @param {number} width
 * @param {boolean} large for a projector
 * @returns {LaneSizes | { inner: number }}
 */
export function measure(film, width, large) {
  const inner = Math.max(680, width - 40), tight = width < 960;
  const busWidth = tight ? 92 : 104, railWidth = tight ? 164 : RAIL;
  const count = film.members.length;
  const most = Math.max(1, ...film.mostIn);
  const columns = count > 6 ? 2 : 1;
  const laneHeight = count <= 4 ? 76 : count <= 6 ? 52 : 44;
  const laneGap = 8;
  const all = inner - busWidth - GAP - railWidth;
  const laneWidth = columns === 1 ? all : (all - 10) / 2;
  const head = columns > 1 ? 150 : (tight ? 222 : 224) + (large ? 34 : 0);
  const track = laneWidth - head - 8;
  const cells = fitCells(track, laneHeight, most);
  if (count > 16 || !cells) return { inner };
  const rows = Math.ceil(count / columns);
  const lanes = Math.max(rows * (laneHeight + laneGap) - laneGap, 244);
  const height = Math.max(FULL_HEIGHT, COORDINATOR + 10 + lanes + 10);
  const rail = fitRail(height - COORDINATOR - 20, film.mostInRail, railWidth - 20);
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
    height,
    rail,
    railX: inner - railWidth,
    laneTop: COORDINATOR + 10,
  };
}

/**
 * @param {number} track
 * @param {number} laneHeight
 * @param {number} most
 */
function fitCells(track, laneHeight, most) {
  for (let rows = 1; rows <= 3; rows += 1) {
    const height = rows === 1 ? laneHeight - 22 : Math.floor((laneHeight - 14 - (rows - 1) * 5) / rows);
    const columns = Math.ceil(most / rows);
    const width = Math.min(160, Math.floor((track - 9 * (columns - 1)) / columns));
    if (height >= 16 && width >= (rows === 1 && height >= 50 ? 80 : 54)) {
      return { rows, columns, width, height };
    }
  }
  return null;
}

/**
 * @param {number} height
 * @param {number} most
 * @param {number} wide
 */
function fitRail(height, most, wide) {
  const room = height - 52;
  for (const height of [54, 32, 26]) {
    if (most * (height + 8) <= room) return { columns: 1, width: wide, height, gap: 8 };
  }
  for (const columns of [2, 3]) {
    const width = Math.floor((wide - 6 * (columns - 1)) / columns);
    for (const each of [26, 20, 16]) {
      if (Math.ceil(most / columns) * (each + 6) <= room) return { columns, width, height: each, gap: 6 };
    }
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
      y: sizes.laneTop + 44 + Math.floor(slot / columns) * (height + gap),
      width,
      height,
    };
  }
  const lane = laneBox(sizes, owner), { columns, rows, width, height } = sizes.cells;
  slot = Math.min(slot, columns * rows - 1); // what a lane holds while the group forms may not fit
  const row = Math.floor(slot / columns), block = rows * height + (rows - 1) * 5;
  return {
    x: lane.x + sizes.head + (slot % columns) * (width + 9),
    y: lane.y + (lane.height - block) / 2 + row * (height + 5),
    width,
    height,
  };
}
