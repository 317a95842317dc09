// The lessons, with a search and a mark on those that were seen.

import { make } from "../../shared/dom.js";
import { inflate } from "../film/format.js";

export async function showPresets(lab, opener) {
  if (!lab.presets) {
    const answer = await lab.talk.request({ type: "presets" });
    lab.presets = await inflate(answer.buffers[0]);
  }
  const search = make("input", {
    type: "search",
    placeholder: "search lessons",
    "aria-label": "Search lessons",
    autofocus: true,
  });
  const list = make("div", { class: "rk-presetlist" });
  const seen = new Set(remembered("rk-seen", []));
  const fill = () => {
    const wanted = search.value.toLowerCase();
    const shown = lab.presets.filter((one) =>
      !wanted ||
      `${one.title} ${one.try} ${one.watch} ${one.group} ${one.name}`.toLowerCase().includes(wanted)
    );
    let group = "";
    list.replaceChildren(
      ...shown.flatMap((one) => {
        const head = one.group === group ? [] : [make("h3", {}, one.group)];
        group = one.group;
        const here = one.name === lab.model.get("controls").preset;
        const node = make(
          "button",
          {
            type: "button",
            class: "rk-item rk-preset",
            "aria-current": here ? "true" : null,
            "data-preset": one.name,
          },
          make(
            "b",
            {},
            `${lab.presets.indexOf(one) + 1}  ${one.title}`,
            seen.has(one.name) ? make("small", {}, " ✓ seen") : null,
          ),
          make("span", {}, `Try: ${one.try} Watch: ${one.watch}.`),
        );
        node.addEventListener("click", () => {
          remember("rk-seen", [...seen, one.name]);
          lab.popup.close(true);
          lab.ask({ type: "preset", name: one.name });
        });
        return [...head, node];
      }),
      shown.length ? "" : make("p", {}, "No lesson has these words."),
    );
  };
  const surprise = make("button", { type: "button" }, "Surprise me");
  surprise.addEventListener("click", () => {
    const unseen = lab.presets.filter((one) => !seen.has(one.name));
    const from = unseen.length ? unseen : lab.presets;
    list.querySelector(`[data-preset="${from[Math.floor(Math.random() * from.length)].name}"]`).click();
  });
  search.addEventListener("input", fill);
  fill();
  lab.popup.show(opener, make("h2", {}, "Lessons"), make("div", { class: "rk-bar" }, search, surprise), list);
}

function remembered(key, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(key)) || otherwise;
  } catch {
    return otherwise;
  }
}

function remember(key, value) {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch { /* a page without storage forgets */ }
}
