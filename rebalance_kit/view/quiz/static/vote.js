// Made of page/quiz/vote.js by `make page`; edit there. Sources 8075e263cf28e57a, bundle ee141d17bd35511f.
// shared/dom.js
var SVG = "http://www.w3.org/2000/svg";
function make(tag, attributes = {}, ...children) {
  const node = (
    /** @type {any} */
    tag.startsWith("svg:") ? document.createElementNS(SVG, tag.slice(4)) : document.createElement(tag)
  );
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === void 0 || value === false) continue;
    node.setAttribute(key, value === true ? "" : String(value));
  }
  for (const child of children) {
    if (child !== null && child !== void 0) node.append(child);
  }
  return node;
}

// quiz/parts/page.js
function focusOn(root, ...selectors) {
  const first = selectors.map((selector) => root.querySelector(selector)).find((node) => node !== null);
  (first instanceof HTMLElement ? first : root).focus();
}
function ownKeys(root, pressed) {
  root.addEventListener("keydown", (event) => {
    pressed?.(event);
    if (!event.ctrlKey && !event.metaKey && !event.altKey) event.stopPropagation();
  });
}

// quiz/parts/chart.js
function membersOf(picture) {
  return [
    ...new Set(picture.rows.flatMap((row) => row.spans.map((span) => span[2])))
  ].sort();
}
function strip(picture, row) {
  const members = membersOf(picture);
  const wide = 600;
  const x = (at) => (at - picture.since_ms) / (picture.until_ms - picture.since_ms) * wide;
  const bars = row.spans.flatMap(([from, to, member]) => {
    const place = members.indexOf(member);
    const width = Math.max(x(to) - x(from), 1);
    const bar = make("svg:rect", {
      x: x(from),
      y: 3,
      width,
      height: 18,
      class: `rkq-bar m${place % 6}`
    });
    return width > 80 ? [
      bar,
      make("svg:text", {
        x: x(from) + 4,
        y: 16,
        class: "rkq-bar-name"
      }, member)
    ] : [
      bar
    ];
  });
  const said = row.spans.map(([from, to, member]) => `${member} ${(from / 1e3).toFixed(1)} to ${(to / 1e3).toFixed(1)} s`).join(", ");
  const marks = picture.events.map(([at]) => make("svg:line", {
    x1: x(at),
    x2: x(at),
    y1: 0,
    y2: 24,
    class: "rkq-event"
  }));
  return make("svg:svg", {
    viewBox: `0 0 ${wide} 24`,
    class: "rkq-strip",
    role: "img",
    "aria-label": `${row.name}: ${said || "nobody"}`
  }, ...bars, ...marks);
}
function scale(picture) {
  const events = picture.events.map(([at, what]) => `${at / 1e3} s: ${what}`).join(", ");
  const said = `${picture.since_ms / 1e3} s to ${picture.until_ms / 1e3} s${events ? `; ${events}` : ""}. Bars: records reach that member; gaps: nobody.`;
  return make("p", {
    class: "rkq-scale"
  }, said);
}
function chart(picture) {
  const rows = picture.rows.map((row) => make("div", {
    class: "rkq-row"
  }, make("span", {
    class: "rkq-row-name"
  }, row.name), strip(picture, row)));
  return make("div", {
    class: "rkq-chart"
  }, ...rows, scale(picture));
}

