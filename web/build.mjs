// Makes the files of internal/web/static: scripts and styles from the sources here, the names that pages refer to
// them by, the list of those that the page /verify needs, and the pages of the docs. First it writes tables into the
// verifiers. It needs the packages of package.json: npm ci.
//
//     node web/build.mjs
import {mkdirSync, rmSync, writeFileSync} from 'node:fs';
import {basename, extname} from 'node:path';
import {build} from 'esbuild';
import {makeDocs} from './docs.mjs';
import {writeTables} from './tables.mjs';

writeTables();

const folder = new URL('../internal/web/static/', import.meta.url);
const {outputFiles, metafile} = await build({
  // Pages refer to these sources. What they import is part of them.
  entryPoints: [
    'table.tsx',
    'verify.tsx',
    'verify-worker.ts',
    'explore.tsx',
    'fairness.tsx',
    'lab/worker.ts',
    'lab/own.ts',
    'docs.ts',
    'theme.ts',
    'style.css',
  ],
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  external: ['node:*'], // of a verifier, when it is run as a program
  nodePaths: ['node_modules'], // it is in another folder
  absWorkingDir: import.meta.dirname,
  outdir: '../internal/web/static',
  write: false,
  bundle: true,
  splitting: true,
  format: 'esm',
  target: 'es2022',
  platform: 'browser',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  minify: true,
  legalComments: 'eof',
  metafile: true,
  logLevel: 'warning',
});

// The name of the file that each entry became.
const names = {};
for (const [path, {entryPoint}] of Object.entries(metafile.outputs)) {
  if (entryPoint) names[entryPoint.slice(0, -extname(entryPoint).length)] = basename(path);
}
const own = names['lab/own']; // a frame runs it, so it is a document
names['lab/own'] = own.replace(/js$/, 'html');

// The files that are loaded with one, and the file.
function loaded(name, list = []) {
  if (list.includes(name)) return list;
  list.push(name);
  for (const [path, {imports}] of Object.entries(metafile.outputs)) {
    if (basename(path) !== name) continue;
    for (const {path, external} of imports) if (!external) loaded(basename(path), list);
  }
  return list;
}

rmSync(folder, {recursive: true, force: true});
mkdirSync(folder);
const write = (name, contents) => writeFileSync(new URL(name, folder), contents);
const json = (value) => `${JSON.stringify(value, null, 2)}\n`;
for (const {path, text, contents} of outputFiles) {
  if (basename(path) === own) write(names['lab/own'], `<!doctype html><script>${text}</script>\n`);
  else write(basename(path), contents);
}
write('names.json', json(Object.fromEntries(Object.entries(names).sort(([a], [b]) => (a < b ? -1 : 1)))));
write('verify.json', json(loaded(names.verify, [names.style, names.theme])));
write('docs.json', json(makeDocs()));
