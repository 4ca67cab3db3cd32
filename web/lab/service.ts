// Orders that the service deals, read while they arrive.

export interface Request { prefix: string; token: string; body: {size: number; repeat: number; algorithm: string} }

/** send asks for shuffles and calls each with every order. It calls progress now and then. */
export async function send({prefix, token, body}: Request, each: (order: Uint8Array) => void, progress: () => void): Promise<void> {
  const answer = await fetch(`${prefix}/shuffle`, {
    method: 'POST', body: JSON.stringify(body),
    headers: {'Content-Type': 'application/json', ...(token !== '' && {Authorization: `Bearer ${token}`})},
  });
  if (!answer.ok) throw new Error(((await answer.json()) as {detail: string}).detail);
  // After the name of their member come the orders, which are nothing but numbers, until the next member.
  const name = body.repeat === 1 ? '"items":[' : '"shuffles":[', order = new Uint8Array(body.size), decoder = new TextDecoder();
  const reader = answer.body!.getReader();
  let head = '', inside = false, ended = false, number = -1, place = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
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
      if (byte === 0x22) { // a quote begins the next member
        ended = true;
        break;
      }
    }
    progress();
  }
}