// quiz/parts/prose.js
function prose(text) {
  return text.split("`").map((part, place) => place % 2 ? make("code", {}, part) : document.createTextNode(part));
}
function paragraphs(text) {
  return text.split(/\n\s*\n/).map((block) => make("p", {}, ...prose(block.replace(/\s+/g, " "))));
}
function lines(text) {
  return text.trimEnd().split("\n").map((line) => make("span", {
    class: "rkq-line"
  }, line || " "));
}
var TABLE_COLUMNS = 200;
var IN_COLUMNS = /\S {3,}\S/;
function narrowed(rows) {
  const table = rows.filter((row) => IN_COLUMNS.test(row));
  const width = Math.max(...table.map((row) => row.length));
  const blank = (at) => table.every((row) => (row[at] ?? " ") === " ");
  const kept = Array.from({
    length: width
  }, (_, at) => at).filter((at) => !(blank(at) && blank(at - 1) && blank(at - 2) && at > 1));
  return rows.map((row) => IN_COLUMNS.test(row) ? kept.map((at) => row[at] ?? " ").join("").trimEnd() : row);
}
function exhibit(text) {
  const rows = text.trimEnd().split("\n").map((row) => row.trimEnd());
  const aligned = rows.filter((row) => IN_COLUMNS.test(row)).length > 1;
  const shown = aligned ? narrowed(rows) : rows;
  const columns = Math.max(...shown.map((row) => row.length));
  const table = aligned && columns <= TABLE_COLUMNS;
  const pre = make("pre", {
    tabindex: "0",
    "aria-label": "exhibit",
    class: table ? "rkq-table" : "rkq-wrapped"
  }, ...lines((table ? shown : rows).join("\n")));
  if (table) pre.style.setProperty("--columns", String(columns));
  return pre;
}

