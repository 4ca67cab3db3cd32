// Writes what the verifiers say in English, internal/audit/message/messages.json, into those that are single files.
import {readFileSync, writeFileSync} from 'node:fs';

const source = 'internal/audit/message/messages.json';
const file = (name) => new URL(`../${name}`, import.meta.url);

/** writeMessages makes the block MESSAGES of each verifier anew: its head line, the texts, and its end line. */
export function writeMessages() {
  const texts = Object.entries(JSON.parse(readFileSync(file(source), 'utf8')));
  for (const [name, comment, indent] of [
    ['verifiers/riffle.mjs', '//', '  '],
    ['verifiers/riffle.py', '#', '    '],
  ]) {
    const program = readFileSync(file(name), 'utf8'),
      block = /^(?:\/\/|#) .*\n((?:const )?MESSAGES = \{\n)(?: +".*\n)*(\};?\n)/m;
    if (!block.test(program)) throw new Error(`${name} has no block MESSAGES`);
    const lines = texts.map(([id, {en}]) => `${indent}${JSON.stringify(id)}: ${JSON.stringify(en)},\n`).join('');
    const made = (_, head, end) =>
      `${comment} The texts of messages, made from ${source} by web/messages.mjs: do not edit.\n${head}${lines}${end}`;
    writeFileSync(file(name), program.replace(block, made));
  }
}
