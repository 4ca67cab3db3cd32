// Lets riffle.mjs find the package @noble/curves among those of the pages: node --import ./curves.mjs vectors.mjs
import {register} from 'node:module';

const pages = new URL('../web/', import.meta.url).href;
const hook = `export const resolve = (name, context, next) =>
  next(name, name.startsWith('@noble/') ? {...context, parentURL: '${pages}'} : context);`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);
