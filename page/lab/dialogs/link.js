// The link to this moment, in the forms in which it is needed.

import { make } from "../../shared/dom.js";
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
  lab.popup.show(
    lab.ui.shareButton,
    make("h2", {}, "Link to this moment"),
    make("p", {}, `${token.length} characters: scenario, what was done, cursor. No code.`),
    copyRow(lab, "link", token),
    copyRow(lab, "in a notebook", `Lab.from_link("${token}")`),
    copyRow(lab, "in a terminal", `rebalance-kit lab ${token}`),
    copyRow(lab, "address of this page", address.href),
    openRow(lab),
  );
  copyText(address.href, lab, "The address is copied. It opens this moment in the first lab of the page.");
}

/**
 * @param {import("../lab.js").Lab} lab
 * @param {string} words
 * @param {string} text
 */
function copyRow(lab, words, text) {
  const field = make("input", { type: "text", readonly: true, value: text, "aria-label": words });
  const copy = make("button", { type: "button", "aria-label": `Copy ${words}` }, "Copy");
  copy.addEventListener("click", () => {
    field.select();
    copyText(text, lab, "Copied.");
  });
  return make(
    "div",
    { class: "rk-field" },
    make("span", {}, words),
    make("div", { class: "rk-bar" }, field, copy),
  );
}

/** @param {import("../lab.js").Lab} lab */
function openRow(lab) {
  const field = make("input", { type: "text", "aria-label": "Link to open", placeholder: "rk1.…" });
  const open = make("button", { type: "button" }, "Open");
  open.addEventListener("click", () => {
    lab.popup.close(true);
    lab.ask({ type: "open", token: field.value });
  });
  return make(
    "div",
    { class: "rk-field" },
    make("span", {}, "Open a link"),
    make("div", { class: "rk-bar" }, field, open),
  );
}
