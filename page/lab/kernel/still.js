// The picture that stands before a lab in its cell: it is for a notebook without a kernel, so it is hidden while the lab lives.

import { make } from "../../shared/dom.js";

/**
 * A style that hides the pictures of a lab, in JupyterLab with the place they take.
 * @param {string | undefined} mark
 */
export function hidingStill(mark) {
  const picture = `[data-rk-still="${CSS.escape(mark ?? "")}"]`;
  return mark ? make("style", {}, `${picture}, .jp-OutputArea-child:has(${picture}) { display: none; }`) : "";
}
