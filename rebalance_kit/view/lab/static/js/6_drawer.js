// What opens beside the board and never over it for long: menus, the drawer of settings, lessons, history.

class Popup {
  constructor(lab, kind, label) {
    this.lab = lab;
    this.root = make("div", { class: `rk-popup rk-${kind}`, role: "dialog", "aria-label": label, hidden: true });
    this.root.addEventListener("keydown", (event) => this.onKey(event));
  }

  get open() {
    return !this.root.hidden;
  }

  show(opener, ...content) {
    this.lab.popups.forEach((other) => { if (other !== this) other.close(false); });
    this.opener = opener;
    const closer = make("button", { type: "button", class: "rk-close", "aria-label": "Close" }, "×");
    closer.addEventListener("click", () => this.close(true));
    this.root.replaceChildren(closer, ...content);
    this.root.hidden = false;
    const first = this.root.querySelector("[autofocus], input, select, .rk-item") || closer;
    first.focus();
  }

  close(back) {
    if (this.root.hidden) return;
    this.root.hidden = true;
    if (back && this.opener && this.opener.isConnected) this.opener.focus();
  }

  onKey(event) {
    if (event.key === "Escape") { event.preventDefault(); event.stopPropagation(); this.close(true); return; }
    const items = [...this.root.querySelectorAll(".rk-item")], at = items.indexOf(document.activeElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && items.length && at >= 0) { event.preventDefault(); items[(at + step + items.length) % items.length].focus(); }
    event.stopPropagation();
  }
}

// --- lessons ------------------------------------------------------------------------------------
async function showPresets(lab, opener) {
  if (!lab.presets) {
    const answer = await lab.talk.request({ type: "presets" });
    lab.presets = await inflate(answer.buffers[0]);
  }
  const search = make("input", { type: "search", placeholder: "search lessons", "aria-label": "Search lessons", autofocus: true });
  const list = make("div", { class: "rk-presetlist" });
  const seen = new Set(remembered("rk-seen", []));
  const fill = () => {
    const wanted = search.value.toLowerCase();
    const shown = lab.presets.filter((one) => !wanted || `${one.title} ${one.try} ${one.watch} ${one.group} ${one.name}`.toLowerCase().includes(wanted));
    let group = "";
    list.replaceChildren(...shown.flatMap((one) => {
      const head = one.group === group ? [] : [make("h3", {}, one.group)];
      group = one.group;
      const here = one.name === lab.model.get("controls").preset;
      const node = make("button", { type: "button", class: "rk-item rk-preset", "aria-current": here ? "true" : null, "data-preset": one.name }, make("b", {}, `${lab.presets.indexOf(one) + 1}  ${one.title}`, seen.has(one.name) ? make("small", {}, " ✓ seen") : null), make("span", {}, `Try: ${one.try} Watch: ${one.watch}.`));
      node.addEventListener("click", () => { remember("rk-seen", [...seen, one.name]); lab.popup.close(true); lab.ask({ type: "preset", name: one.name }); });
      return [...head, node];
    }), shown.length ? "" : make("p", {}, "No lesson has these words."));
  };
  const surprise = make("button", { type: "button" }, "Surprise me");
  surprise.addEventListener("click", () => { const unseen = lab.presets.filter((one) => !seen.has(one.name)); const from = unseen.length ? unseen : lab.presets; list.querySelector(`[data-preset="${from[Math.floor(Math.random() * from.length)].name}"]`).click(); });
  search.addEventListener("input", fill);
  fill();
  lab.popup.show(opener, make("h2", {}, "Lessons"), make("div", { class: "rk-bar" }, search, surprise), list);
}

function remembered(key, otherwise) {
  try { return JSON.parse(localStorage.getItem(key)) || otherwise; } catch (failure) { return otherwise; }
}

function remember(key, value) {
  try { localStorage.setItem(key, JSON.stringify(value)); } catch (failure) { /* a page without storage forgets */ }
}

// --- settings -----------------------------------------------------------------------------------
async function showSettings(lab, opener) {
  const answer = await lab.talk.request({ type: "fields" });
  drawSettings(lab, opener, await inflate(answer.buffers[0]));
}

