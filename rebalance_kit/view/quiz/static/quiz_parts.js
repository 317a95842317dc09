// What quiz and exam share: a question drawn from what the kernel sent, and the answer read from it. No key is
// known here. Text is set as text only, never as HTML.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child != null));
  return element;
}

const make = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const shape = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

// `code` between backticks becomes <code>; everything else stays text.
function prose(text) {
  return text.split("`").map((part, place) => (place % 2 ? make("code", {}, part) : document.createTextNode(part)));
}

function paragraphs(text) {
  return text.split(/\n\s*\n/).map((block) => make("p", {}, ...prose(block.replace(/\s+/g, " "))));
}

// One block a line, so that a long line of a log wraps under itself.
function lines(text) {
  return text.trimEnd().split("\n").map((line) => make("span", { class: "rkq-line" }, line || " "));
}

// --- Gantt charts ---------------------------------------------------------------------------
function membersOf(picture) {
  return [...new Set(picture.rows.flatMap((row) => row.spans.map((span) => span[2])))].sort();
}

function strip(picture, row) {
  const members = membersOf(picture);
  const wide = 600;
  const x = (at) => ((at - picture.since_ms) / (picture.until_ms - picture.since_ms)) * wide;
  const bars = row.spans.flatMap(([from, to, member]) => {
    const place = members.indexOf(member);
    const width = Math.max(x(to) - x(from), 1);
    const bar = shape("rect", { x: x(from), y: 3, width, height: 18, class: `rkq-bar m${place % 6}` });
    return width > 80 ? [bar, shape("text", { x: x(from) + 4, y: 16, class: "rkq-bar-name" }, member)] : [bar];
  });
  const said = row.spans.map(([from, to, member]) => `${member} ${(from / 1000).toFixed(1)} to ${(to / 1000).toFixed(1)} s`).join(", ");
  const marks = picture.events.map(([at]) => shape("line", { x1: x(at), x2: x(at), y1: 0, y2: 24, class: "rkq-event" }));
  return shape("svg", { viewBox: `0 0 ${wide} 24`, class: "rkq-strip", role: "img", "aria-label": `${row.name}: ${said || "nobody"}` }, ...bars, ...marks);
}

function scale(picture) {
  const events = picture.events.map(([at, what]) => `${at / 1000} s: ${what}`).join(", ");
  const said = `${picture.since_ms / 1000} s to ${picture.until_ms / 1000} s${events ? `; ${events}` : ""}. Bars: records reach that member; gaps: nobody.`;
  return make("p", { class: "rkq-scale" }, said);
}

function chart(picture) {
  const rows = picture.rows.map((row) => make("div", { class: "rkq-row" }, make("span", { class: "rkq-row-name" }, row.name), strip(picture, row)));
  return make("div", { class: "rkq-chart" }, ...rows, scale(picture));
}

// --- answers --------------------------------------------------------------------------------
// state: { remarks, given, disabled, struck, strike } where remarks come with a verdict only.
function optionRow(question, option, state) {
  const remark = state.remarks?.find((one) => one.option === option.id);
  const stroke = state.struck?.includes(option.id);
  const chosen = remark ? remark.chosen : state.given.split(" ").includes(option.id);
  const input = make("input", { type: question.many ? "checkbox" : "radio", name: "given", value: option.id, disabled: state.disabled, checked: chosen });
  const says = remark ? [remark.right ? "✓ right" : "✗ wrong", remark.chosen ? "your answer" : null].filter(Boolean).join(", ") : null;
  const row = question.picture?.rows.find((one) => one.name === option.text);
  const text = make("span", { class: question.kind === "log" ? "rkq-text rkq-log" : "rkq-text" }, ...(question.kind === "log" ? [option.text] : prose(option.text)));
  const strike = state.strike
    ? make("button", { type: "button", class: "rkq-strike", "aria-pressed": String(Boolean(stroke)), "aria-label": `strike out ${option.id}` }, stroke ? "restore" : "strike")
    : null;
  strike?.addEventListener("click", () => state.strike(option.id));
  const marked = remark ? (remark.right ? "right" : "wrong") : "";
  const quiet = remark && question.options.length > 6 && !remark.right && !remark.chosen;
  return make(
    "div",
    { class: ["rkq-option", marked, remark?.chosen ? "chosen" : "", stroke ? "struck" : ""].filter(Boolean).join(" ") },
    make(
      "label",
      {},
      input,
      make("span", { class: "rkq-letter", "aria-hidden": "true" }, option.id.toUpperCase()),
      text,
      row ? strip(question.picture, row) : null,
      says ? make("span", { class: "rkq-mark" }, says) : null,
      strike,
    ),
    option.picture ? chart(option.picture) : null,
    remark && !quiet ? make("p", { class: "rkq-why" }, ...prose(remark.why)) : null,
  );
}

