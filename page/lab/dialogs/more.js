// The menu of everything that can be done.

import { MORE } from "../acting/actions.js";
import { make } from "../../shared/dom.js";

export function showMore(lab, opener) {
  const item = (action) => {
    const node = make(
      "button",
      { type: "button", class: "rk-item", "data-do": action.do },
      make("span", {}, action.words),
      action.key ? make("kbd", { "aria-hidden": "true" }, action.key) : null,
    );
    node.addEventListener("click", () => {
      lab.popup.close(true);
      lab.act(action.do);
    });
    return node;
  };
  const member = lab.film.members[lab.selected],
    marked = lab.marker.partition === null ? null : lab.film.partitions[lab.marker.partition];
  lab.popup.show(
    opener,
    marked ? make("p", {}, `${marked} is marked: what is done to a topic is done to its topic.`) : "",
    make("h2", {}, member ? `Do to ${member.name}` : "Nobody is selected"),
    ...MORE.filter((one) => one.member).map(item),
    make("h2", {}, "Do to the group"),
    ...MORE.filter((one) => !one.member).map(item),
  );
}
