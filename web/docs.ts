// The search of the docs, and their menu, which is open where it is beside the text.
import {path, prefix, send, text} from './page';

interface Section {
  path: string;
  title: string;
  heading: string;
  text: string;
}

const input = document.getElementById('search') as HTMLInputElement,
  list = document.getElementById('found')!;
let sections: Section[] | undefined;

/** score is how well a section matches all words, 0 if one is missing. A word in a heading counts ten times. */
function score(section: Section, words: string[]): number {
  const heading = `${section.title} ${section.heading}`.toLowerCase(),
    body = section.text.toLowerCase();
  let sum = 0;
  for (const word of words) {
    const points = (heading.includes(word) ? 10 : 0) + Math.min(5, body.split(word).length - 1);
    if (points === 0) return 0;
    sum += points;
  }
  return sum;
}

async function search(): Promise<void> {
  const words = input.value
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word.length > 1);
  sections ??= (await (await send(path(['docs', 'search.json']))).json()) as Section[];
  const found = sections
    .map((section) => ({section, points: score(section, words)}))
    .filter(({points}) => words.length > 0 && points > 0)
    .sort((a, b) => b.points - a.points)
    .slice(0, 12);
  list.replaceChildren(
    ...found.map(({section}) => {
      const item = document.createElement('li'),
        link = document.createElement('a');
      link.href = prefix + section.path;
      link.textContent = section.heading === section.title ? section.title : `${section.title}: ${section.heading}`;
      item.append(link);
      return item;
    }),
  );
  if (words.length > 0 && found.length === 0) list.textContent = text('docs.none');
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
    node.nodeValue = node.nodeValue!.replace(
      /(?<!https:\/\/)(http:\/\/)?localhost:8080(?!\/logs\/)/g,
      location.origin + prefix,
    );
}