function remarkRows(state) {
  return (state.remarks ?? []).map((remark) =>
    make(
      "div",
      { class: `rkq-option ${remark.right ? "right" : "wrong"}${remark.chosen ? " chosen" : ""}` },
      make("span", { class: "rkq-text" }, remark.text),
      make("span", { class: "rkq-mark" }, `${remark.right ? "✓ right" : "✗ wrong"}${remark.chosen ? ", your answer" : ""}`),
      make("p", { class: "rkq-why" }, ...prose(remark.why)),
    ),
  );
}

function wordRows(question, state) {
  const number = question.kind === "numeric";
  const label = number ? `Your answer, a number of ${question.unit}` : "Your answer, a word or two";
  const input = make("input", { type: "text", inputmode: number ? "decimal" : "text", name: "given", autocomplete: "off", value: state.given, disabled: state.disabled, "aria-label": label });
  return [make("label", { class: number ? "rkq-number" : "rkq-number rkq-word" }, input, make("span", {}, question.unit ?? "")), ...remarkRows(state)];
}

// A remark of a pair or a step says what is right there, and whether the answer was.
function placedRows(state) {
  return (state.remarks ?? []).map((remark) => {
    const known = remark.right;
    const says = !known ? (remark.chosen ? "✗ your answer" : "✗ wrong") : remark.chosen ? "✓ right" : "✗ not so in your answer";
    return make(
      "div",
      { class: `rkq-option ${known && remark.chosen ? "right" : "wrong"}${remark.chosen ? " chosen" : ""}` },
      make("span", { class: "rkq-text" }, remark.text),
      make("span", { class: "rkq-mark" }, says),
      make("p", { class: "rkq-why" }, ...prose(remark.why)),
    );
  });
}

function pairRows(question, state) {
  if (state.remarks) return placedRows(state);
  const given = Object.fromEntries(state.given.split(" ").filter(Boolean).map((pair) => [pair.slice(0, -1), pair.slice(-1)]));
  return question.prompts.map((prompt) => {
    const choices = question.options.map((option) => make("option", { value: option.id, selected: given[prompt.id] === option.id }, `${option.id}) ${option.text}`));
    const select = make("select", { name: "pair", "data-prompt": prompt.id, disabled: state.disabled }, make("option", { value: "" }, "choose"), ...choices);
    return make("label", { class: "rkq-pair" }, make("span", { class: "rkq-text" }, ...prose(prompt.text)), select);
  });
}

function stepRows(question, state) {
  if (state.remarks) return placedRows(state);
  const order = state.given ? state.given.split(" ") : question.steps.map((step) => step.id);
  const list = make("ol", { class: "rkq-steps", "data-touched": Boolean(state.given) });
  for (const id of order) {
    const step = question.steps.find((one) => one.id === id);
    const buttons = [["up", "↑", -1], ["down", "↓", 1]].map(([word, sign, by]) => {
      const button = make("button", { type: "button", "aria-label": `${word}: ${step.text}`, disabled: state.disabled }, sign);
      button.addEventListener("click", () => {
        const item = button.closest("li");
        const other = by < 0 ? item.previousElementSibling : item.nextElementSibling;
        if (other) by < 0 ? other.before(item) : other.after(item);
        list.setAttribute("data-touched", "");
        button.focus();
        list.dispatchEvent(new Event("change", { bubbles: true }));
      });
      return button;
    });
    list.append(make("li", { "data-step": id }, make("span", { class: "rkq-text" }, ...prose(step.text)), ...buttons));
  }
  return [list];
}

