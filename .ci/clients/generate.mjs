// Generates a client with each of three generators into generated/, and from the examples of the
// contract a file that compiles only if each has the type that openapi-typescript gives it. From the
// schemas quicktype generates types for languages that have no generator here.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createClient } from '@hey-api/openapi-ts';
import openapiTS, { astToString, NEVER } from 'openapi-typescript';
import orval from 'orval';
import { parse } from 'yaml';

const contract = new URL('../../openapi.yaml', import.meta.url);
const generated = new URL('generated/', import.meta.url);
rmSync(generated, { recursive: true, force: true });
mkdirSync(generated);

// A member that a variant cannot have is {not: {}}, which openapi-typescript takes for anything unless it is told.
const types = await openapiTS(contract, { transform: ({ not }) => not && NEVER });
writeFileSync(new URL('openapi-typescript.ts', generated), astToString(types));

await createClient({
  input: contract.pathname,
  output: { path: new URL('hey-api', generated).pathname, tsConfigPath: new URL('tsconfig.json', import.meta.url).pathname },
  plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
  logs: { level: 'warn', file: false },
});

await orval.generate({
  input: contract.pathname,
  output: {
    target: new URL('orval.ts', generated).pathname,
    client: 'fetch',
    override: { mutator: { path: new URL('orval-fetch.ts', import.meta.url).pathname, name: 'request', extension: '.js' } },
  },
});

const { components, paths } = parse(readFileSync(contract, 'utf8'));
const lookup = ({ $ref, ...inline }) => ($ref ? components[$ref.split('/')[2]][$ref.split('/')[3]] : inline);
const lines = ["import type { operations } from './openapi-typescript.js';"];
const typed = (type, content) => {
  for (const [media, { examples = {} }] of Object.entries(content ?? {})) {
    for (const example of Object.values(examples)) {
      lines.push(`(${JSON.stringify(lookup(example).value)}) satisfies ${type}['content']['${media}'];`);
    }
  }
};
for (const { parameters, ...path } of Object.values(paths)) {
  for (const { operationId, requestBody, responses } of Object.values(path)) {
    typed(`NonNullable<operations['${operationId}']['requestBody']>`, requestBody?.content);
    typed(`operations['${operationId}']['responses'][200]`, responses[200].content);
  }
}
writeFileSync(new URL('examples.ts', generated), lines.join('\n') + '\n');
console.log(`${lines.length - 1} examples`);

const properties = Object.fromEntries(Object.keys(components.schemas).map((name) => [name, { $ref: `#/$defs/${name}` }]));
const schemas = JSON.stringify({ $defs: components.schemas, type: 'object', properties });
const schema = new URL('Riffle.json', generated).pathname;
writeFileSync(schema, schemas.replaceAll('#/components/schemas/', '#/$defs/'));
for (const [language, file] of [['cs', 'Riffle.cs'], ['rs', 'riffle.rs'], ['kotlin', 'Riffle.kt'], ['php', 'Riffle.php']]) {
  const out = new URL(file, generated).pathname;
  execFileSync('node_modules/.bin/quicktype', ['--telemetry', 'disable', '-s', 'schema', '-l', language, '-o', out, schema]);
  console.log(`${file}: ${readFileSync(out, 'utf8').split('\n').length} lines`);
}
