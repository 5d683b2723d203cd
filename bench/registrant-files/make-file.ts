import { createWriteStream, writeFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { writeXlsx } from './write-xlsx.js';

export type MadeFormat = 'csv' | 'xlsx' | 'ndjson';

const header = ['Attendee code', 'Full name', 'E-mail', 'Company', 'Phone', 'Note'];

/** Writes a list of made-up people to a file; every cell but the company differs from row to row. */
export async function makeFile(path: string, format: MadeFormat, rows: number): Promise<void> {
  if (format === 'xlsx') {
    writeFileSync(path, writeXlsx({ sheets: [{ name: 'People', rows: table(rows) }] }));
    return;
  }
  await pipeline(Readable.from(lines(format, rows)), createWriteStream(path));
}

function* table(rows: number): Generator<string[]> {
  yield header;
  for (let index = 0; index < rows; index++) yield person(index);
}

function* lines(format: 'csv' | 'ndjson', rows: number): Generator<string> {
  const line =
    format === 'csv'
      ? (cells: readonly string[]) => `${cells.map((cell) => `"${cell}"`).join(',')}\r\n`
      : (cells: readonly string[]) =>
          `${JSON.stringify(Object.fromEntries(header.map((name, at) => [name, cells[at]])))}\n`;
  if (format === 'csv') yield line(header);
  let block = '';
  for (let index = 0; index < rows; index++) {
    block += line(person(index));
    if (block.length < 64 * 1024) continue;
    yield block;
    block = '';
  }
  yield block;
}

function person(index: number): string[] {
  const number = String(index).padStart(7, '0');
  return [
    number,
    `Zoë Attendee ${number}`,
    `attendee.${number}@example.com`,
    `Company ${index % 500}`,
    `+49170${number}`,
    `Arrives on day ${index % 3}, seat ${number}, vegetarian`,
  ];
}
