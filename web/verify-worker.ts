// Keeps the page that checks proofs, so that it works without a network. It keeps nothing else.
const worker = self as unknown as ServiceWorkerGlobalScope;
const cacheName = 'verify';

worker.addEventListener('install', (event) => event.waitUntil(worker.skipWaiting()));
worker.addEventListener('activate', (event) => event.waitUntil(worker.clients.claim()));

worker.addEventListener('message', (event) => {
  const wanted = event.data as string[];
  event.waitUntil((async () => {
    const cache = await caches.open(cacheName);
    for (const {url} of await cache.keys()) if (!wanted.includes(url)) await cache.delete(url); // of earlier versions
    await cache.addAll(wanted);
  })());
});

worker.addEventListener('fetch', (event) => {
  const {pathname} = new URL(event.request.url);
  if (event.request.method !== 'GET' || !(pathname.includes('/static/') || pathname.endsWith('/verify'))) return;
  // What has a hash in its name never changes; the page itself may.
  event.respondWith((async () => {
    const kept = await caches.match(event.request, {ignoreSearch: true});
    if (kept && pathname.includes('/static/')) return kept;
    try {
      return await fetch(event.request);
    } catch (error) {
      if (kept) return kept;
      throw error;
    }
  })());
});

export {}; // a module, whose names are its own
