// The pages of the contract: a list of its operations, and a page for each of them.
import {readFileSync} from 'node:fs';
import {parse} from 'yaml';
import {asCurl, requestOf} from './curl.mjs';
import {plain, render} from './markdown.mjs';

const {info, tags, paths, components} = parse(readFileSync(new URL('../openapi.yaml', import.meta.url), 'utf8'));

/** chinese has titles and short descriptions in Chinese, by the English ones. Each is all of an HTML element. */
const chinese = JSON.parse(readFileSync(new URL('contract.zh.json', import.meta.url), 'utf8'));

/** resolved is what a reference names, with what stands beside the reference. */
function resolved(value) {
  if (!value?.$ref) return value ?? {};
  const {$ref, ...rest} = value,
    [group, name] = $ref.split('/').slice(-2);
  return {...resolved(components[group][name]), ...rest};
}

const prose = (text) => (text ? render('contract', text).page.body : '');
const code = (text) => `<code>${plain(String(text))}</code>`;

/** form is the type of a value in a few words. */
function form(schema) {
  const {type, items, oneOf, enum: values, const: only, minimum, maximum, format, default: usual} = resolved(schema);
  const bounds = [
    values?.map(code).join(', '),
    minimum !== undefined && maximum < Number.MAX_SAFE_INTEGER && `${minimum} to ${maximum.toLocaleString('en')}`,
    usual !== undefined && `default ${code(usual)}`,
  ].filter(Boolean);
  let name = [type].flat().join(' or ');
  if (oneOf && !type) name = [...new Set(oneOf.map(form))].join(' or ');
  else if (only !== undefined) name = code(only);
  else if (type === 'array') name = `list: ${form(items)}`;
  else if (Array.isArray(type) && type.length > 4) name = 'any value';
  else if (type === 'string' && /uuid|date-time/.test(format)) name = format === 'uuid' ? 'UUID' : 'time';
  return bounds.length > 0 ? `${name}: ${bounds.join('; ')}` : name;
}

const folded = (title, body) => `<details><summary>${title}</summary>${body}</details>`;

/** called is the method and the path of an operation. */
const called = ({method, path}) => `<span class="method ${method.toLowerCase()}">${method}</span> ${code(path)}`;

/** row is a member or a parameter in a list. Members of its own are folded. */
function row({name, schema, isRequired, description, depth = 0}) {
  const own = members(schema, depth + 1);
  const kind = form(schema) + (isRequired ? ', <strong>required</strong>' : ''),
    text = prose(description ?? resolved(schema).description);
  return `<dt>${code(name)} <span>${kind}</span></dt><dd>${text}${own && folded('Members', own)}</dd>`;
}

/** members lists those of an object, of the entries of a list, or of each form that a value can have. */
function members(schema, depth = 0) {
  const {properties, required = [], items, oneOf = []} = resolved(schema);
  if (items) return members(items, depth);
  if (depth > 3) return '';
  if (!properties)
    return oneOf
      .map((one) => ({name: one.$ref?.split('/').pop(), own: members(one, depth + 1)}))
      .filter(({own}) => own)
      .map(({name, own}) => folded(code(name), own))
      .join('');
  const choices = oneOf
      .filter(({title}) => title)
      .map(({title, required}) => `${title} (${required.map(code).join(', ')})`),
    rows = Object.entries(properties).map(([name, schema]) =>
      row({name, schema, isRequired: required.includes(name), depth}),
    );
  const said = choices.length > 0 ? `<p>It has one of these: ${choices.join('; ')}.</p>` : '';
  return `${said}<dl class="members">${rows.join('')}</dl>`;
}

/** contentOf is the first form of a body, with its type. */
const contentOf = ({content = {}}) => {
  const [type, {schema, examples = {}} = {}] = Object.entries(content)[0] ?? [];
  return {type, schema, examples};
};

/** examplesOf joins what has one name: parameters, body and answer. Those that are answered 200 come first. */
function examplesOf({parameters, body, answers}) {
  const found = new Map(),
    at = (name) => found.get(name) ?? found.set(name, {values: {}}).get(name);
  for (const [name, {summary, value}] of Object.entries(body.examples)) Object.assign(at(name), {summary, body: value});
  for (const {status, examples} of answers)
    for (const [name, example] of Object.entries(examples)) {
      const {value} = resolved(example),
        known = found.get(name) ?? (Object.keys(body.examples).length === 0 ? at(name) : undefined);
      if (known)
        Object.assign(known, {status, answer: typeof value === 'string' ? value : JSON.stringify(value, null, 1)});
    }
  for (const {name, examples = {}} of parameters)
    for (const [example, {value}] of Object.entries(examples))
      if (found.has(example))
        at(example).values[name] =
          !Array.isArray(value) && typeof value === 'object' ? new URLSearchParams(value).toString() : String(value);
  const list = [...found]
    .map(([name, example]) => ({...example, summary: example.summary ?? words(name)}))
    .sort((a, b) => (a.status === '200' ? 0 : 1) - (b.status === '200' ? 0 : 1));
  if (list[0]?.status === '200' || list[0]?.body !== undefined) return list;
  // None has an answer to show: any value of each parameter that is required.
  const required = parameters.filter(({required}) => required),
    values = required.map(({name, example, examples}) => [
      name,
      String(example ?? Object.values(examples ?? {})[0]?.value ?? ''),
    ]);
  return [{summary: 'Basic', values: Object.fromEntries(values)}];
}

