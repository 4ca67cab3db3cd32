// Has this page work without a network once it was loaded.
import {trusted} from './trusted';

/** keepOffline has the worker of this page keep what the page is made of. */
export function keepOffline(): void {
  if (!('serviceWorker' in navigator)) return; // browsers have it over TLS and on this machine
  // The page works without it.
  navigator.serviceWorker.register(trusted('/verify-worker.js'), {scope: '/verify'}).catch(() => undefined);
}
