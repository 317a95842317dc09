// The quiz on a page: draws what the kernel sends, sends back what was chosen. It knows no key: right and
// wrong arrive with the verdict, after the answer. Text is set as text only, never as HTML.

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child != null));
  return element;
}

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

function remarkOf(verdict, id) {
  return verdict?.remarks.find((remark) => remark.option === id);
}

function optionRow(option, page, name) {
  const many = page.question.kind === "multiple";
  const remark = remarkOf(page.verdict, option.id);
  const state = remark ? (remark.right ? "right" : "wrong") : "";
  const input = make("input", {
    type: many ? "checkbox" : "radio",
    name,
    value: option.id,
    disabled: Boolean(remark),
    checked: Boolean(remark?.chosen),
  });
  const says = remark ? [remark.right ? "✓ right" : "✗ wrong", remark.chosen ? "your answer" : null].filter(Boolean).join(", ") : null;
  return make(
    "div",
    { class: `rkq-option ${state}${remark?.chosen ? " chosen" : ""}` },
    make(
      "label",
      {},
      input,
      make("span", { class: "rkq-letter", "aria-hidden": "true" }, option.id.toUpperCase()),
      make("span", { class: "rkq-text" }, ...prose(option.text)),
      says ? make("span", { class: "rkq-mark" }, says) : null,
    ),
    remark ? make("p", { class: "rkq-why" }, ...prose(remark.why)) : null,
  );
}

function numberRows(page, name) {
  const remarks = page.verdict ? page.verdict.remarks : [];
  const input = make("input", {
    type: "text",
    inputmode: "decimal",
    name,
    autocomplete: "off",
    value: page.verdict ? page.verdict.given[0] : "",
    disabled: Boolean(page.verdict),
    "aria-label": `Your answer, a number of ${page.question.unit}`,
  });
  const rows = remarks.map((remark) =>
    make(
      "div",
      { class: `rkq-option ${remark.right ? "right" : "wrong"}${remark.chosen ? " chosen" : ""}` },
      make("span", { class: "rkq-text" }, remark.text),
      make("span", { class: "rkq-mark" }, `${remark.right ? "✓ right" : "✗ wrong"}${remark.chosen ? ", your answer" : ""}`),
      make("p", { class: "rkq-why" }, ...prose(remark.why)),
    ),
  );
  return [make("label", { class: "rkq-number" }, input, make("span", {}, page.question.unit)), ...rows];
}

function outcome(page) {
  if (page.error) return page.error;
  if (!page.verdict) return "";
  const score = `${page.right} right of ${page.answered} answered.`;
  return page.verdict.right ? `Right. ${score}` : `Not right; the answer is ${page.verdict.key.join(", ")}. ${score}`;
}

function given(form, page) {
  const held = new FormData(form).getAll("given");
  return page.question.kind === "numeric" ? (held[0] ?? "") : held.join(" ");
}

const ASKS = { single: "Choose one", multiple: "Choose the number asked for", numeric: "Give a number" };

function build(page, send) {
  const answered = Boolean(page.verdict);
  const rows = page.question.options ? page.question.options.map((option) => optionRow(option, page, "given")) : numberRows(page, "given");
  const button = answered
    ? page.last
      ? null
      : make("button", { type: "button", class: "rkq-go", "data-role": "next" }, "Next question")
    : make("button", { type: "submit", class: "rkq-go" }, "Answer");
  const form = make(
    "form",
    { "aria-label": `Question ${page.number} of ${page.of}` },
    make("h3", { tabindex: "-1" }, `Question ${page.number} of ${page.of}`, make("small", {}, page.title)),
    make("div", { class: "rkq-stem" }, ...paragraphs(page.question.stem)),
    page.question.exhibit ? make("pre", { tabindex: "0", "aria-label": "exhibit" }, ...lines(page.question.exhibit)) : null,
    make("fieldset", {}, make("legend", {}, ASKS[page.question.kind]), ...rows),
    make("div", { class: "rkq-foot" }, button, make("output", { class: page.error ? "error" : "" }, outcome(page))),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!answered) send({ do: "answer", given: given(form, page) });
  });
  form.querySelector("[data-role=next]")?.addEventListener("click", () => send({ do: "next" }));
  return form;
}

// A letter or a number chooses its option, Enter answers; text fields keep their keys.
function press(event, form, page) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.type === "text") return;
  const inputs = [...form.querySelectorAll("fieldset input:not(:disabled)")];
  const place = "abcdef".indexOf(event.key.toLowerCase());
  const chosen = inputs[place >= 0 ? place : Number(event.key) - 1];
  if (event.key.length === 1 && chosen && chosen.type !== "text") {
    event.preventDefault();
    chosen.focus();
    chosen.checked = chosen.type === "radio" ? true : !chosen.checked;
  } else if (event.key === "Enter" && !page.verdict && event.target.tagName !== "BUTTON") {
    event.preventDefault();
    form.requestSubmit();
  }
}

function render({ model, el }) {
  // JupyterLab takes single keys as its commands unless the element says that it wants them.
  const root = make("section", { class: "rkq", "data-lm-suppress-shortcuts": "true", "aria-label": "Quiz" });
  el.append(root);
  let sent = false;
  let form;
  const send = (message) => {
    sent = true;
    model.send(message);
  };
  const draw = () => {
    const page = model.get("page");
    form = build(page, send);
    root.replaceChildren(form);
    if (!sent) return;
    sent = false;
    (page.verdict ? (form.querySelector("[data-role=next]") ?? form.querySelector("h3")) : form.querySelector(page.error ? "input" : "h3")).focus();
  };
  const keys = (event) => press(event, form, model.get("page"));
  root.addEventListener("keydown", keys);
  model.on("change:page", draw);
  draw();
  return () => model.off("change:page", draw);
}

export default { render };
