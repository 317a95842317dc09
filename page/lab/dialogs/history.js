// What was done, and the branches that it left.

import { make, say } from "../../shared/dom.js";
import { seconds } from "../film/times.js";

export function showHistory(lab, opener) {
  const { branches, here, done } = lab.model.get("controls");
  const ticked = new Set([here]);
  const rows = branches.map(([name, parent, from, count], number) => {
    const box = make("input", { type: "checkbox", "aria-label": `Compare ${name}` });
    box.checked = number === here;
    box.addEventListener("input", () => (box.checked ? ticked.add(number) : ticked.delete(number)));
    const go = make(
      "button",
      { type: "button", class: "rk-item", "aria-current": number === here ? "true" : null },
      make("b", {}, name),
      make(
        "span",
        {},
        `${count} deed${count === 1 ? "" : "s"}${
          parent < 0 ? "" : `, left ${branches[parent][0]} at ${seconds(from)}`
        }`,
      ),
    );
    go.addEventListener("click", () => {
      lab.popup.close(true);
      lab.ask({ type: "branch", number });
    });
    const rename = make("button", { type: "button", "aria-label": `Rename ${name}` }, "Rename");
    rename.addEventListener("click", () => {
      const input = make("input", {
        type: "text",
        value: name,
        maxlength: 40,
        "aria-label": "Name of the branch",
      });
      go.replaceWith(input);
      input.focus();
      input.addEventListener("keydown", (event) => {
        if (event.key === "Enter") {
          lab.popup.close(true);
          lab.ask({ type: "branch", do: "rename", number, name: input.value });
        }
      });
    });
    const drop = make("button", { type: "button", "aria-label": `Delete ${name}` }, "Delete");
    drop.addEventListener("click", () => {
      lab.popup.close(true);
      lab.ask({ type: "branch", do: "delete", number });
    });
    return make(
      "div",
      { class: "rk-branchrow", style: `margin-left:${parent < 0 ? 0 : 18}px` },
      box,
      go,
      rename,
      drop,
    );
  });
  const compare = make("button", { type: "button", class: "rk-primary" }, "Compare the ticked");
  compare.addEventListener("click", () => {
    if (ticked.size < 2 || ticked.size > 3) {
      say(note, "Tick two or three branches.");
      return;
    }
    lab.popup.close(true);
    lab.comparison.toggle([...ticked].sort((a, b) => a - b));
  });
  const note = make("p", { role: "status" }, "");
  lab.popup.show(
    opener,
    make("h2", {}, "History"),
    make(
      "ol",
      { class: "rk-deeds" },
      ...done.map(([at, words]) => make("li", {}, `${seconds(at)} ${words}`)),
    ),
    ...rows,
    compare,
    note,
  );
}
