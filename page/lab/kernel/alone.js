// A page of its own: the run stands in the page as JSON, and there is no kernel.

import { bytesOf, PageModel } from "../../shared/model.js";

/**
 * Play the run that stands in this page, if one does.
 * @param {(options: { model: PageModel, el: HTMLElement }) => void} render
 */
export function playAlone(render) {
  const island = document.querySelector("script[data-rebalance-run]");
  const el = document.getElementById("rebalance-lab");
  if (!island || !el) return;
  const state = JSON.parse(island.textContent ?? "");
  island.remove();
  render({ model: new PageModel({ ...state, film: bytesOf(state.film) }), el });
}
