// The drawer of settings, by Kafka's names.

import { make, say, set } from "../../shared/dom.js";
import { inflate } from "../film/format.js";

export async function showSettings(lab, opener) {
  const answer = await lab.talk.request({ type: "fields" });
  drawSettings(lab, opener, await inflate(answer.buffers[0]));
}

function drawSettings(lab, opener, groups) {
  const inputs = new Map(), controls = lab.model.get("controls");
  const assignor = make(
    "select",
    { "aria-label": "Assignor" },
    ...controls.assignors.map((name) => make("option", { value: name }, name)),
  );
  assignor.value = controls.assignor;
  assignor.addEventListener("input", () => lab.ask({ type: "set", name: "assignor", value: assignor.value }));
  const seed = make("span", {}, `seed ${controls.seed}`);
  const reseed = (words, value) => {
    const node = make("button", { type: "button" }, words);
    node.addEventListener("click", () => {
      const made = value();
      lab.ask({ type: "set", name: "seed", value: made });
      say(seed, made === null ? "the scenario's own seed" : `seed ${made}`);
    });
    return node;
  };
  const changed = groups.flatMap((group) => group.fields).filter((one) => one.changed).map((one) => one.name);
  const field = (one) => {
    const id = `rk-${Math.random().toString(36).slice(2)}`;
    const input = make("input", {
      id,
      type: "text",
      value: one.value,
      "data-field": one.name,
      "aria-describedby": `${id}h ${id}e`,
      autocomplete: "off",
      spellcheck: "false",
    });
    const error = make("p", { class: "rk-fielderror", id: `${id}e` });
    inputs.set(one.name, { input, error, was: one.value });
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") apply();
    });
    return make(
      "div",
      { class: `rk-field${one.changed ? " rk-changed" : ""}` },
      make("label", { for: id }, one.name, one.changed ? make("small", {}, " changed") : null),
      input,
      make(
        "p",
        { class: "rk-fieldhelp", id: `${id}h` },
        `${one.help} For ${one.where}: ${one.allowed}; default ${one.default || "none"}.`,
      ),
      error,
    );
  };
  const apply = () => {
    const values = {};
    inputs.forEach(({ input, was }, name) => {
      if (input.value !== was) values[name] = input.value;
    });
    inputs.forEach(({ input, error }) => {
      say(error, "");
      set(input, "aria-invalid", null);
    });
    if (!Object.keys(values).length) {
      say(note, "Nothing was changed.");
      return;
    }
    lab.ask({ type: "settings", values }, async (answer) => {
      if (answer.type !== "refused") {
        drawSettings(lab, opener, await inflate(answer.buffers[0]));
        return;
      }
      const at = (answer.keys || []).filter((key) => inputs.has(key)),
        wanted = at.length ? at : Object.keys(values).slice(0, 1);
      wanted.forEach((key) => {
        const { input, error } = inputs.get(key);
        say(error, answer.words);
        set(input, "aria-invalid", "true");
      });
      inputs.get(wanted[0]).input.focus();
      say(note, "Kafka refuses this. The run is unchanged.");
    });
  };
  const go = make("button", { type: "button", class: "rk-primary" }, "Apply from the start of the run");
  go.addEventListener("click", apply);
  const note = make(
    "p",
    { role: "status", class: "rk-dim" },
    changed.length ? `Changed: ${changed.join(", ")}.` : "All at their defaults.",
  );
  lab.drawer.show(
    opener,
    make("h2", {}, "Settings"),
    note,
    make("div", { class: "rk-field" }, make("span", {}, "Assignor"), assignor),
    make(
      "div",
      { class: "rk-field" },
      seed,
      make(
        "div",
        { class: "rk-bar" },
        reseed("New seed", () => Math.floor(Math.random() * 1e6)),
        reseed("Reset", () => null),
      ),
    ),
    ...groups.flatMap((group) => [make("h3", {}, group.group), ...group.fields.map(field)]),
    make("div", { class: "rk-foot" }, go),
  );
}
