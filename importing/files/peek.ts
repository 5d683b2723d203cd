export interface Peeked {
  /** The first bytes: at least the requested number, unless the source is shorter. */
  readonly head: Buffer;
  /** All bytes including the head. Read it once. */
  readonly bytes: AsyncIterable<Buffer>;
  /** Releases the source (a socket, a file) if `bytes` is not read to its end; a second call does nothing. */
  readonly release: () => Promise<void>;
}

/** Reads the start of a stream without consuming it. */
export async function peek(source: AsyncIterable<Uint8Array>, atLeastBytes: number): Promise<Peeked> {
  const iterator = source[Symbol.asyncIterator]();
  const chunks: Buffer[] = [];
  let length = 0;
  let ended = false;
  while (length < atLeastBytes && !ended) {
    const next = await iterator.next();
    ended = next.done === true;
    if (next.done === true) break;
    chunks.push(asBuffer(next.value));
    length += next.value.byteLength;
  }
  const head = Buffer.concat(chunks);
  const release = async () => {
    // `bytes` cannot do this itself: a generator that was never started does not run its `finally`
    if (!ended) await iterator.return?.();
    ended = true;
  };
  return { head, bytes: headThenRest(head, ended ? undefined : iterator, release), release };
}

async function* headThenRest(
  head: Buffer,
  rest: AsyncIterator<Uint8Array> | undefined,
  release: () => Promise<void>,
): AsyncGenerator<Buffer, void, undefined> {
  try {
    if (head.length > 0) yield head;
    while (rest !== undefined) {
      const next = await rest.next();
      if (next.done === true) return;
      yield asBuffer(next.value);
    }
  } finally {
    await release();
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
