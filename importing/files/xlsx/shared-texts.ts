import { readLimits } from '../read-limits.js';
import { RegistrantFileError } from '../registrant-file.js';
import { cellText } from './cell-value.js';
import { readXml } from './xml-events.js';

const pageBytes = 1024 * 1024;

/**
 * The shared strings of an XLSX file, packed as UTF-8: JavaScript strings would take several times the memory.
 */
export class SharedTexts {
  readonly #pages: Buffer[] = [];
  /** Offset of free space in the last page. */
  #used = pageBytes;
  /** Start of each text over all pages, and its length in bytes. */
  #places = new Float64Array(1024);
  #lengths = new Uint32Array(1024);
  #count = 0;

  /** @param maxBytes total size of all texts */
  constructor(private readonly maxBytes: number = readLimits.sharedTextBytes) {}

  /** @throws {RegistrantFileError} kind `too-large` if all texts need too much memory */
  add(text: string): void {
    if (this.#count >= readLimits.sharedTexts) throw tooMuchText();
    const length = Buffer.byteLength(text);
    if (this.#pages.length === 0 || this.#used + length > pageBytes) this.#addPage(length);
    const page = this.#pages.length - 1;
    if (this.#count === this.#lengths.length) this.#grow();
    this.#places[this.#count] = page * pageBytes + this.#used;
    this.#lengths[this.#count] = length;
    this.#used += this.#pages[page]!.write(text, this.#used);
    this.#count++;
  }

  /** Returns a text by its index; undefined if there is none. */
  at(index: number): string | undefined {
    if (!(index >= 0 && index < this.#count)) return undefined;
    const place = this.#places[index]!;
    const start = place % pageBytes;
    return this.#pages[Math.floor(place / pageBytes)]!.toString('utf8', start, start + this.#lengths[index]!);
  }

  #addPage(atLeastBytes: number): void {
    if (atLeastBytes > pageBytes || (this.#pages.length + 1) * pageBytes > this.maxBytes) {
      throw tooMuchText();
    }
    this.#pages.push(Buffer.allocUnsafeSlow(pageBytes));
    this.#used = 0;
  }

  #grow(): void {
    const places = new Float64Array(2 * this.#count);
    places.set(this.#places);
    this.#places = places;
    const lengths = new Uint32Array(2 * this.#count);
    lengths.set(this.#lengths);
    this.#lengths = lengths;
  }
}

function tooMuchText(): RegistrantFileError {
  return new RegistrantFileError(
    'too-large',
    'The XLSX file holds more text than can be kept in memory; save the sheet as CSV, which has no such limit.',
  );
}

/** Reads `sharedStrings.xml`: joins the runs of a formatted text and skips pronunciation hints. */
export async function readSharedTexts(content: AsyncIterable<Buffer> | undefined): Promise<SharedTexts> {
  const texts = new SharedTexts();
  if (content === undefined) return texts;
  const text = cellText();
  await readXml(content, {
    open: text.open,
    text: text.text,
    close: (name) => {
      text.close(name);
      if (name === 'si') texts.add(text.take());
    },
  });
  return texts;
}
