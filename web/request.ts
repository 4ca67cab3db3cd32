// A shuffle as a request, and that request as a stranger would send it.

/** A Shuffle is the body of POST /shuffle. Members that are not given are left out. */
export interface Shuffle {
  deck: string; decks?: number; parameters?: Record<string, number>;
  hands?: string | number[]; draw?: number; algorithm?: string; client_seed?: string; reveal?: 'now';
}

const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** asCurl returns the shell command that sends the request. */
export function asCurl(base: string, body: unknown, token: boolean): string {
  const header = token ? ` \\\n  -H "Authorization: Bearer $RIFFLE_TOKEN"` : '';
  return `curl ${base}/shuffle${header} \\\n  --json ${quote(JSON.stringify(body))}`;
}

/** asTypeScript returns the same in TypeScript, with nothing but fetch. */
export function asTypeScript(base: string, body: unknown, token: boolean): string {
  const header = token ? `\n    Authorization: \`Bearer \${process.env.RIFFLE_TOKEN}\`,` : '';
  return `const answer = await fetch('${base}/shuffle', {
  method: 'POST',
  headers: {
    'Content-Type': 'application/json',
    'Idempotency-Key': crypto.randomUUID(),${header}
  },
  body: JSON.stringify(${JSON.stringify(body)}),
});
const shuffle = await answer.json();`;
}

/** asPython returns the same in Python, with the standard library. */
export function asPython(base: string, body: unknown, token: boolean): string {
  const header = token ? `,\n    "Authorization": "Bearer " + os.environ["RIFFLE_TOKEN"]` : '';
  return `import json, ${token ? 'os, ' : ''}uuid
from urllib.request import Request, urlopen

request = Request("${base}/shuffle", data=${JSON.stringify(JSON.stringify(body))}.encode(), headers={
    "Content-Type": "application/json",
    "Idempotency-Key": str(uuid.uuid4())${header},
})
shuffle = json.load(urlopen(request))`;
}
