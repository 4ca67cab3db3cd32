// The search of the docs, and their menu, which is open where it is beside the text.
import MiniSearch from 'minisearch';
import {path, send, text} from './page';
import './gallery';
import './try';

// Links to operations had their names here before each had a page.
const [, , operation] = /^#\/(\w+)\/(\w+)$/.exec(location.hash) ?? [];
if (operation) location.replace(path(['docs', 'api', operation]));

interface Section {
  path: string;
  title: string;
  heading: string;
  text: string;
}

const input = document.getElementById('search') as HTMLInputElement,
  list = document.getElementById('found')!;
let index: Promise<MiniSearch<Section>> | undefined;

/** index finds sections that have all words, or begin with them, or have them with a typing error. */
async function makeIndex(): Promise<MiniSearch<Section>> {
  const sections = (await (await send(path(['docs', 'search.json']))).json()) as Section[],
    index = new MiniSearch<Section>({
      idField: 'path',
      fields: ['title', 'heading', 'text'],
      storeFields: ['path', 'title', 'heading'],
      searchOptions: {boost: {title: 4, heading: 8}, combineWith: 'AND', prefix: true, fuzzy: mistyped, weights},
    });
  index.addAll(sections);
  return index;
}

// What a word only begins, or nearly is, counts less than the word.
const weights = {prefix: 0.5, fuzzy: 0.1};

/** mistyped is the share of a word's letters that may be wrong: none of a short word. */
const mistyped = (word: string) => word.length > 3 && 0.2;

async function search(): Promise<void> {
  index ??= makeIndex();
  const words = input.value,
    found = (await index).search(words).slice(0, 12) as unknown as Section[];
  if (words !== input.value) return;
  list.replaceChildren(
    ...found.map((section) => {
      const item = document.createElement('li'),
        link = document.createElement('a');
      link.href = section.path;
      link.textContent = section.heading === section.title ? section.title : `${section.title}: ${section.heading}`;
      item.append(link);
      return item;
    }),
  );
  if (words.trim() !== '' && found.length === 0) list.textContent = text('docs.none');
}

const beside = matchMedia('(min-width: 60rem)'),
  documents = document.getElementById('documents') as HTMLDetailsElement;
documents.open = beside.matches;
beside.addEventListener('change', () => {
  documents.open = beside.matches;
});

input.addEventListener(
  'input',
  () =>
    void search().catch((error: unknown) => {
      index = undefined;
      list.textContent = (error as Error).message;
    }),
);

// What may be wider than the page is scrolled with the keyboard, too.
document.querySelectorAll('.document pre, .document table').forEach((element) => element.setAttribute('tabindex', '0'));

// Commands name the address that this page has.
const texts = document.createTreeWalker(document.querySelector('.document')!, NodeFilter.SHOW_TEXT);
while (texts.nextNode()) {
  const {currentNode: node} = texts;
  if (node.parentElement!.closest('code') && /curl |http:/.test(node.nodeValue!))
    node.nodeValue = node.nodeValue!.replace(/(?<!https:\/\/)(http:\/\/)?localhost:8080(?!\/logs\/)/g, location.origin);
}
