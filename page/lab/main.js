// The lab as a widget: what anywidget loads, and what a page of its own plays.

import { bytesOf, PageModel } from "../shared/model.js";
import { boardAt } from "./film/board.js";
import { readFilm } from "./film/format.js";
import { playAlone } from "./kernel/alone.js";
import { hidingStill } from "./kernel/still.js";
import { Lab } from "./lab.js";
import { twinText } from "./words/twin.js";

/** @param {{ model: import("../shared/model.js").Model, el: HTMLElement & { rebalanceLab?: Lab } }} options */
function render({ model, el }) {
  const lab = new Lab(model, el);
  el.rebalanceLab = lab;
  el.append(hidingStill(model.get("still")));
  return () => lab.close();
}

playAlone(render);

export { boardAt, bytesOf, PageModel, readFilm, twinText };
export default { render };
