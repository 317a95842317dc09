// Text that goes to the clipboard.

export function copyText(text, lab, said) {
  const done = () => lab.tell(said);
  const failed = () => lab.tell("The browser does not allow copying here.");
  if (!navigator.clipboard) {
    failed();
    return;
  }
  navigator.clipboard.writeText(text).then(done, failed);
}
