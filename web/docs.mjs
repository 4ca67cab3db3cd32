// The pages of the docs, made of openapi.yaml and the Markdown files in docs.
import {readdirSync, readFileSync} from 'node:fs';
import {makeContract} from './contract.mjs';
import {render} from './markdown.mjs';

const root = new URL('..', import.meta.url);
const read = (name) => readFileSync(new URL(name, root), 'utf8');
const list = (folder, extension) =>
  readdirSync(new URL(folder, root))
    .filter((name) => name.endsWith(extension))
    .sort()
    .map((name) => folder + name);

// Guides come in the order of their index.
const journey = [...read('docs/guides/README.md').matchAll(/^\| \[.*\]\((.*)\.md\)/gm)].map(
  ([, name]) => `guides/${name}`,
);

/** makeDocs makes all pages, the menu, the pictures in pages, and the sections for the search. */
export function makeDocs() {
  const contract = makeContract(),
    docs = {
      pages: contract.pages,
      operations: contract.menu,
      chinese: contract.chinese,
      guides: [],
      reference: [],
      files: {},
    },
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
  docs.guides.sort((a, b) => journey.indexOf(a.path) - journey.indexOf(b.path));
  // The script of the docs makes it of GET /decks. Here is what stands for it where none runs.
  const {page: gallery, sections} = render('decks', '# All decks\n\n[Decks](guides/decks.md) has a table of them.\n');
  docs.pages.decks = {...gallery, body: `<div id="gallery">${gallery.body}</div>`};
  index.push({...sections[0], path: '/docs/decks', text: 'Gallery: pictures of the cards of every deck type'});
  docs.guides.splice(docs.guides.findIndex(({path}) => path === 'guides/decks') + 1, 0, {
    path: 'decks',
    title: gallery.title,
  });
  // Their licence goes where the service goes.
  add('fonts', `# The fonts of the cards\n\n\`\`\`text\n${read('internal/picture/OFL.txt')}\`\`\`\n`);
  for (const name of list('docs/', '.svg'))
    docs.files[name.slice('docs/'.length)] = {type: 'image/svg+xml', text: read(name)};
  docs.files['search.json'] = {type: 'application/json', text: JSON.stringify(index)};
  return docs;
}
