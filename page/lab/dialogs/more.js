// The menu of everything that can be done.

import { make } from "../../shared/dom.js";
import { MORE } from "../acting/actions.js";
import { menuItem } from "./items.js";

/**
 * @param {import("../lab.js").Lab} lab
 * @param {HTMLElement} opener
 */
export function showMore(lab, opener) {
  const items = (/** @type {boolean} */ ofMember) =>
    MORE.filter((action) => !!action.member === ofMember).map((action) => {
      const key = action.key ? make("kbd", { "aria-hidden": "true" }, action.key) : null;
      const content = [make("span", {}, action.words), key];
      return menuItem(lab, content, () => lab.act(action.do), { "data-do": action.do });
    });
  const member = lab.film.members[lab.selected];
  const { partition } = lab.marker;
  const marked = partition === null ? "" : lab.film.partitions[partition];
  const note = make("p", {}, `${marked} is marked: what is done to a topic is done to its topic.`);
  lab.popup.show(
    opener,
    marked ? note : "",
    make("h2", {}, member ? `Do to ${member.name}` : "Nobody is selected"),
    ...items(true),
    make("h2", {}, "Do to the group"),
    ...items(false),
  );
}