// quiz/parts/rows.js
function optionRow(question, option, state) {
  const remark = state.remarks?.find((each) => each.option === option.id);
  const struck = state.struck?.includes(option.id);
  const input = make("input", {
    type: question.many ? "checkbox" : "radio",
    name: "given",
    value: option.id,
    disabled: state.disabled,
    checked: remark ? remark.chosen : state.given.split(" ").includes(option.id)
  });
  const row = question.picture?.rows.find((each) => each.name === option.text);
  const log = question.kind === "log";
  const text = log ? [
    option.text
  ] : prose(option.text);
  const quiet = remark && question.options.length > 6 && !remark.right && !remark.chosen;
  const looks = [
    "rkq-option"
  ];
  if (remark) looks.push(remark.right ? "right" : "wrong");
  if (remark?.chosen) looks.push("chosen");
  if (struck) looks.push("struck");
  const label = make("label", {}, input, make("span", {
    class: "rkq-letter",
    "aria-hidden": "true"
  }, option.id.toUpperCase()), make("span", {
    class: log ? "rkq-text rkq-log" : "rkq-text"
  }, ...text), row && question.picture ? strip(question.picture, row) : null, remark ? make("span", {
    class: "rkq-mark"
  }, markOf(remark)) : null, strikeButton(option, state, !!struck));
  return make("div", {
    class: looks.join(" ")
  }, label, option.picture ? chart(option.picture) : null, remark && !quiet ? make("p", {
    class: "rkq-why"
  }, ...prose(remark.why)) : null);
}
function markOf({ right, chosen }) {
  return `${right ? "\u2713 right" : "\u2717 wrong"}${chosen ? ", your answer" : ""}`;
}
function strikeButton({ id }, { strike }, struck) {
  if (!strike) return null;
  const looks = {
    type: "button",
    class: "rkq-strike",
    "aria-pressed": String(struck)
  };
  const node = make("button", {
    ...looks,
    "aria-label": `strike out ${id}`
  }, struck ? "restore" : "strike");
  node.addEventListener("click", () => strike(id));
  return node;
}
function remarkRows(state) {
  return (state.remarks ?? []).map((remark) => make("div", {
    class: `rkq-option ${remark.right ? "right" : "wrong"}${remark.chosen ? " chosen" : ""}`
  }, make("span", {
    class: "rkq-text"
  }, remark.text), make("span", {
    class: "rkq-mark"
  }, markOf(remark)), make("p", {
    class: "rkq-why"
  }, ...prose(remark.why))));
}
function wordRows(question, state) {
  const number = question.kind === "numeric";
  const label = number ? `Your answer, a number of ${question.unit}` : "Your answer, a word or two";
  const input = make("input", {
    type: "text",
    inputmode: number ? "decimal" : "text",
    name: "given",
    autocomplete: "off",
    value: state.given,
    disabled: state.disabled,
    "aria-label": label
  });
  return [
    make("label", {
      class: number ? "rkq-number" : "rkq-number rkq-word"
    }, input, make("span", {}, question.unit ?? "")),
    ...remarkRows(state)
  ];
}
function placedRows(state) {
  return (state.remarks ?? []).map((remark) => {
    const known = remark.right;
    const says = !known ? remark.chosen ? "\u2717 your answer" : "\u2717 wrong" : remark.chosen ? "\u2713 right" : "\u2717 not so in your answer";
    return make("div", {
      class: `rkq-option ${known && remark.chosen ? "right" : "wrong"}${remark.chosen ? " chosen" : ""}`
    }, make("span", {
      class: "rkq-text"
    }, remark.text), make("span", {
      class: "rkq-mark"
    }, says), make("p", {
      class: "rkq-why"
    }, ...prose(remark.why)));
  });
}
function pairRows(question, state) {
  if (state.remarks) return placedRows(state);
  const given = Object.fromEntries(state.given.split(" ").filter(Boolean).map((pair) => [
    pair.slice(0, -1),
    pair.slice(-1)
  ]));
  return question.prompts.map((prompt) => {
    const choices = question.options.map((option) => make("option", {
      value: option.id,
      selected: given[prompt.id] === option.id
    }, `${option.id}) ${option.text}`));
    const select = make("select", {
      name: "pair",
      "data-prompt": prompt.id,
      disabled: state.disabled
    }, make("option", {
      value: ""
    }, "choose"), ...choices);
    return make("label", {
      class: "rkq-pair"
    }, make("span", {
      class: "rkq-text"
    }, ...prose(prompt.text)), select);
  });
}
function stepRows(question, state) {
  if (state.remarks) return placedRows(state);
  const order = state.given ? state.given.split(" ") : question.steps.map((step) => step.id);
  const list = make("ol", {
    class: "rkq-steps",
    "data-touched": Boolean(state.given)
  });
  const move = (from, to) => {
    if (from && to) from.before(to);
    list.setAttribute("data-touched", "");
    list.dispatchEvent(new Event("change", {
      bubbles: true
    }));
  };
  for (const step of order.flatMap((id) => question.steps.find((each) => each.id === id) ?? [])) {
    const item = make("li", {
      "data-step": step.id
    });
    const button = (word, sign, run) => {
      const looks = {
        type: "button",
        "aria-label": `${word}: ${step.text}`,
        disabled: state.disabled
      };
      const node = make("button", looks, sign);
      node.addEventListener("click", () => {
        run();
        node.focus();
      });
      return node;
    };
    item.append(make("span", {
      class: "rkq-text"
    }, ...prose(step.text)), button("up", "\u2191", () => move(item.previousElementSibling, item)), button("down", "\u2193", () => move(item, item.nextElementSibling)));
    list.append(item);
  }
  return [
    list
  ];
}
function answerRows(question, state) {
  if (question.kind === "matching") return pairRows(question, state);
  if (question.kind === "ordering") return stepRows(question, state);
  if (!question.options) return wordRows(question, state);
  const rows = question.options.map((option) => optionRow(question, option, state));
  return question.picture ? [
    ...rows,
    scale(question.picture)
  ] : rows;
}

