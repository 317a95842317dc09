// Keeps the whole site in the browser after the first visit, so that the second needs no network.
// @ts-nocheck: a service worker's own globals; Deno checks pages.

const FILES = /* files */ [];
const NAME = "rebalance-kit-/* version */";

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(NAME).then((cache) => cache.addAll(FILES)).then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => {
  const old = (names) => names.filter((name) => name.startsWith("rebalance-kit-") && name !== NAME);
  event.waitUntil(
    caches.keys().then((names) => Promise.all(old(names).map((name) => caches.delete(name)))).then(() =>
      self.clients.claim()
    ),
  );
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || new URL(request.url).origin !== self.location.origin) return;
  event.respondWith(
    caches.open(NAME).then((cache) => cache.match(request, { ignoreSearch: true })).then((kept) =>
      kept ?? fetch(request)
    ),
  );
});
