/**
 * Yields the lines of NDJSON. Only a line feed ends a line. Node's `readline` also splits at U+2028 and U+2029 from Node
 * 24 on, which JSON may contain.
 */
export async function* jsonLines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const piece of bytes) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n');
    rest = lines.pop()!;
    yield* lines;
  }
  rest += decoder.decode();
  if (rest !== '') yield rest;
}
