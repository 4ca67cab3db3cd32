// Parses files whose languages have no compiler here, by their tree-sitter grammars, and fails at the first error.
import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import Parser from 'tree-sitter';
import CSharp from 'tree-sitter-c-sharp/bindings/node/index.js';
import GDScript from 'tree-sitter-gdscript/bindings/node/index.js';
import Rust from 'tree-sitter-rust/bindings/node/index.js';

const grammars = { '.cs': CSharp, '.gd': GDScript, '.rs': Rust };
const firstError = (node) => {
  if (node.type === 'ERROR' || node.isMissing) return node;
  return node.children.filter((child) => child.hasError || child.isMissing).map(firstError)[0] ?? node;
};
for (const file of process.argv.slice(2)) {
  const parser = new Parser(), text = readFileSync(file, 'utf8');
  parser.setLanguage(grammars[extname(file)]);
  const { rootNode } = parser.parse((at) => text.slice(at, at + 4096)); // a longer text at once is refused
  if (rootNode.hasError) {
    const { startPosition, text } = firstError(rootNode);
    throw new Error(`${file}:${startPosition.row + 1}: cannot be parsed: ${text.slice(0, 100)}`);
  }
  console.log(`${file} is well-formed: ${rootNode.descendantCount} nodes`);
}
