// Keeps the whole site in the browser after the first visit, so that the second needs no network.
// @ts-nocheck: a service worker's own globals; Deno checks pages.

const FILES = /* files */ [];
/** Files that not every visit needs: kept from their first use on. */
const LATER = /* later */ [];
const OF_THIS_VERSION = new Set([...FILES, ...LATER].map((name) => new URL(name, self.location.href).href));
const NAME = "rebalance-kit-/* version */";
/** The course keeps its own files. */
const COURSE = new URL("course/", self.location.href).href;

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

/** What the host answers, and a copy of it for visits without a network; where there is no room for one, there is none. */
async function brought(cache, request) {
  const answer = await fetch(request);
  if (answer.status === 200) cache.put(request, answer.clone()).catch(() => {});
  return answer;
}

// The files of this version come from the browser. The documents come from the host, and from the browser where that cannot be reached.
async function answered(request) {
  const cache = await caches.open(NAME);
  const kept = await cache.match(request, { ignoreSearch: true });
  if (kept && OF_THIS_VERSION.has(request.url.split("?")[0])) return kept;
  return brought(cache, request).catch((problem) => kept ?? Promise.reject(problem));
}

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || new URL(request.url).origin !== self.location.origin) return;
  if (request.url.startsWith(COURSE)) return;
  event.respondWith(answered(request));
});