// quiz/parts/question.js
function readAnswer(form2, question) {
  if (question.kind === "matching") {
    return [
      ...form2.querySelectorAll("select")
    ].filter((select) => select.value).map((select) => `${select.dataset.prompt}${select.value}`).join(" ");
  }
  if (question.kind === "ordering" && !form2.querySelector("ol[data-touched]")) return "";
  if (question.kind === "ordering") {
    return [
      ...form2.querySelectorAll("li[data-step]")
    ].map((item) => item.getAttribute("data-step")).join(" ");
  }
  return new FormData(form2).getAll("given").join(" ");
}
var ASKS = {
  single: "Choose one",
  multiple: "Choose the number asked for",
  numeric: "Give a number",
  short: "Give a word or two",
  matching: "Choose an option for each",
  ordering: "Put into order",
  log: "Choose the line",
  picture: "Choose one"
};
function questionBody(question, state) {
  return [
    make("div", {
      class: "rkq-stem"
    }, ...paragraphs(question.stem)),
    question.exhibit ? exhibit(question.exhibit) : null,
    make("fieldset", {
      class: "rkq-answers"
    }, make("legend", {}, ASKS[question.kind]), ...answerRows(question, state))
  ];
}
function press(event, form2, done) {
  const target = (
    /** @type {HTMLInputElement} */
    event.target
  );
  if (event.ctrlKey || event.metaKey || event.altKey || target.type === "text" || target.tagName === "SELECT") return;
  const enabled = form2.querySelectorAll(".rkq-answers input:not(:disabled)");
  const inputs = [
    ...enabled
  ];
  const place = inputs.some((input) => input.value === "1") ? -1 : "abcdef".indexOf(event.key.toLowerCase());
  const chosen = inputs[place >= 0 ? place : Number(event.key) - 1];
  if (event.key.length === 1 && chosen && chosen.type !== "text") {
    event.preventDefault();
    chosen.focus();
    chosen.checked = chosen.type === "radio" || !chosen.checked;
    chosen.dispatchEvent(new Event("change", {
      bubbles: true
    }));
  } else if (event.key === "Enter" && !done && target.tagName !== "BUTTON") {
    event.preventDefault();
    form2.requestSubmit();
  }
}

// quiz/vote.js
function ballot(page) {
  if (!page.code) return null;
  const field = make("input", {
    type: "text",
    readonly: true,
    value: page.code,
    class: "rkq-code",
    "aria-label": "your code"
  });
  field.addEventListener("focus", () => field.select());
  const said = make("span", { role: "status" });
  const copy = make("button", { type: "button", class: "rkq-go rkq-quiet", "data-role": "copy" }, "Copy");
  copy.addEventListener("click", async () => {
    field.select();
    try {
      await navigator.clipboard.writeText(page.code);
      said.textContent = "copied";
    } catch {
      said.textContent = "press Ctrl+C";
    }
  });
  const where = page.kept ? "Your vote is in the shared folder. Its code:" : "Send this code to the instructor:";
  return make(
    "div",
    { class: "rkq-ballot" },
    make(
      "p",
      {},
      `${page.again ? "Vote after the discussion" : "First vote"} taken: ${page.given.toUpperCase()}. ${where}`
    ),
    make("div", { class: "rkq-foot" }, field, copy, said)
  );
}
function form(page, again, send) {
  const state = { given: page.given, disabled: false };
  const rounds = [false, true].map(
    (value) => make(
      "label",
      {},
      make("input", { type: "radio", name: "round", value: String(value), checked: again === value }),
      value ? "after the discussion" : "first vote"
    )
  );
  const made = make(
    "form",
    { "aria-label": "Your vote" },
    make(
      "h3",
      { tabindex: "-1" },
      "Your vote",
      make("small", {}, "nobody sees the split before the instructor shows it")
    ),
    ...questionBody(page.question, state),
    make("fieldset", { class: "rkq-confidence" }, make("legend", {}, "Which vote?"), ...rounds),
    make(
      "div",
      { class: "rkq-foot" },
      make("button", { type: "submit", class: "rkq-go" }, "Vote"),
      make("output", { class: page.error ? "error" : "" }, page.error)
    ),
    ballot(page)
  );
  made.addEventListener("submit", (event) => {
    event.preventDefault();
    const chosen = new FormData(made);
    send({ do: "vote", given: readAnswer(made, page.question), again: chosen.get("round") === "true" });
  });
  return made;
}
function render({ model, el }) {
  const root = make("section", { class: "rkq", "aria-label": "Vote" });
  el.append(root);
  let made;
  let sent = false;
  const send = (message) => {
    sent = true;
    model.send(message);
  };
  const draw = () => {
    const page = model.get("page");
    made = form(page, page.again || Boolean(page.code), send);
    root.replaceChildren(made);
    if (sent) focusOn(root, page.error ? "input" : ".rkq-code");
    sent = false;
  };
  ownKeys(root, (event) => press(event, made, false));
  model.on("change:page", draw);
  draw();
  return () => model.off("change:page", draw);
}
var vote_default = { render };
export {
  vote_default as default
};
