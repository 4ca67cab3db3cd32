// Adds to dist what tsc does not: the verifier, unchanged, and its types.
import {copyFileSync} from 'node:fs';
copyFileSync('../../verifiers/riffle.mjs', 'dist/verify.mjs');
copyFileSync('src/verify.d.mts', 'dist/verify.d.mts');
