// A link in the address of the page.

/** Every widget loads its own copy of this module, so what the page has opened stands on the page. */
const page = /** @type {{ rebalanceLinkOpened?: string }} */ (globalThis);

/** The link that the page's address holds, once per page; null where there is none. */
export function linkOfAddress() {
  const came = performance.getEntriesByType("navigation")[0]; // JupyterLab takes its address over and drops what it does not know
  const places = [location.href, came ? came.name : ""].filter(Boolean).map((text) => new URL(text));
  const token = places.map(tokenOf).find(Boolean);
  if (!token || page.rebalanceLinkOpened === token) return null;
  page.rebalanceLinkOpened = token;
  return token;
}

/** The lab that opened the link is gone: the next one, as after running its cell again, opens it anew. */
export function forgetAddress() {
  delete page.rebalanceLinkOpened;
}

/** @param {URL} address */
function tokenOf({ searchParams, hash }) {
  const name = "rebalance-lab";
  return searchParams.get(name) || new URLSearchParams(hash.slice(1)).get(name);
}
