// Keeps the page that checks proofs, so that it works without a network. All scripts of the origin
// can write into its caches, so nothing is served from one but the very bytes that the service has,
// with the headers that it gives them.

/**
 * A File has the digests that its bytes may have, as subresource integrity names them: a page has
 * one for each language.
 */
interface File {
  headers: Record<string, string>;
  integrity: string;
}

/**
 * kept is what to keep, which the service writes before this script. The name of the cache is of
 * the files.
 */
declare const kept: {cache: string; page: string; files: Record<string, File>};

const worker = self as unknown as ServiceWorkerGlobalScope;

worker.addEventListener('install', (event) =>
  event.waitUntil(
    (async () => {
      await worker.skipWaiting();
      const cache = await caches.open(kept.cache);
      await Promise.all(
        Object.entries(kept.files).map(async ([path, {integrity}]) => cache.put(path, await fetch(path, {integrity}))),
      );
    })(),
  ),
);

worker.addEventListener('activate', (event) =>
  event.waitUntil(
    (async () => {
      for (const name of await caches.keys())
        if (name.startsWith('verify ') && name !== kept.cache) await caches.delete(name); // of another release
      await worker.clients.claim();
    })(),
  ),
);

worker.addEventListener('fetch', (event) => {
  const {origin, pathname} = new URL(event.request.url),
    file = Object.hasOwn(kept.files, pathname) && kept.files[pathname];
  if (event.request.method !== 'GET' || origin !== location.origin || !file) return;
  event.respondWith(
    pathname === kept.page
      ? refresh(event, file)
      : recall(pathname, file).then((found) => found ?? fetch(event.request)),
  );
});

/** refresh fetches the page and keeps it, since its language may be another one. Without a network it recalls it. */
async function refresh(event: FetchEvent, file: File): Promise<Response> {
  try {
    const found = await fetch(event.request),
      copy = found.clone();
    if (found.ok) event.waitUntil(caches.open(kept.cache).then((cache) => cache.put(kept.page, copy)));
    return found;
  } catch (error) {
    const found = await recall(kept.page, file);
    if (found) return found;
    throw error;
  }
}

/** recall returns a file from the cache if it is there and genuine. */
async function recall(path: string, {headers, integrity}: File): Promise<Response | undefined> {
  const found = await (await caches.open(kept.cache)).match(path, {ignoreVary: true}),
    bytes = await found?.arrayBuffer();
  if (!bytes) return undefined;
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return integrity.split(' ').includes(`sha256-${btoa(String.fromCharCode(...digest))}`)
    ? new Response(bytes, {headers})
    : undefined;
}

export {}; // a module, whose names are its own
