// Adds to dist what tsc does not: the verifier, unchanged, with its types, and a twin of each file for require.
import {copyFileSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import ts from 'typescript';

copyFileSync('../../verifiers/riffle.mjs', 'dist/verify.mjs');
copyFileSync('src/verify.d.mts', 'dist/verify.d.mts');
const compilerOptions = {module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022, esModuleInterop: true};
for (const name of readdirSync('dist')) {
  const [, stem, kind] = /^(.*?)(\.d\.m?ts|\.m?js)$/.exec(name) ?? [];
  if (!kind) continue;
  const text = readFileSync(`dist/${name}`, 'utf8')
    .replace(/^if \(globalThis\.process.*?^}\nasync function main.*?^}\n/ms, '') // the command of the verifier
    .replace(/(['"]\.\/\w+)\.m?js(?=['"])/g, '$1.cjs');
  if (kind.startsWith('.d')) writeFileSync(`dist/${stem}.d.cts`, text);
  else writeFileSync(`dist/${stem}.cjs`, ts.transpileModule(text, {compilerOptions}).outputText);
}
