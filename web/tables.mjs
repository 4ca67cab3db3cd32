// Writes what the verifiers know by heart. Into riffle.mjs, which is a single file: the texts of its messages in
// English, internal/audit/message/messages.json, and the members of records, internal/audit/members.json. And the codes
// of the decks that have no parameters, internal/deck/data: into riffle.mjs, and for reference.py as decks.json.
import {readFileSync, writeFileSync} from 'node:fs';

const file = (name) => new URL(`../${name}`, import.meta.url);
const read = (name) => readFileSync(file(name), 'utf8');

const messages = 'internal/audit/message/messages.json';
const members = 'internal/audit/members.json';
const decks = 'internal/deck/data';

// deckTypes returns the files of the deck types in the order of the catalogue.
const deckTypes = () =>
  read(`${decks}/order.txt`)
    .trim()
    .split('\n')
    .map((type) => JSON.parse(read(`${decks}/${type}.json`)));

const codes = ({cards}) => cards.map(({code, count = 1}) => (count > 1 ? `${code}*${count}` : code)).join(' ');

/** writeTables makes the blocks MESSAGES, MEMBERS and DECKS of riffle.mjs anew: head, an entry a line, end. */
export function writeTables() {
  const texts = Object.entries(JSON.parse(read(messages))).map(([id, {en}]) => [id, en]);
  let program = read('verifiers/riffle.mjs');
  const fixed = deckTypes().filter(({parameters}) => !parameters);
  for (const [table, entries, about] of [
    ['MESSAGES', texts, `The texts of messages, made from ${messages}`],
    ['MEMBERS', Object.entries(JSON.parse(read(members))), `The members of records, made from ${members}`],
    [
      'DECKS',
      fixed.map((type) => [type.type, codes(type)]),
      `The codes of all cards, R1*2 for R1 twice, made from ${decks}`,
    ],
  ]) {
    const block = new RegExp(`^// .*\\n((?:const )?${table} = \\{\\n)(?: +".*\\n)*(\\};?\\n)`, 'm');
    if (!block.test(program)) throw new Error(`riffle.mjs has no block ${table}`);
    const lines = entries.map(([id, text]) => `  ${JSON.stringify(id)}: ${JSON.stringify(text)},\n`).join('');
    program = program.replace(
      block,
      (_, head, end) => `// ${about} by web/tables.mjs: do not edit.\n${head}${lines}${end}`,
    );
  }
  writeFileSync(file('verifiers/riffle.mjs'), program);
  const cards = ({cards}) => cards.flatMap(({code, count = 1}) => Array(count).fill(code));
  const listed = fixed.map((type) => `${JSON.stringify(type.type)}:${JSON.stringify(cards(type))}`).join(',\n');
  writeFileSync(file('verifiers/decks.json'), `{\n${listed}\n}\n`);
}
