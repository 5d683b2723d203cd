import { closeSync, openSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';

/** Reads what a child appends to its log, line by line. */
export class LogTail {
  readonly #file: string;
  readonly #decoder = new StringDecoder('utf8'); // a character may be cut where a read ends
  #offset = 0;
  #rest = '';

  constructor(file: string) {
    this.#file = file;
  }

  /** The lines that were completed since the last call; none while there is no such file. */
  newLines(): string[] {
    const lines = (this.#rest + this.#read()).split('\n');
    this.#rest = lines.pop() ?? '';
    return lines;
  }

  #read(): string {
    let descriptor: number;
    try {
      descriptor = openSync(this.#file, 'r');
    } catch {
      return '';
    }
    try {
      const chunk = Buffer.alloc(64 * 1024);
      let text = '';
      for (let length = -1; length !== 0; this.#offset += length) {
        length = readSync(descriptor, chunk, 0, chunk.length, this.#offset);
        text += this.#decoder.write(chunk.subarray(0, length));
      }
      return text;
    } finally {
      closeSync(descriptor);
    }
  }
}
