// The link to this moment, in the forms in which it is needed.

import { make, say } from "../../shared/dom.js";
import { copyText } from "../panels/copy.js";

/**
 * Ask the kernel for the link, show it and copy it.
 * @param {import("../lab.js").Lab} lab
 */
export async function showLink(lab) {
  const answer = await lab.talk.request({ type: "link", at_ms: Math.round(lab.player.at) });
  if (answer.type === "refused") {
    lab.refuse(answer.words);
    return;
  }
  const { token } = answer;
  const address = new URL(location.href);
  address.hash = "";
  address.searchParams.set("rebalance-lab", token);
  const note = make("p", { role: "status", class: "rk-told" });
  const tell = (/** @type {string} */ words) => say(note, words);
  lab.popup.show(
    lab.ui.shareButton,
    make("h2", {}, "Link to this moment"),
    make("p", {}, `${token.length} characters: scenario, what was done, cursor. No code.`),
    copyRow(tell, "link", token),
    copyRow(tell, "in a notebook", `Lab.from_link("${token}")`),
    copyRow(tell, "in a terminal", `rebalance-kit lab ${token}`),
    copyRow(tell, "address of this page", address.href),
    openRow(lab, tell),
    note,
  );
  copyText(address.href, tell, "The address is copied. It opens this moment in the first lab of the page.");
}

/**
 * @param {(words: string) => void} tell
 * @param {string} words
 * @param {string} text
 */
function copyRow(tell, words, text) {
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
