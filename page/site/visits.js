// The site is kept in the browser; a newer one that has come is offered, and taken when somebody says so.

import { make } from "../shared/dom.js";

/** Keep the site for visits without a network. A tab goes on with the version that it began with until its reader takes the new one. */
export function keepOffline() {
  if (!("serviceWorker" in navigator)) return;
  navigator.serviceWorker.register("offline.js", { updateViaCache: "none" }).then((kept) => {
    const look = () => {
      if (kept.waiting && navigator.serviceWorker.controller) offer(kept.waiting);
    };
    look();
    kept.addEventListener("updatefound", () => kept.installing?.addEventListener("statechange", look));
  }, () => {});
}

/** @param {ServiceWorker} waiting */
function offer(waiting) {
  if (document.querySelector(".site-newer")) return;
  const button = make("button", { type: "button" }, "Load it");
  button.addEventListener("click", () => {
    navigator.serviceWorker.addEventListener("controllerchange", () => location.reload());
    waiting.postMessage("go on");
  });
  document.body.prepend(
    make("p", { class: "site-newer", role: "status" }, "A newer version of this page is here. ", button),
  );
}
