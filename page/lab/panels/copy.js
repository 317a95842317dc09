// Text that goes to the clipboard.

/**
 * @param {string} text
 * @param {import("../lab.js").Lab} lab
 * @param {string} said
 */
export function copyText(text, lab, said) {
  const done = () => lab.tell(said);
  const failed = () => lab.tell("The browser does not allow copying here.");
  if (!navigator.clipboard) {
    failed();
    return;
  }
  navigator.clipboard.writeText(text).then(done, failed);
}