function answerRows(question, state) {
  if (question.kind === "matching") return pairRows(question, state);
  if (question.kind === "ordering") return stepRows(question, state);
  if (!question.options) return wordRows(question, state);
  const rows = question.options.map((option) => optionRow(question, option, state));
  return question.picture ? [...rows, scale(question.picture)] : rows;
}

function readAnswer(form, question) {
  if (question.kind === "matching") {
    return [...form.querySelectorAll("select[data-prompt]")].filter((one) => one.value).map((one) => one.dataset.prompt + one.value).join(" ");
  }
  // Steps that nobody has moved are no answer; the order in which they are shown is not the right one.
  if (question.kind === "ordering" && !form.querySelector("ol[data-touched]")) return "";
  if (question.kind === "ordering") return [...form.querySelectorAll("li[data-step]")].map((one) => one.dataset.step).join(" ");
  return new FormData(form).getAll("given").join(" ");
}

const ASKS = {
  single: "Choose one",
  multiple: "Choose the number asked for",
  numeric: "Give a number",
  short: "Give a word or two",
  matching: "Choose an option for each",
  ordering: "Put into order",
  log: "Choose the line",
  picture: "Choose one",
};

function questionBody(question, state) {
  return [
    make("div", { class: "rkq-stem" }, ...paragraphs(question.stem)),
    question.exhibit ? make("pre", { tabindex: "0", "aria-label": "exhibit" }, ...lines(question.exhibit)) : null,
    make("fieldset", { class: "rkq-answers" }, make("legend", {}, ASKS[question.kind]), ...answerRows(question, state)),
  ];
}

// A letter or a number chooses its option, Enter answers; text fields, lists and buttons keep their keys.
function press(event, form, question, done) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.type === "text" || event.target.tagName === "SELECT") return;
  const inputs = [...form.querySelectorAll(".rkq-answers input:not(:disabled)")];
  const place = inputs.some((one) => one.value === "1") ? -1 : "abcdef".indexOf(event.key.toLowerCase());
  const chosen = inputs[place >= 0 ? place : Number(event.key) - 1];
  if (event.key.length === 1 && chosen && chosen.type !== "text") {
    event.preventDefault();
    chosen.focus();
    chosen.checked = chosen.type === "radio" ? true : !chosen.checked;
    chosen.dispatchEvent(new Event("change", { bubbles: true }));
  } else if (event.key === "Enter" && !done && event.target.tagName !== "BUTTON") {
    event.preventDefault();
    form.requestSubmit();
  }
}

// --- the runs behind an answer ------------------------------------------------------------------
function replayButtons(names, send) {
  if (!names?.length) return null;
  const buttons = names.map((name, run) => {
    const button = make("button", { type: "button", class: "rkq-go rkq-quiet", "data-role": "lab" }, `Open in the lab: ${name}`);
    button.addEventListener("click", () => send({ do: "lab", run }));
    return button;
  });
  return make("div", { class: "rkq-foot rkq-replays" }, make("span", {}, names.length > 1 ? "The runs that decide it:" : "The run that decides it:"), ...buttons);
}

// The lab is a widget of its own, shown below the question.
async function showLab(model, slot) {
  const named = model.get("lab");
  slot.replaceChildren();
  if (!named || !model.widget_manager) return;
  const child = await model.widget_manager.get_model(named.replace("IPY_MODEL_", ""));
  const view = await model.widget_manager.create_view(child);
  slot.append(view.el);
  slot.scrollIntoView({ block: "nearest" });
}

// Plain keys are the quiz's own: JupyterLab takes any that comes through as a command of the notebook ("a" puts a cell
// above), be the focus on a list or a radio button.
function ownKeys(root, pressed) {
  root.addEventListener("keydown", (event) => {
    pressed?.(event);
    if (!event.ctrlKey && !event.metaKey && !event.altKey) event.stopPropagation();
  });
}

// Draw now and at each change of the page, show the lab that is asked for; what is returned ends it.
function follow(model, slot, draw, ended) {
  const labs = () => showLab(model, slot);
  model.on("change:page", draw);
  model.on("change:lab", labs);
  draw();
  labs();
  return () => {
    ended?.();
    model.off("change:page", draw);
    model.off("change:lab", labs);
  };
}
