// Writes the types of openapi.yaml, to src/contract.ts or the file that is named. A member that a variant cannot have
// is {not: {}} there, which openapi-typescript takes for anything unless it is told.
import {writeFileSync} from 'node:fs';
import openapiTS, {astToString, COMMENT_HEADER, NEVER} from 'openapi-typescript';

const contract = new URL('../../openapi.yaml', import.meta.url);
const types = await openapiTS(contract, {transform: ({not}) => not && NEVER});
writeFileSync(process.argv[2] ?? new URL('src/contract.ts', import.meta.url), COMMENT_HEADER + astToString(types));
