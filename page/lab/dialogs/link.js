// The link to this moment, in the forms in which it is needed.

import { make, say } from "../../shared/dom.js";
import { copyText } from "../panels/copy.js";
import { save } from "./files.js";

/**
 * Ask the kernel for the link, show it and copy it.
 * @param {import("../lab.js").Lab} lab
 */
export async function showLink(lab) {
  const token = await tokenOf(lab);
  if (!token) return;
  const note = make("p", { role: "status", class: "rk-told" });
  const tell = (/** @type {string} */ words) => say(note, words);
  const cell = `from rebalance_kit import Lab; Lab.from_link("${token}")`;
  lab.popup.show(
    lab.ui.shareButton,
    make("h2", {}, "Share this moment"),
    ...(lab.alone ? [] : [saveRow(lab)]),
    copyRow(tell, "in a notebook", cell, "A whole cell: paste it where the kit is installed, and run it."),
    copyRow(tell, "in a terminal", `rebalance-kit lab ${token}`, "Where the kit is installed."),
    ...(lab.alone ? [] : [copyRow(tell, "address of this page", addressOf(token), whereItWorks())]),
    copyRow(tell, "link", token, `${token.length} characters: scenario, what was done, cursor. No code.`),
    ...(lab.alone ? [] : [openRow(lab, tell)]),
    note,
  );
  copyText(cell, tell, "The cell is copied. Run in a notebook, it opens this moment.");
}

/**
 * The link to the moment that is shown, of the kernel; without one that of the run as it was saved. Empty where it is refused.
 * @param {import("../lab.js").Lab} lab
 * @returns {Promise<string>}
 */
async function tokenOf(lab) {
  if (lab.alone) return lab.model.get("controls").link;
  const answer = await lab.talk.request({ type: "link", at_ms: Math.round(lab.player.at) });
  if (answer.type === "refused") lab.refuse(answer.words);
  return answer.token ?? "";
}

/** @param {string} token */
function addressOf(token) {
  const address = new URL(location.href);
  address.hash = "";
  address.searchParams.set("rebalance-lab", token);
  return address.href;
}

/** Who can open the address of this page. */
function whereItWorks() {
  const { protocol, hostname } = location;
  const here = protocol === "file:" || /^(localhost|127\.|\[?::1)/.test(hostname);
  return here
    ? "On this machine alone, while this server runs: nobody else can open it."
    : `For whoever can open ${hostname}; the first lab of the page shows this moment.`;
}

/** @param {import("../lab.js").Lab} lab */
function saveRow(lab) {
  const button = make("button", { type: "button", class: "rk-primary" }, "Save as one HTML file");
  button.addEventListener("click", () => {
    void save(lab, "animation");
    lab.popup.close(true);
  });
  return make(
    "div",
    { class: "rk-field" },
    make("div", {}, button),
    make("small", {}, "Plays in any browser, offline, with nothing installed. Carries the link."),
  );
}

/**
 * @param {(words: string) => void} tell
 * @param {string} words
 * @param {string} text
 * @param {string} where it works
 */
function copyRow(tell, words, text, where) {
  const field = make("input", { type: "text", readonly: true, value: text, "aria-label": words });
  const copy = make("button", { type: "button", "aria-label": `Copy ${words}` }, "Copy");
  copy.addEventListener("click", () => {
    field.select();
    copyText(text, tell, "Copied.");
  });
  return make(
    "div",
    { class: "rk-field" },
    make("span", {}, words),
    make("div", { class: "rk-bar" }, field, copy),
    make("small", {}, where),
  );
}

/**
 * A field for a link or a whole address; what cannot be opened leaves the run, and the dialog says why.
 * @param {import("../lab.js").Lab} lab
 * @param {(words: string) => void} tell
 */
function openRow(lab, tell) {
  const field = make("input", {
    type: "text",
    "aria-label": "Link to open",
    placeholder: "rk1.… or the whole address",
  });
  const open = make("button", { type: "button" }, "Open");
  open.addEventListener("click", () =>
    lab.ask({ type: "open", token: field.value }, (answer) => {
      if (answer.type === "refused") tell(answer.words);
      else lab.popup.close(true);
    }));
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    open.click();
  });
  return make(
    "div",
    { class: "rk-field" },
    make("span", {}, "Open a link"),
    make("div", { class: "rk-bar" }, field, open),
  );
}