function drawSettings(lab, opener, groups) {
  const inputs = new Map(), controls = lab.model.get("controls");
  const assignor = make("select", { "aria-label": "Assignor" }, ...controls.assignors.map((name) => make("option", { value: name }, name)));
  assignor.value = controls.assignor;
  assignor.addEventListener("input", () => lab.ask({ type: "set", name: "assignor", value: assignor.value }));
  const seed = make("span", {}, `seed ${controls.seed}`);
  const reseed = (words, value) => { const node = make("button", { type: "button" }, words); node.addEventListener("click", () => { const made = value(); lab.ask({ type: "set", name: "seed", value: made }); say(seed, made === null ? "the scenario's own seed" : `seed ${made}`); }); return node; };
  const changed = groups.flatMap((group) => group.fields).filter((one) => one.changed).map((one) => one.name);
  const field = (one) => {
    const id = `rk-${Math.random().toString(36).slice(2)}`;
    const input = make("input", { id, type: "text", value: one.value, "data-field": one.name, "aria-describedby": `${id}h ${id}e`, autocomplete: "off", spellcheck: "false" });
    const error = make("p", { class: "rk-fielderror", id: `${id}e` });
    inputs.set(one.name, { input, error, was: one.value });
    input.addEventListener("keydown", (event) => { if (event.key === "Enter") apply(); });
    return make("div", { class: `rk-field${one.changed ? " rk-changed" : ""}` }, make("label", { for: id }, one.name, one.changed ? make("small", {}, " changed") : null), input, make("p", { class: "rk-fieldhelp", id: `${id}h` }, `${one.help} For ${one.where}: ${one.allowed}; default ${one.default || "none"}.`), error);
  };
  const apply = () => {
    const values = {};
    inputs.forEach(({ input, was }, name) => { if (input.value !== was) values[name] = input.value; });
    inputs.forEach(({ input, error }) => { say(error, ""); set(input, "aria-invalid", null); });
    if (!Object.keys(values).length) { say(note, "Nothing was changed."); return; }
    lab.ask({ type: "settings", values }, async (answer) => {
      if (answer.type !== "refused") { drawSettings(lab, opener, await inflate(answer.buffers[0])); return; }
      const at = (answer.keys || []).filter((key) => inputs.has(key)), wanted = at.length ? at : Object.keys(values).slice(0, 1);
      wanted.forEach((key) => { const { input, error } = inputs.get(key); say(error, answer.words); set(input, "aria-invalid", "true"); });
      inputs.get(wanted[0]).input.focus();
      say(note, "Kafka refuses this. The run is unchanged.");
    });
  };
  const go = make("button", { type: "button", class: "rk-primary" }, "Apply from the start of the run");
  go.addEventListener("click", apply);
  const note = make("p", { role: "status", class: "rk-dim" }, changed.length ? `Changed: ${changed.join(", ")}.` : "All at their defaults.");
  lab.drawer.show(opener, make("h2", {}, "Settings"), note, make("div", { class: "rk-field" }, make("span", {}, "Assignor"), assignor), make("div", { class: "rk-field" }, seed, make("div", { class: "rk-bar" }, reseed("New seed", () => Math.floor(Math.random() * 1e6)), reseed("Reset", () => null))),
    ...groups.flatMap((group) => [make("h3", {}, group.group), ...group.fields.map(field)]), make("div", { class: "rk-foot" }, go));
}

// --- more actions, history, files -----------------------------------------------------------------
function showMore(lab, opener) {
  const item = (action) => {
    const node = make("button", { type: "button", class: "rk-item", "data-do": action.do }, make("span", {}, action.words), action.key ? make("kbd", { "aria-hidden": "true" }, action.key) : null);
    node.addEventListener("click", () => { lab.popup.close(true); lab.act(action.do); });
    return node;
  };
  const member = lab.film.members[lab.selected], marked = lab.spotted === null || lab.spotted === undefined ? null : lab.film.partitions[lab.spotted];
  lab.popup.show(opener, marked ? make("p", {}, `${marked} is marked: what is done to a topic is done to its topic.`) : "", make("h2", {}, member ? `Do to ${member.name}` : "Nobody is selected"), ...MORE.filter((one) => one.member).map(item), make("h2", {}, "Do to the group"), ...MORE.filter((one) => !one.member).map(item));
}

