// Requests filled in and written for curl: as the docs are built, and as pages change them.

/**
 * requestOf makes the path with its query, and the headers, of the values that are given.
 * @param {{path: string, parameters: {name: string, place: string, isQuery: boolean}[]}} operation
 * @param {Record<string, string>} values
 */
export function requestOf({path, parameters}, values) {
  const query = new URLSearchParams(),
    /** @type {Record<string, string>} */
    headers = {};
  let filled = path;
  for (const {name, place, isQuery} of parameters) {
    const value = values[name]?.trim() ?? '';
    if (place === 'path')
      filled = filled.replace(
        `{${name}}`,
        value
          .replace(/\p{Cs}/gu, '')
          .split('/')
          .map(encodeURIComponent)
          .join('/'),
      );
    else if (value === '') continue;
    else if (isQuery) new URLSearchParams(value).forEach((value, name) => query.append(name, value));
    else if (place === 'query') query.append(name, value);
    else headers[name] = value;
  }
  return {path: `${filled}${query.size > 0 ? `?${query}` : ''}`, headers};
}

/** plain is what a shell takes as it stands. */
const plain = /^[\w:/.%-]+$/;

/** @param {string} text */
const quote = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * asCurl writes a request for a shell, with the token of the environment if there is one.
 * @param {import('./request').Call} call
 * @param {boolean} token
 */
export const asCurl = ({method, url, writes, headers = {}, body}, token) =>
  [
    `curl ${method === 'GET' || body !== undefined ? '' : `-X ${method} `}${plain.test(url) ? url : quote(url)}`,
    ...(token ? ['-H "Authorization: Bearer $RIFFLE_TOKEN"'] : []),
    ...(writes ? ['-H "Idempotency-Key: $(openssl rand -hex 16)"'] : []),
    ...Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...(body !== undefined ? [`--json ${quote(body)}`] : []),
  ].join(' \\\n  ');
