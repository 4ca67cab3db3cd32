// The pages of the docs, made of openapi.yaml and the Markdown files in docs.
import {readdirSync, readFileSync} from 'node:fs';
import {posix} from 'node:path';
import markdownIt from 'markdown-it';
import {parse} from 'yaml';

const root = new URL('..', import.meta.url);
const read = (name) => readFileSync(new URL(name, root), 'utf8');
const list = (folder, extension) =>
  readdirSync(new URL(folder, root))
    .filter((name) => name.endsWith(extension))
    .sort()
    .map((name) => folder + name);

const markdown = markdownIt({linkify: true}); // HTML in Markdown becomes text
markdown.linkify.set({fuzzyLink: false, fuzzyEmail: false});
const mark = /^> \[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]$/gm; // GitHub's, of a note or a warning
const comment = /^<!--.*-->\n/gm;

/** slug is a heading's anchor, as GitHub makes it. */
const slug = (heading) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

/** target is the page for a link in the document of a place below /docs/, or undefined for other files. */
export function target(place, link) {
  const [name, anchor] = link.split('#'),
    to = posix.join('docs', posix.dirname(place), name);
  if (name === '' || name.includes('://') || to === 'openapi.yaml') return link;
  if (!name.endsWith('.md') || !to.startsWith('docs/')) return undefined;
  return name.slice(0, -3) + (anchor ? `#${anchor}` : '');
}

/** render makes a page of a document, and the sections that a search finds in it. */
export function render(place, source) {
  const text = source
      .replace(comment, '')
      .replace(mark, (_, kind) => `> **${kind[0]}${kind.slice(1).toLowerCase()}**\n>`),
    tokens = markdown.parse(text, {}),
    lines = text.split('\n'),
    sections = [],
    taken = new Map();
  let title = place;
  tokens.forEach((token, i) => {
    if (token.type === 'heading_open') {
      const heading = tokens[i + 1].content,
        anchor = slug(heading),
        count = taken.get(anchor) ?? 0;
      taken.set(anchor, count + 1);
      token.attrSet('id', count > 0 ? `${anchor}-${count}` : anchor);
      if (token.tag === 'h1') title = heading;
      sections.push({path: `${posix.join('/docs', place)}#${token.attrGet('id')}`, title, heading, text: ''});
    } else if (token.level === 0 && token.map && token.nesting >= 0 && sections.length > 0) {
      const last = sections.at(-1);
      last.text = `${last.text} ${lines
        .slice(...token.map)
        .join('\n')
        .trim()}`.trim();
    }
    // The policy of pages forbids inline styles.
    const style = token.attrGet('style');
    if (style) token.attrs = [['align', style.replace('text-align:', '')]];
    if (token.children) token.children = withoutDeadLinks(place, token.children);
  });
  return {page: {title, body: markdown.renderer.render(tokens, markdown.options, {})}, sections};
}

/** withoutDeadLinks leads links to pages. A link to any other file of the project becomes text. */
function withoutDeadLinks(place, tokens) {
  const open = [];
  return tokens.filter((token) => {
    if (token.type === 'link_open') {
      const to = target(place, token.attrGet('href'));
      if (to !== undefined) token.attrSet('href', to);
      open.push(to !== undefined);
      return to !== undefined;
    }
    return token.type !== 'link_close' || open.pop();
  });
}

/** renderContract makes the first page: the operations by tag, with links to the viewer, then the contract's text. */
function renderContract() {
  const {info, tags, paths} = parse(read('openapi.yaml')),
    operations = Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item)
        .filter(([, {operationId}]) => operationId)
        .map(([method, operation]) => ({
          ...operation,
          call: `${method.toUpperCase()} ${path}`,
          link: `#/${operation.tags[0]}/${operation.operationId}`,
        })),
    ),
    parts = tags.map(({name, description}) => {
      const calls = operations.filter(({tags}) => tags.includes(name));
      return `## ${name[0].toUpperCase()}${name.slice(1)}\n\n${description}\n\n${calls
        .map(({call, link, summary}) => `- [\`${call}\`](${link}) ${summary}\n`)
        .join('')}\n`;
    }),
    choose = 'Choose an operation to see all of it and to send it, or read [openapi.yaml](openapi.yaml).',
    head = `# ${info.title}\n\n${info.summary} ${choose}\n\n`,
    // Its place is beside the folder of the others.
    {page, sections} = render('../docs', `${head}${parts.join('')}## Overview\n\n${info.description}`);
  return {
    page,
    sections: sections.concat(
      operations.map(({call, link, summary, description}) => ({
        path: `/docs${link}`,
        title: page.title,
        heading: call,
        text: `${summary} ${description}`,
      })),
    ),
  };
}

/** makeDocs makes all pages, the menu, the pictures in pages, and the sections for the search. */
export function makeDocs() {
  const contract = renderContract(),
    docs = {contract: contract.page, pages: {}, guides: [], reference: [], files: {}},
    index = contract.sections,
    add = (place, source) => {
      const {page, sections} = render(place, source);
      docs.pages[place] = page;
      index.push(...sections);
      const entry = {path: place, title: page.title};
      if (!place.includes('/') || place === 'operations/README') docs.reference.push(entry);
      else if (place.startsWith('guides/') && place !== 'guides/README') docs.guides.push(entry);
    };
  for (const name of ['docs/guides/', 'docs/', 'docs/operations/'].flatMap((folder) => list(folder, '.md')))
    add(name.slice('docs/'.length, -'.md'.length), read(name));
  // Their licence goes where the service goes.
  add('fonts', `# The fonts of the cards\n\n\`\`\`text\n${read('internal/picture/OFL.txt')}\`\`\`\n`);
  for (const name of list('docs/', '.svg'))
    docs.files[name.slice('docs/'.length)] = {type: 'image/svg+xml', text: read(name)};
  docs.files['search.json'] = {type: 'application/json', text: JSON.stringify(index)};
  return docs;
}
