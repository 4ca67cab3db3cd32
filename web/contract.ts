// The contract, with requests that can be sent to this log.
import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js';
import './docs';
import {prefix, token} from './page';

interface Spec { servers: {url: string}[] }

SwaggerUI({
  domNode: document.getElementById('main'),
  url: `${prefix}/openapi.yaml`,
  validatorUrl: null,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  requestInterceptor: (request: {headers: Record<string, string>}) => {
    if (token() !== '' && !request.headers.Authorization) request.headers.Authorization = `Bearer ${token()}`;
    return request;
  },
  plugins: [() => ({statePlugins: {spec: {wrapActions: {
    // Requests go to the log that the page is of, whatever servers the contract names.
    updateJsonSpec: (update: (spec: Spec) => unknown) => (spec: Spec) => update({...spec, servers: [{url: prefix === '' ? '/' : prefix}]}),
  }}}})],
});

// The viewer leaves out what readers need who use a keyboard or a screen reader, each time that it draws.
new MutationObserver(() => {
  document.getElementById('servers')?.setAttribute('aria-label', 'Server');
  document.querySelectorAll('#main pre:not([tabindex])').forEach((element) => element.setAttribute('tabindex', '0'));
}).observe(document.getElementById('main')!, {childList: true, subtree: true});
