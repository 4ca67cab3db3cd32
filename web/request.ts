// A request to the API as a stranger would send it.

const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** asCurl returns the shell command that posts a body to an address. */
export function asCurl(url: string, body: unknown, token: boolean): string {
  const header = token ? ` \\\n  -H "Authorization: Bearer $RIFFLE_TOKEN"` : '';
  return `curl ${url}${header} \\\n  --json ${quote(JSON.stringify(body))}`;
}

/** asTypeScript returns the same in TypeScript, with nothing but fetch. */
export function asTypeScript(url: string, body: unknown, token: boolean): string {
  const header = token ? `\n    Authorization: \`Bearer \${process.env.RIFFLE_TOKEN}\`,` : '';
  return `const answer = await fetch('${url}', {
  method: 'POST',
  headers: {
    'Content-Type': 'application/json',
    'Idempotency-Key': crypto.randomUUID(),${header}
  },
  body: JSON.stringify(${JSON.stringify(body)}),
});
const result = await answer.json();`;
}

/** asPython returns the same in Python, with the standard library. */
export function asPython(url: string, body: unknown, token: boolean): string {
  const header = token ? `,\n    "Authorization": "Bearer " + os.environ["RIFFLE_TOKEN"]` : '';
  return `import json, ${token ? 'os, ' : ''}uuid
from urllib.request import Request, urlopen

request = Request("${url}", data=${JSON.stringify(JSON.stringify(body))}.encode(), headers={
    "Content-Type": "application/json",
    "Idempotency-Key": str(uuid.uuid4())${header},
})
result = json.load(urlopen(request))`;
}
