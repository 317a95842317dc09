// <rebalance-lab lesson="two-consumers-crash" protocol="cooperative"></rebalance-lab> in a page of somebody else's.

// A plain script: a module of another host would have to be allowed by its server.
const HOME = new URL(".", /** @type {HTMLScriptElement} */ (document.currentScript).src);

/** A frame with the lab of this site; `lesson`, `protocol`, `theme` and `link` (a token of the lab) say what it opens. */
class RebalanceLab extends HTMLElement {
  connectedCallback() {
    const address = new URL("embed.html", HOME);
    for (const name of ["lesson", "protocol", "theme"]) {
      const value = this.getAttribute(name);
      if (value) address.searchParams.set(name, value);
    }
    const link = this.getAttribute("link");
    if (link) address.searchParams.set("rebalance-lab", link);
    const frame = document.createElement("iframe");
    frame.src = address.href;
    frame.title = "A Kafka consumer group that you can crash";
    frame.loading = "lazy";
    frame.style.cssText = "width: 100%; height: 720px; border: 0; display: block;";
    this.replaceChildren(frame);
  }
}

customElements.define("rebalance-lab", RebalanceLab);
