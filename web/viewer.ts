// The viewer of the contract, with requests that can be sent to this log.
import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js';
import {prefix, text, token} from './page';

interface Parameter {
  required?: boolean;
  example?: unknown;
  examples?: unknown;
  style?: string;
}
interface Operation {
  parameters?: Parameter[];
}
interface Spec {
  servers: {url: string}[];
  paths: Record<string, Operation & Record<string, Operation>>;
  components: {parameters: Record<string, Parameter>};
}

/**
 * adapted returns the contract as the viewer takes it. Its server is the log that the page is of.
 * The parameters of a path are with its operations, since the viewer does not look up references
 * elsewhere. Only what is required is filled in with an example.
 */
function adapted(spec: Spec): Spec {
  const bare = (parameter: Parameter) => {
    const {example, examples, ...rest} = parameter;
    if (parameter.required) return parameter;
    return rest.style === 'form' ? {...rest, example: {}} : rest; // of an object it would make up members
  };
  const paths = mapped(spec.paths, ({parameters = [], ...methods}) =>
    mapped(methods, (operation) => ({
      ...operation,
      parameters: [...parameters, ...(operation.parameters ?? [])].map(bare),
    })),
  );
  return {
    ...spec,
    servers: [{url: prefix || '/'}],
    paths,
    components: {...spec.components, parameters: mapped(spec.components.parameters, bare)},
  };
}

/** mapped returns an object with each value replaced. */
const mapped = <A, B>(object: Record<string, A>, change: (value: A) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]));

/** nameOf returns what an input of the viewer is for. */
const nameOf = (input: HTMLElement): string =>
  input.closest('tr')?.dataset.paramName ?? {select: 'Example', textarea: 'Body'}[input.localName] ?? 'Value';

/** show draws the viewer in an element. It shows the operation that the address names. */
export function show(main: HTMLElement): void {
  const viewer = SwaggerUI({
    domNode: main,
    url: `${prefix}/openapi.yaml`,
    validatorUrl: null,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    syntaxHighlight: false, // its colours are hard to read, and it is slow
    // The contract itself takes a token, too, where keys are in use.
    requestInterceptor: (request: {url: string; headers: Record<string, string>}) => {
      // A value that would lead to another operation.
      if (/\/(\.|%2e){1,2}(?![^/?#])/i.test(request.url)) throw new Error(text('problem.path', '..'));
      if (token() !== '' && !request.headers.Authorization) request.headers.Authorization = `Bearer ${token()}`;
      return request;
    },
    onComplete: () => {
      if (token() !== '') viewer.preauthorizeApiKey('token', token());
      open();
      addEventListener('hashchange', open);
    },
    plugins: [
      () => ({
        statePlugins: {
          spec: {
            wrapActions: {updateJsonSpec: (update: (spec: Spec) => unknown) => (spec: Spec) => update(adapted(spec))},
          },
        },
      }),
    ],
  });
  // Its own links to operations are in buttons, where nobody finds them who uses a screen reader.
  const open = () => {
    const [, tag = '', id = ''] = location.hash.split('/');
    viewer.getSystem().layoutActions.show(['operations', tag, id], true);
    requestAnimationFrame(() => document.getElementById(`operations-${tag}-${id}`)?.scrollIntoView());
  };
  // It leaves out what readers need who use a keyboard or a screen reader, each time that it draws.
  new MutationObserver(() => {
    main
      .querySelectorAll<HTMLElement>('.opblock :is(input, select, textarea):not([aria-label])')
      .forEach((element) => element.setAttribute('aria-label', nameOf(element)));
    document.getElementById('servers')?.setAttribute('aria-label', 'Server');
    main.querySelectorAll('pre:not([tabindex])').forEach((element) => element.setAttribute('tabindex', '0'));
  }).observe(main, {childList: true, subtree: true});
}
