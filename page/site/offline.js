// Keeps the whole site in the browser after the first visit, so that the second needs no network.
// @ts-nocheck: a service worker's own globals; Deno checks pages.

const FILES = /* files */ [];
const NAME = "rebalance-kit-/* version */";

// Nothing of an older version may come from the browser's own cache: the files of a version go together.
self.addEventListener("install", (event) => {
  const asked = FILES.map((name) => new Request(name, { cache: "no-cache" }));
  event.waitUntil(caches.open(NAME).then((cache) => cache.addAll(asked)));
});

// A newer version waits until its reader takes it: an open page goes on with the files that it began with.
self.addEventListener("message", ({ data }) => {
  if (data === "go on") self.skipWaiting();
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
