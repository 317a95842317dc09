// A text in which the numbers that are settings can be changed. A number that is being changed stays where it is
// in the page while the words around it are written anew, so that neither pointer nor focus is lost.

import { make, say } from "../../shared/dom.js";
import { pieces } from "./number.js";
import { Spin } from "./spin.js";

/** A node with such a text. */
export class Said {
  /**
   * @param {import("../lab.js").Lab} lab
   * @param {HTMLElement} node
   */
  constructor(lab, node) {
    this.lab = lab;
    this.node = node;
    /** @type {unknown[]} */
    this.drawn = [];
    /** @type {Spin[]} */
    this.spins = [];
  }

  /** @param {string} text */
  say(text) {
    const { numbers } = this.lab.store;
    if (this.drawn[0] === text && this.drawn[1] === numbers) return;
    this.drawn = [text, numbers];
    const parts = pieces(text, numbers);
    const kept = this.spins.find((spin) => spin.active);
    if (parts.every((part) => typeof part === "string") && !kept) {
      this.spins = [];
      say(this.node, text);
      return;
    }
    this.write(parts, kept);
  }

  /**
   * @param {(string | { name: string })[]} parts
   * @param {Spin | undefined} kept
   */
  write(parts, kept) {
    const place = kept ? parts.findIndex((part) => typeof part !== "string" && part.name === kept.name) : -1;
    const before = this.nodesOf(kept && place >= 0 ? parts.slice(0, place) : parts);
    const after = this.nodesOf(kept && place >= 0 ? parts.slice(place + 1) : []);
    this.spins = [...before, ...after].flatMap(({ spin }) => spin ?? []);
    const nodes = [before, after].map((list) => list.map(({ node }) => node));
    if (kept) {
      const named = place < 0 ? [make("span", {}, ` ${kept.name} `)] : [];
      this.spins.push(kept);
      [...this.node.childNodes].forEach((node) => node !== kept.node && node.remove());
      kept.node.before(...nodes[0], ...named);
      kept.node.after(...nodes[1]);
    } else this.node.replaceChildren(...nodes[0]);
    this.spins.forEach((spin) => spin.paint());
  }

  /**
   * @param {(string | { name: string })[]} parts
   * @returns {{ node: Node, spin?: Spin }[]}
   */
  nodesOf(parts) {
    return parts.map((part) => {
      if (typeof part === "string") return { node: document.createTextNode(part) };
      const spin = new Spin(this.lab, part.name);
      return { node: spin.node, spin };
    });
  }
}
