// Files: bytes of the kernel become a download; the picture of a view is drawn by the browser itself.

import { make } from "../../shared/dom.js";

const KEPT_MS = 10_000;
const SHARPNESS = 2;
/** @type {Record<string, string>} */
const KINDS = { ".html": "text/html", ".svg": "image/svg+xml" };

/** @typedef {import("../lab.js").Lab} Lab */

/**
 * @param {string} name
 * @param {BlobPart} bytes
 * @param {string} kind
 */
function download(name, bytes, kind) {
  const address = URL.createObjectURL(new Blob([bytes], { type: kind }));
  const link = make("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), KEPT_MS);
}

/**
 * The lab's rules, as the page has them; from the kernel where the page keeps them to itself.
 * @param {Lab} lab
 */
async function styleOf(lab) {
  const rules = [...document.styleSheets].flatMap((sheet) => {
    try {
      return [...sheet.cssRules];
    } catch {
      return []; // a sheet of another origin
    }
  });
  const css = rules.map((rule) => rule.cssText).filter((text) => text.includes("rk-")).join("\n");
  if (css || lab.alone) return css;
  const answer = await lab.talk.request({ type: "export", what: "style" });
  return new TextDecoder().decode(answer.buffers[0]);
}

/** What is for hands, and no part of a picture. */
const TOOLS =
  "[hidden], .rk-actions, .rk-transport, .rk-astext, .rk-guidebutton, .rk-guidebuttons, .rk-band, .rk-slider, .rk-head > button:not(.rk-presetbutton), .rk-popup, .rk-keys, .rk-offer, .rk-status";

/**
 * A copy of the lab in which canvases are images that stand where they stood, and nothing is hidden.
 * @param {HTMLElement} root
 */
function stillOf(root) {
  const copy = /** @type {HTMLElement} */ (root.cloneNode(true));
  const drawn = [...root.querySelectorAll("canvas")];
  copy.querySelectorAll("canvas").forEach((canvas, place) => {
    const { position, left, top } = getComputedStyle(drawn[place]);
    const where = position === "absolute" ? `;position:absolute;left:${left};top:${top}` : "";
    const style = `${canvas.getAttribute("style") ?? ""}${where}`;
    canvas.replaceWith(
      make("img", { src: drawn[place].toDataURL(), style, class: canvas.className || null }),
    );
  });
  copy.querySelectorAll(TOOLS).forEach((node) => node.remove());
  return new XMLSerializer().serializeToString(copy);
}

/**
 * How tall the lab is without the bars that a picture does not show.
 * @param {Lab} lab
 */
function heightOf({ ui }) {
  const bars = [ui.actionBar, ui.transport, ui.details];
  const scale = ui.root.getBoundingClientRect().height / ui.root.offsetHeight;
  return scale * (ui.root.offsetHeight - bars.reduce((sum, bar) => sum + bar.offsetHeight, 0));
}

/**
 * The lab as it stands, put into an SVG with its own style, then into a canvas.
 * @param {Lab} lab
 * @returns {Promise<Blob>}
 */
async function picture(lab) {
  const css = (await styleOf(lab)).replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const { width } = lab.ui.root.getBoundingClientRect();
  const height = heightOf(lab);
  const body = `<div xmlns="http://www.w3.org/1999/xhtml"><style>${css}</style>${stillOf(lab.ui.root)}</div>`;
  const inside = `<foreignObject width="100%" height="100%">${body}</foreignObject>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${inside}</svg>`;
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const [wide, tall] = [width, height].map((size) => Math.round(size * SHARPNESS));
  const canvas = make("canvas", { width: wide, height: tall });
  const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  pen.scale(SHARPNESS, SHARPNESS);
  pen.drawImage(image, 0, 0);
  return new Promise((done, failed) =>
    canvas.toBlob((blob) => blob ? done(blob) : failed(new Error("the canvas is empty")), "image/png")
  );
}

/**
 * @param {Lab} lab
 * @param {string} what
 */
async function saveFile(lab, what) {
  if (what === "png") {
    const name = `${lab.model.get("controls").preset}-${Math.round(lab.player.at)}ms.png`;
    download(name, await picture(lab), "image/png");
    lab.tell("The picture is in your downloads.");
    return;
  }
  const answer = await lab.talk.request({ type: "export", what });
  if (answer.type === "refused") {
    lab.refuse(answer.words);
    return;
  }
  download(
    answer.file,
    answer.buffers[0],
    KINDS[answer.file.slice(answer.file.lastIndexOf("."))] ?? "text/plain",
  );
  lab.tell(`${answer.file} is in your downloads.`);
}

/**
 * Make a file, or say why the browser could not.
 * @param {Lab} lab
 * @param {string} what
 */
export function save(lab, what) {
  return saveFile(lab, what).catch((/** @type {Error} */ failure) =>
    lab.tell(`This browser could not make the file: ${failure.message}`)
  );
}