function showHistory(lab, opener) {
  const { branches, here, done } = lab.model.get("controls");
  const ticked = new Set([here]);
  const rows = branches.map(([name, parent, from, count], number) => {
    const box = make("input", { type: "checkbox", "aria-label": `Compare ${name}` });
    box.checked = number === here;
    box.addEventListener("input", () => (box.checked ? ticked.add(number) : ticked.delete(number)));
    const go = make("button", { type: "button", class: "rk-item", "aria-current": number === here ? "true" : null }, make("b", {}, name), make("span", {}, `${count} deed${count === 1 ? "" : "s"}${parent < 0 ? "" : `, left ${branches[parent][0]} at ${seconds(from)}`}`));
    go.addEventListener("click", () => { lab.popup.close(true); lab.ask({ type: "branch", number }); });
    const rename = make("button", { type: "button", "aria-label": `Rename ${name}` }, "Rename");
    rename.addEventListener("click", () => {
      const input = make("input", { type: "text", value: name, maxlength: 40, "aria-label": "Name of the branch" });
      go.replaceWith(input);
      input.focus();
      input.addEventListener("keydown", (event) => { if (event.key === "Enter") { lab.popup.close(true); lab.ask({ type: "branch", do: "rename", number, name: input.value }); } });
    });
    const drop = make("button", { type: "button", "aria-label": `Delete ${name}` }, "Delete");
    drop.addEventListener("click", () => { lab.popup.close(true); lab.ask({ type: "branch", do: "delete", number }); });
    return make("div", { class: "rk-branchrow", style: `margin-left:${parent < 0 ? 0 : 18}px` }, box, go, rename, drop);
  });
  const compare = make("button", { type: "button", class: "rk-primary" }, "Compare the ticked");
  compare.addEventListener("click", () => {
    if (ticked.size < 2 || ticked.size > 3) { say(note, "Tick two or three branches."); return; }
    lab.popup.close(true);
    lab.compare([...ticked].sort((a, b) => a - b));
  });
  const note = make("p", { role: "status" }, "");
  lab.popup.show(opener, make("h2", {}, "History"), make("ol", { class: "rk-deeds" }, ...done.map(([at, words]) => make("li", {}, `${seconds(at)} ${words}`))), ...rows, compare, note);
}

const FILES = [["trace", "Trace (JSONL)"], ["scenario", "Scenario (YAML)"], ["report", "Report (HTML)"], ["animation", "Animation (HTML, plays alone)"], ["png", "Picture of this view (PNG)"]];

function showMenu(lab, opener) {
  const item = (words, run) => { const node = make("button", { type: "button", class: "rk-item" }, words); node.addEventListener("click", () => { lab.popup.close(true); run(); }); return node; };
  const theme = make("select", { "aria-label": "Theme" }, ...["auto", "light", "dark", "projector"].map((name) => make("option", { value: name }, name)));
  theme.value = lab.model.get("theme");
  theme.addEventListener("input", () => { lab.model.set("theme", theme.value); lab.model.save_changes(); lab.applyTheme(); });
  const letters = make("input", { type: "checkbox" });
  letters.checked = lab.letters;
  letters.addEventListener("input", () => { lab.letters = letters.checked; });
  const still = make("input", { type: "checkbox" });
  still.checked = lab.still;
  still.addEventListener("input", () => { lab.calm = still.checked; });
  const pills = make("select", { "aria-label": "Messages on the board" }, ...[["all", "all"], ["news", "without quiet heartbeats and commits"], ["none", "none"]].map(([name, words]) => make("option", { value: name }, words)));
  pills.value = lab.pills;
  pills.addEventListener("input", () => { lab.pills = pills.value; });
  lab.popup.show(opener, make("h2", {}, "Export"), ...FILES.filter(([what]) => !lab.alone || what === "png").map(([what, words]) => item(words, () => lab.save(what))), make("h2", {}, "View"), make("label", { class: "rk-check" }, "Theme", theme), make("label", { class: "rk-check" }, "Messages on the board", pills), make("label", { class: "rk-check" }, letters, "single letters are keys"), make("label", { class: "rk-check" }, still, "less motion"), item("History and branches (H)", () => showHistory(lab, opener)), item("Keys (?)", () => lab.toggleHelp()));
}
