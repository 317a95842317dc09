// The site is kept in the browser; a newer one that has come is offered, and taken when somebody says so.

import { make } from "../shared/dom.js";

const UNKEPT = "This browser keeps no copy of the site: without a network it cannot be opened again.";

/**
 * Keep the site for visits without a network. A tab goes on with the version that it began with until its reader takes the new one.
 * @param {Promise<void>} [after] what the visit itself loads: the copy does not take the line from it
 */
export async function keepOffline(after) {
  document.querySelector(".site-wait")?.remove();
  if (!("serviceWorker" in navigator)) return;
  await after;
  navigator.serviceWorker.register("offline.js", { updateViaCache: "none" }).then((kept) => {
    const look = () => {
      if (kept.waiting && navigator.serviceWorker.controller) offer(kept.waiting);
    };
    /** @param {ServiceWorker | null} coming */
    const follow = (coming) => {
      coming?.addEventListener("statechange", () => {
        look();
        if (coming.state === "redundant" && !kept.active) unkept();
      });
    };
    look();
    follow(kept.installing);
    kept.addEventListener("updatefound", () => follow(kept.installing));
  }, unkept);
}

/** The browser refuses a copy: its storage is blocked or full, or a file of the site did not come. */
function unkept() {
  if (document.querySelector(".site-newer")) return;
  document.body.append(make("p", { class: "site-newer", role: "status" }, UNKEPT));
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
