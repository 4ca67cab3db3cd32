// The contract: its operations as the service lists them, and a viewer that can send them. The
// viewer is large, so it is loaded once the address names an operation.
import {render} from 'preact';
import './docs';
import {path, send, type Problem} from './page';
import {Refused} from './refused';

const main = document.getElementById('main')!,
  notice = document.createElement('div');
let viewer: Promise<void> | undefined;

async function load(): Promise<void> {
  await send(path(['openapi.yaml']), {method: 'HEAD'}); // which the viewer cannot ask a token for
  const {show} = await import('./viewer');
  main.replaceChildren();
  main.classList.remove('document');
  (document.getElementById('viewer-style') as HTMLLinkElement).media = 'all';
  show(main);
}

/** open shows the operation that the address names. Once it is there, the viewer follows the address. */
function open(): void {
  if (viewer || !location.hash.startsWith('#/')) return;
  main.setAttribute('aria-busy', 'true');
  viewer = load()
    .catch((problem: unknown) => {
      viewer = undefined;
      main.prepend(notice);
      render(<Refused problem={problem as Problem} onToken={open} />, notice);
    })
    .finally(() => main.removeAttribute('aria-busy'));
}

addEventListener('hashchange', open);
open();
