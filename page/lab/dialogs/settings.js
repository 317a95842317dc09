// The drawer of settings, by Kafka's names.

import { make, say, set } from "../../shared/dom.js";
import { inflate } from "../film/format.js";
import { unreadWords } from "../numbers/drag.js";
import { FieldDrag } from "../numbers/field.js";
import { asKafkaWrites, changeWords } from "../numbers/number.js";
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
 * @property {"" | "lesson" | "here"} changed by whom
 */

/** @typedef {{ group: string, fields: Field[] }} Group */
/** @typedef {{ input: HTMLInputElement, error: HTMLElement, was: string }} Entry */

/**
 * @param {Lab} lab
 * @param {HTMLElement} opener
 * @param {string} [name] of the setting whose field gets the focus
 */
export async function showSettings(lab, opener, name = "") {
  const answer = await lab.talk.request({ type: "fields" });
  const drawer = new Drawer(lab, opener, await inflate(answer.buffers[0]));
  drawer.show();
  const input = drawer.entries.get(name)?.input;
  input?.focus();
  input?.select();
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
    this.note = make("p", { role: "status", class: "rk-dim" }, this.changes());
  }

  /** What stands at another value than its default, and who has changed it. */
  changes() {
    const fields = this.groups.flatMap(({ fields }) => fields);
    const words = [["here", "Changed here"], ["lesson", `Changed by the ${this.base}`]].flatMap(
      ([by, says]) => {
        const names = fields.filter(({ changed }) => changed === by).map(({ name }) => name);
        return names.length ? `${says}: ${names.join(", ")}.` : [];
      },
    );
    return words.join(" ") || "All at their defaults.";
  }

  /** What the run began as. */
  get base() {
    return this.lab.model.get("controls").lesson ? "lesson" : "scenario";
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
      this.drawSearch(),
      make(
        "div",
        { class: "rk-field" },
        make("span", {}, "Assignor"),
        selectOf("Assignor", names, assignor, choose),
      ),
      this.drawSeed(),
      ...this.groups.map(({ group, fields }) =>
        make("section", {}, make("h3", {}, group), ...fields.map((field) => this.drawField(field)))
      ),
      make("div", { class: "rk-foot" }, go, this.note),
    );
  }

  /** A setting stays whose name is typed, or else a word of its help; Enter goes to the first one. */
  drawSearch() {
    const looks = { type: "search", placeholder: "find a setting", "aria-label": "Find a setting" };
    const search = make("input", looks);
    search.addEventListener("input", () => this.find(search.value.trim().toLowerCase()));
    search.addEventListener("keydown", (event) => {
      const found = [...this.entries.values()].find(({ input }) => input.checkVisibility());
      if (event.key === "Enter") found?.input.select();
    });
    return search;
  }

  /** @param {string} words */
  find(words) {
    const { root } = this.lab.drawer;
    const has = (/** @type {Element | null} */ part) =>
      words.split(/\s+/).every((word) => part?.textContent?.toLowerCase().includes(word));
    const fields = /** @type {HTMLElement[]} */ ([...root.querySelectorAll(".rk-field")]);
    const named = fields.filter((field) => has(field.querySelector("label, span")));
    const found = new Set(named.length ? named : fields.filter(has));
    fields.forEach((field) => (field.hidden = !found.has(field)));
    root.querySelectorAll("section").forEach((section) => {
      section.hidden = !section.querySelector(".rk-field:not([hidden])");
    });
    say(this.note, found.size === 0 ? "No setting has these words." : this.changes());
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
    const label = make("label", { for: id }, name, this.mark(changed));
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
    const number = this.lab.store.numbers.has(name) ? this.dragOf(name, input, label) : null;
    input.addEventListener("keydown", (event) => {
      if (number?.takes(event)) {
        event.preventDefault();
        event.stopPropagation();
      } else if (event.key === "Enter") {
        if (number?.drag) number.release();
        else this.apply();
      }
    });
    const says = `${help} For ${where}: ${allowed}; default ${usual || "none"}.`;
    return make(
      "div",
      { class: `rk-field${changed === "here" ? " rk-changed" : ""}` },
      label,
      input,
      make("p", { class: "rk-fieldhelp", id: `${id}h` }, says),
      error,
    );
  }

  /** @param {Field["changed"]} changed */
  mark(changed) {
    if (!changed) return null;
    return make("small", {}, changed === "here" ? " changed" : ` changed by the ${this.base}`);
  }

  /**
   * @param {string} name
   * @param {HTMLInputElement} input
   * @param {HTMLElement} label
   */
  dragOf(name, input, label) {
    const told = (/** @type {string} */ words) => say(this.note, words);
    const show = (/** @type {number} */ value, /** @type {string} */ refused) =>
      this.stepped(name, value, refused);
    return new FieldDrag(this.lab, name, input, label, show, told);
  }

  /**
   * A field was stepped: the run follows it already.
   * @param {string} name
   * @param {number} value
   * @param {string} refused Kafka's words against the value
   */
  stepped(name, value, refused) {
    const entry = this.entries.get(name);
    if (!entry) return;
    entry.input.value = String(value);
    say(entry.error, refused);
    set(entry.input, "aria-invalid", refused ? "true" : null);
    if (!refused) entry.was = String(value);
    say(
      this.note,
      refused ? "Kafka refuses this. The run is that of the step before." : `${name} is ${value}.`,
    );
  }

  /** Send what was changed. */
  apply() {
    /** @type {Record<string, string>} */
    const values = {};
    this.entries.forEach(({ input, error, was }, name) => {
      const typed = asKafkaWrites(name, input.value);
      if (typed !== was) values[name] = typed;
      say(error, "");
      set(input, "aria-invalid", null);
    });
    if (!Object.keys(values).length) {
      say(this.note, "Nothing was changed.");
      return;
    }
    this.lab.ask({ type: "settings", values }, async (answer) => {
      if (answer.type === "refused") this.refuse(answer, Object.keys(values));
      else await this.applied(answer, Object.keys(values));
    });
  }

  /**
   * The new values, and what they cost: the same sentence as after a drag.
   * @param {any} answer
   * @param {string[]} names of what was changed
   */
  async applied(answer, names) {
    const drawer = new Drawer(this.lab, this.opener, await inflate(answer.buffers[0]));
    this.showAgain(drawer);
    const now = new Map(
      drawer.groups.flatMap(({ fields }) => fields).map(({ name, value }) => [name, value]),
    );
    const changes = names.map((name) =>
      changeWords(name, this.entries.get(name)?.was ?? "", now.get(name) ?? "")
    );
    const words = `${changes.join(", ")}: ${unreadWords(answer.dragged)}.`;
    this.lab.costs.say(words);
    say(drawer.note, words);
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
