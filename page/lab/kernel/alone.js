// A page of its own: runs stand in the page as JSON, and there is no kernel.

import { bytesOf, PageModel } from "../../shared/model.js";

/** @typedef {HTMLElement & { rebalanceLab?: { onKey: (event: KeyboardEvent) => void } }} Place */

/**
 * Play the runs that stand in this page, each in its place.
 * @param {(options: { model: PageModel, el: HTMLElement & { rebalanceLab?: any } }) => void} render
 */
export function playAlone(render) {
  const played = [...document.querySelectorAll("script[data-rebalance-run]")].flatMap((island) => {
    const el = /** @type {Place | null} */ (
      document.getElementById(island.getAttribute("data-rebalance-run") || "rebalance-lab")
    );
    if (!el) return [];
    const state = JSON.parse(island.textContent ?? "");
    island.remove();
    render({ model: new PageModel({ ...state, film: bytesOf(state.film) }), el });
    return [el];
  });
  if (played.length !== 1) return;
  // The page is the lab: keys that no other part of the page has belong to it from the start.
  document.addEventListener("keydown", (event) => {
    if (event.target === document.body) played[0].rebalanceLab?.onKey(event);
  });
}
