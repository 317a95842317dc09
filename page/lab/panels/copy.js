// Text that goes to the clipboard.

/**
 * @param {string} text
 * @param {(words: string) => void} tell
 * @param {string} said
 */
export function copyText(text, tell, said) {
  const done = () => tell(said);
  const failed = () => tell("The browser does not allow copying here.");
  if (!navigator.clipboard) {
    failed();
    return;
  }
  navigator.clipboard.writeText(text).then(done, failed);
}
