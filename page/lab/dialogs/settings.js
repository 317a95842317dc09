// The drawer of settings, by Kafka's names.

import { make, say, set } from "../../shared/dom.js";
import { inflate } from "../film/format.js";
import { selectOf } from "./items.js";

/** @typedef {import("../lab.js").Lab} Lab */

/**
 * @typedef {object} Field
 * @property {string} name
 * @property {string} value
 * @property {string} help
 * @property {string} where for whom it is set
 * @property {string} allowed
 * @property {string} default
 * @property {boolean} changed
 */

/** @typedef {{ group: string, fields: Field[] }} Group */
/** @typedef {{ input: HTMLInputElement, error: HTMLElement, was: string }} Entry */

/**
 * @param {Lab} lab
 * @param {HTMLElement} opener
 */
export async function showSettings(lab, opener) {
  const answer = await lab.talk.request({ type: "fields" });
  new Drawer(lab, opener, await inflate(answer.buffers[0])).show();
}

/** The drawer with its fields. */
class Drawer {
  /**
   * @param {Lab} lab
   * @param {HTMLElement} opener
   * @param {Group[]} groups
   */
  constructor(lab, opener, groups) {
    this.lab = lab;
    this.opener = opener;
    this.groups = groups;
    /** @type {Map<string, Entry>} */
    this.entries = new Map();
    const changed = groups.flatMap(({ fields }) => fields).filter((field) => field.changed);
    const names = changed.map((field) => field.name).join(", ");
    const words = names ? `Changed: ${names}.` : "All at their defaults.";
    this.note = make("p", { role: "status", class: "rk-dim" }, words);
  }

  show() {
    const { assignors, assignor } = this.lab.model.get("controls");
    const names = assignors.map((/** @type {string} */ name) => [name, name]);
    const choose = (/** @type {string} */ value) => this.lab.ask({ type: "set", name: "assignor", value });
    const go = make("button", { type: "button", class: "rk-primary" }, "Apply from the start of the run");
    go.addEventListener("click", () => this.apply());
    this.lab.drawer.show(
      this.opener,
      make("h2", {}, "Settings"),
      make(
        "div",
        { class: "rk-field" },
        make("span", {}, "Assignor"),
        selectOf("Assignor", names, assignor, choose),
      ),
      this.drawSeed(),
      ...this.groups.flatMap(({ group, fields }) => [
        make("h3", {}, group),
        ...fields.map((field) => this.drawField(field)),
      ]),
      make("div", { class: "rk-foot" }, go, this.note),
    );
  }

  drawSeed() {
    const words = make("span", {}, `seed ${this.lab.model.get("controls").seed}`);
    const reseed = (/** @type {string} */ label, /** @type {() => number | null} */ choose) => {
      const node = make("button", { type: "button" }, label);
      node.addEventListener("click", () => {
        const value = choose();
        this.lab.ask({ type: "set", name: "seed", value });
        say(words, value === null ? "the scenario's own seed" : `seed ${value}`);
      });
      return node;
    };
    const fresh = reseed("New seed", () => Math.floor(Math.random() * 1e6));
    const bar = make("div", { class: "rk-bar" }, fresh, reseed("Reset", () => null));
    return make("div", { class: "rk-field" }, words, bar);
  }

  /** @param {Field} field */
  drawField({ name, value, help, where, allowed, changed, default: usual }) {
    const id = `rk-${Math.random().toString(36).slice(2)}`;
    const input = make("input", {
      id,
      type: "text",
      value,
      "data-field": name,
      "aria-describedby": `${id}h ${id}e`,
      autocomplete: "off",
      spellcheck: "false",
    });
    const error = make("p", { class: "rk-fielderror", id: `${id}e` });
    this.entries.set(name, { input, error, was: value });
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.apply();
      const value = stepped(input.value, event);
      if (value === null) return;
      event.preventDefault();
      input.value = value;
      this.follow(name, value);
    });
    const says = `${help} For ${where}: ${allowed}; default ${usual || "none"}.`;
    return make(
      "div",
      { class: `rk-field${changed ? " rk-changed" : ""}` },
      make("label", { for: id }, name, changed ? make("small", {}, " changed") : null),
      input,
      make("p", { class: "rk-fieldhelp", id: `${id}h` }, says),
      error,
    );
  }

  /**
   * Run with one stepped value at once; of steps that come faster than the answers only the last is sent.
   * @param {string} name
   * @param {string} value
   */
  follow(name, value) {
    const entry = this.entries.get(name);
    this.lab.ask({ type: "settings", values: { [name]: value }, live: true }, (answer) => {
      if (answer.type === "refused") this.refuse(answer, [name]);
      else if (entry) {
        entry.was = value;
        say(entry.error, "");
        set(entry.input, "aria-invalid", null);
        const stopped = `${answer.cost} partition-seconds (without it ${answer.without})`;
        say(this.note, `${name} is ${value}. Stopped from here on: ${stopped}.`);
      }
    });
  }

  /** Send what was changed. */
  apply() {
    /** @type {Record<string, string>} */
    const values = {};
    this.entries.forEach(({ input, error, was }, name) => {
      if (input.value !== was) values[name] = input.value;
      say(error, "");
      set(input, "aria-invalid", null);
    });
    if (!Object.keys(values).length) {
      say(this.note, "Nothing was changed.");
      return;
    }
    this.lab.ask({ type: "settings", values }, async (answer) => {
      if (answer.type === "refused") this.refuse(answer, Object.keys(values));
      else this.showAgain(new Drawer(this.lab, this.opener, await inflate(answer.buffers[0])));
    });
  }

  /**
   * Show the new values where the reader was.
   * @param {Drawer} drawer
   */
  showAgain(drawer) {
    const { root } = this.lab.drawer;
    const { scrollTop } = root;
    const { activeElement } = document;
    const name = activeElement instanceof HTMLElement ? activeElement.dataset.field : undefined;
    drawer.show();
    drawer.entries.get(name ?? "")?.input.focus();
    root.scrollTop = scrollTop;
  }

  /**
   * Say at its fields why Kafka refuses.
   * @param {{ words: string, keys?: string[] }} answer
   * @param {string[]} sent
   */
  refuse({ words, keys = [] }, sent) {
    const known = keys.filter((key) => this.entries.has(key));
    const wrong = (known.length ? known : sent.slice(0, 1)).flatMap((key) => this.entries.get(key) ?? []);
    for (const { input, error } of wrong) {
      say(error, words);
      set(input, "aria-invalid", "true");
    }
    wrong[0]?.input.focus();
    say(this.note, "Kafka refuses this. The run is unchanged.");
  }
}

/**
 * The number that an arrow key steps to: the second digit by one, with Shift the first; null where nothing is stepped.
 * @param {string} text
 * @param {{ key: string, shiftKey: boolean }} event
 */
function stepped(text, { key, shiftKey }) {
  const sign = key === "ArrowUp" ? 1 : key === "ArrowDown" ? -1 : 0;
  if (!sign || !/^\d+$/.test(text.trim())) return null;
  const value = Number(text);
  const digits = Math.max(1, 10 ** (String(value).length - 2));
  return String(Math.max(0, value + sign * digits * (shiftKey ? 10 : 1)));
}
