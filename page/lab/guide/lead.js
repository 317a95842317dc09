// One button is prominent at a time: what a newcomer should press now.

/** @typedef {import("../lab.js").Lab} Lab */

/**
 * The button that leads; null while a drawer has one of its own.
 * @param {Lab} lab
 * @returns {Element | null}
 */
export function leadOf(lab) {
  const { ui, guide, predict, comparison } = lab;
  if (predict.on) return null;
  if (guide.on) return ui.nextButton;
  if (comparison.view) return ui.playButton;
  const { guided, guide: along, alone } = lab.model.get("controls");
  if (alone) return along ? ui.guideButton : ui.playButton;
  return guided ? ui.guideButton : ui.actions[0].node;
}

/** @param {Lab} lab */
export function paintLead(lab) {
  const lead = leadOf(lab);
  const before = lab.ui.root.querySelectorAll(".rk-lead");
  for (const node of before) if (node !== lead) node.classList.remove("rk-lead");
  lead?.classList.add("rk-lead");
}