/** words makes a title of a name such as emptyList. */
const words = (name) =>
  name.replace(/^./, (c) => c.toUpperCase()).replace(/[A-Z]/g, (c, i) => (i > 0 ? ` ${c.toLowerCase()}` : c));

const operations = Object.entries(paths).flatMap(([path, item]) =>
  Object.entries(item)
    .filter(([, {operationId}]) => operationId)
    .map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
      call: `${method.toUpperCase()} ${path}`,
      parameters: [...(item.parameters ?? []), ...(operation.parameters ?? [])].map(resolved),
    })),
);

const places = {path: 'Path', query: 'Query', header: 'Header'};

/** pageOf is the page of an operation. Its script makes the requests to try of the data in #try. */
function pageOf({operationId, summary, description, method, path, call, parameters, requestBody, responses}) {
  const body = contentOf(resolved(requestBody)),
    answers = Object.entries(responses).map(([status, response]) => ({
      status,
      ...contentOf(resolved(response)),
      description: resolved(response).description,
    })),
    good = answers.find(({status}) => status === '200'),
    others = answers.filter((answer) => answer !== good),
    data = {
      method,
      path,
      answersText: !/[/+]json$/.test(good.type ?? ''),
      parameters: parameters.map(({name, in: place, required, style}) => ({
        name,
        place,
        required,
        isQuery: style === 'form',
      })),
      examples: examplesOf({parameters, body, answers}),
    },
    parts = [
      `<h1>${plain(summary)}</h1><p class="call">${called({method, path})}</p>`,
      `<div class="operation"><div>${prose(description)}`,
      ...Object.entries(places).map(([place, name]) => {
        const here = parameters.filter((parameter) => parameter.in === place);
        return here.length > 0
          ? `<h2>${name}</h2><dl class="members">${here.map((p) => row({...p, isRequired: p.required})).join('')}</dl>`
          : '';
      }),
      body.schema ? `<h2>Body</h2>${members(body.schema)}` : '',
      `<h2>Answer</h2>${prose(good.description)}`,
      good.type ? `<p class="quiet">${code(good.type)}</p>` : '',
      members(good.schema),
      `<h2>Other answers</h2><dl class="members answers">${others
        .map(({status, description}) => `<dt>${code(status)}</dt><dd>${prose(description)}</dd>`)
        .join('')}</dl>`,
      `</div><div id="try" data-operation="${plain(JSON.stringify(data))}">${sample(data)}</div></div>`,
    ];
  return {
    page: {title: summary, language: 'en', body: parts.join('')},
    section: {
      path: `/docs/api/${operationId}`,
      title: call,
      heading: summary,
      text: [
        description,
        ...parameters.map(({name, description}) => `${name} ${description}`),
        ...Object.entries(resolved(body.schema).properties ?? {}).map(
          ([name, schema]) => `${name} ${resolved(schema).description ?? ''}`,
        ),
      ].join(' '),
    },
  };
}

/** sample is the first example of an operation as it stands before the script, and where none runs. */
function sample({method, parameters, examples: [example], ...operation}) {
  const {path, headers} = requestOf({...operation, parameters}, example?.values ?? {}),
    body = example?.body === undefined ? undefined : JSON.stringify(example.body),
    writes = parameters.some(({name}) => name === 'Idempotency-Key');
  const call = {method, url: `http://localhost:8080${path}`, writes, headers, body};
  return `<pre><code>${plain(asCurl(call, false))}</code></pre>`;
}

/** makeContract makes the first page of the docs, a page for each operation, their menu, and what a search finds. */
export function makeContract() {
  const of = ({name}) => operations.filter((operation) => operation.tags.includes(name)),
    list = tags.map((tag) => {
      const calls = of(tag).map(
        (operation) =>
          `<li><a href="docs/api/${operation.operationId}">${called(operation)}</a> ` +
          `<span>${plain(operation.summary)}</span></li>`,
      );
      const heading = `<h2 id="${tag.name}">${tag.name[0].toUpperCase()}${tag.name.slice(1)}</h2>`;
      return `${heading}${prose(tag.description)}<ul class="calls">${calls.join('')}</ul>`;
    }),
    all = '<a href="openapi.yaml">openapi.yaml</a>',
    choose = `<span>Choose an operation to see all of it and to send it, or read</span> ${all}`,
    head = `<h1>${plain(info.title)}</h1><p><span>${plain(info.summary)}</span> ${choose}</p>`,
    // Its place is beside the folder of the others.
    overview = render('../docs', `## Overview\n\n${info.description}`),
    pages = operations.map((operation) => [`api/${operation.operationId}`, pageOf(operation)]),
    missing = operations.filter(({summary}) => !chinese[summary]);
  if (missing.length > 0) throw Error(`contract.zh.json lacks ${missing.map(({summary}) => summary).join(', ')}`);
  return {
    chinese,
    pages: {
      '': {
        title: 'The API',
        language: 'en',
        body: [head, ...list, overview.page.body].join(''),
      },
      ...Object.fromEntries(pages.map(([path, {page}]) => [path, page])),
    },
    menu: tags.flatMap((tag) => of(tag).map(({operationId, call}) => ({path: `api/${operationId}`, title: call}))),
    sections: [...overview.sections, ...pages.map(([, {section}]) => section)],
  };
}
