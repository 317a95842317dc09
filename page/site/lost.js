// A host shows its page of lost addresses at any depth, so that this page looks for the site's root: the nearest folder above that has it.

async function home() {
  const parts = location.pathname.split("/").slice(0, -1);
  for (; parts.length; parts.pop()) {
    const folder = `${parts.join("/")}/`;
    const answer = await fetch(`${folder}embed.js`, { method: "HEAD" }).catch(() => null);
    if (answer?.ok) return folder;
  }
  return "/";
}

home().then((folder) => {
  const links = /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll("a[data-path]"));
  for (const link of links) link.href = folder + link.dataset.path;
  document.querySelector("ul")?.removeAttribute("hidden");
});
