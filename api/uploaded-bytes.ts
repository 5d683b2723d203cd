/** A file may have so many bytes: far more than a list of people, and what can be taken in within minutes. */
export const mostUploadedBytes = 1024 ** 3;

/** The body is longer than what is taken. */
export class UploadTooLarge extends Error {
  override readonly name = 'UploadTooLarge';

  constructor(mostBytes: number) {
    super(`the file is larger than ${Math.floor(mostBytes / 1024 ** 2)} MB: split it and import the parts`);
  }
}

/**
 * The body of an upload, piece by piece. Whoever stops reading it early does not break the connection: `drain` takes
 * the rest, since a client that is still sending would not see an answer.
 */
export class UploadedBytes implements AsyncIterable<Uint8Array> {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  readonly #mostBytes: number;
  #bytes = 0;
  #ended = false;

  constructor(body: ReadableStream<Uint8Array> | null, mostBytes = mostUploadedBytes) {
    this.#reader = body?.getReader();
    this.#mostBytes = mostBytes;
    this.#ended = body === null;
  }

  /** @throws {UploadTooLarge} */
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    for (let piece = await this.#next(); piece !== undefined; piece = await this.#next()) {
      if (this.#bytes > this.#mostBytes) throw new UploadTooLarge(this.#mostBytes);
      yield piece;
    }
  }

  /** Reads what is left, up to the limit, and lets go of it. Never rejects: a connection that broke has no rest. */
  async drain(): Promise<void> {
    try {
      while ((await this.#next()) !== undefined && this.#bytes <= this.#mostBytes);
      if (!this.#ended) await this.#reader?.cancel();
    } catch {
      this.#ended = true;
    }
  }

  async #next(): Promise<Uint8Array | undefined> {
    if (this.#ended || this.#reader === undefined) return undefined;
    const { done, value } = await this.#reader.read();
    this.#ended = done;
    this.#bytes += value?.byteLength ?? 0;
    return value;
  }
}
