// A page of its own: the run stands in the page as JSON, and there is no kernel.

import { bytesOf, PageModel } from "../../shared/model.js";

/**
 * Play the run that stands in this page, if one does.
 * @param {(options: { model: PageModel, el: HTMLElement & { rebalanceLab?: any } }) => void} render
 */
export function playAlone(render) {
  const island = document.querySelector("script[data-rebalance-run]");
  const el =
    /** @type {(HTMLElement & { rebalanceLab?: { onKey: (event: KeyboardEvent) => void } }) | null} */ (
      document.getElementById("rebalance-lab")
    );
  if (!island || !el) return;
  const state = JSON.parse(island.textContent ?? "");
  island.remove();
  render({ model: new PageModel({ ...state, film: bytesOf(state.film) }), el });
  // The page is the lab: keys that no other part of the page has belong to it from the start.
  document.addEventListener("keydown", (event) => {
    if (event.target === document.body) el.rebalanceLab?.onKey(event);
  });
}
