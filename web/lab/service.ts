// Orders that the service deals, read while they arrive.

export interface Request {
  token: string;
  body: {size: number; repeat: number; algorithm: string};
}

/** A Refusal says why there are no orders. Its status is 0 if no answer came, or only a part. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

const lost = () => {
  throw new Refusal(0, '');
};

/** send asks for shuffles and calls each with every order. It calls progress now and then, and throws a Refusal. */
export async function send(
  {token, body}: Request,
  each: (order: Uint8Array) => void,
  progress: () => void,
): Promise<void> {
  const answer = await fetch('/shuffle', {
    method: 'POST',
    body: JSON.stringify(body),
    headers: {'Content-Type': 'application/json', ...(token !== '' && {Authorization: `Bearer ${token}`})},
  }).catch(lost);
  if (!answer.ok) throw new Refusal(answer.status, ((await answer.json()) as {detail: string}).detail);
  // After the name of their member come the orders, which are nothing but numbers, until the next member.
  const name = body.repeat === 1 ? '"items":[' : '"shuffles":[',
    order = new Uint8Array(body.size),
    decoder = new TextDecoder();
  const reader = answer.body!.getReader();
  const more = () => reader.read().catch(lost);
  let head = '',
    inside = false,
    ended = false,
    number = -1,
    place = 0;
  for (let part = await more(); !part.done; part = await more()) {
    let bytes = part.value;
    if (ended) continue;
    if (!inside) {
      head += decoder.decode(bytes, {stream: true});
      const at = head.indexOf(name);
      if (at < 0) continue;
      inside = true;
      bytes = new TextEncoder().encode(head.slice(at + name.length));
    }
    for (const byte of bytes) {
      if (byte >= 0x30 && byte <= 0x39) {
        number = Math.max(0, number) * 10 + byte - 0x30;
        continue;
      }
      if (number >= 0) {
        order[place++] = number;
        number = -1;
        if (place === body.size) {
          each(order);
          place = 0;
        }
      }
      if (byte === 0x22) {
        // a quote begins the next member
        ended = true;
        break;
      }
    }
    progress();
  }
}
