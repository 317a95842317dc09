// Nodes of the page. Text is set as text only, never as HTML.

const SVG = "http://www.w3.org/2000/svg";

/**
 * An element with its attributes and children. `svg:` before the tag makes an SVG element. An attribute that is
 * null, undefined or false is left out, one that is true stands without a value.
 * @template {string} T
 * @param {T} tag
 * @param {Record<string, unknown>} [attributes]
 * @param {...(Node | string | null | undefined)} children
 * @returns {T extends keyof HTMLElementTagNameMap ? HTMLElementTagNameMap[T] : SVGElement}
 */
export function make(tag, attributes = {}, ...children) {
  const node = /** @type {any} */ (
    tag.startsWith("svg:") ? document.createElementNS(SVG, tag.slice(4)) : document.createElement(tag)
  );
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    node.setAttribute(key, value === true ? "" : String(value));
  }
  for (const child of children) {
    if (child !== null && child !== undefined) node.append(child);
  }
  return node;
}

/**
 * Set a node's text unless it stands there already.
 * @param {Node} node
 * @param {string} text
 */
export function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/**
 * Set an attribute unless it stands there already; null takes it away.
 * @param {Element} node
 * @param {string} key
 * @param {unknown} value
 */
export function set(node, key, value) {
  const text = value === null || value === undefined ? null : String(value);
  if (node.getAttribute(key) === text) return;
  if (text === null) node.removeAttribute(key);
  else node.setAttribute(key, text);
}
