// In front of JupyterLite's own service worker: keeps the whole course in the browser from the first notebook on, for visits without a network.
// @ts-nocheck: a service worker's own globals; Deno checks pages.

{
  const FILES = /* files */ [];
  const NAME = "rebalance-course-/* version */";
  let keeping = null;

  /** One file after another, behind what the notebook itself asks for; what is missing is asked for at a later visit. */
  const keep = async () => {
    const cache = await caches.open(NAME);
    const kept = new Set((await cache.keys()).map(({ url }) => url));
    for (const name of FILES) {
      const { href } = new URL(name, self.location.href);
      if (kept.has(href)) continue;
      const answer = await fetch(href, { cache: "no-cache", priority: "low" });
      if (answer.status !== 200) return;
      await cache.put(href, answer);
    }
    const old = (await caches.keys()).filter((name) => name.startsWith("rebalance-course-") && name !== NAME);
    await Promise.all(old.map((name) => caches.delete(name)));
  };

  /** What the host answers; where it cannot be reached, the copy: so an open notebook never has files of two versions. */
  const answered = async (request) => {
    try {
      return await fetch(request);
    } catch (problem) {
      const cache = await caches.open(NAME);
      const kept = await cache.match(request, { ignoreSearch: true });
      if (kept) return kept;
      throw problem;
    }
  };

  const held = new Set(FILES.map((name) => new URL(name, self.location.href).href));
  self.addEventListener("fetch", (event) => {
    keeping ??= keep().catch(() => {}); // no room, or no network: the course goes on without a copy
    event.waitUntil(keeping);
    const { request } = event;
    if (request.method !== "GET" || !held.has(request.url.split(/[?#]/)[0])) return;
    event.stopImmediatePropagation();
    event.respondWith(answered(request));
  });
}
