import { formatBytes } from '../base/words.js';
import { shownText } from './text-line.js';

/** Bytes that are counted while they are read. */
export interface CountedBytes extends AsyncIterable<Uint8Array> {
  readonly bytes: number;
}

/** Counts the bytes that pass. */
export function countBytes(parts: AsyncIterable<Uint8Array>): CountedBytes {
  let bytes = 0;
  return {
    get bytes() {
      return bytes;
    },
    async *[Symbol.asyncIterator]() {
      for await (const part of parts) {
        bytes += part.length;
        yield part;
      }
    },
  };
}

const progressEveryMs = 500;

/** Shows on a terminal how much was written, from the first second on, and removes the line at the end. */
export async function* withProgress(
  counted: CountedBytes,
  file: string,
  screen: Pick<NodeJS.WriteStream, 'isTTY' | 'write'> = process.stderr,
): AsyncGenerator<Uint8Array, void, undefined> {
  const startedAt = performance.now();
  const show = (): void => {
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    const text = `writing ${file}: ${formatBytes(counted.bytes)}, ${seconds} s`;
    if (seconds >= 1) screen.write(`\r\u001b[2K${shownText(text, { colours: false })}`);
  };
  const timer = screen.isTTY === true ? setInterval(show, progressEveryMs) : undefined;
  try {
    yield* counted;
  } finally {
    clearInterval(timer);
    if (timer !== undefined) screen.write('\r\u001b[2K');
  }
}
