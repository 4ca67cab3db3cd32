/** Yields the values of a stream of JSON lines as they arrive. */
export async function* jsonLines<T>(body: ReadableStream<Uint8Array> | null): AsyncGenerator<T> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body!) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop()!;
    for (const line of lines) yield JSON.parse(line) as T;
  }
}
