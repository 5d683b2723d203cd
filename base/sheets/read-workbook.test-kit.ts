import { buffer } from 'node:stream/consumers';
import { parser as saxParser } from 'sax';
import { fromBufferPromise } from 'yauzl';

/** A cell as a spreadsheet reads it; null is an empty one. Days and moments are numbers of days. */
export type ReadCell = string | boolean | { readonly number: number } | { readonly days: number } | null;

export interface ReadSheet {
  readonly name: string;
  readonly rows: readonly (readonly ReadCell[])[];
}

/** Characters that XML 1.0 cannot hold. */
const forbidden = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;

/** Reads a workbook with libraries that did not write it, as ECMA-376 says. Throws if a part is not well-formed. */
export async function readWorkbook(parts: AsyncIterable<Uint8Array>): Promise<ReadSheet[]> {
  const zip = await fromBufferPromise(await collected(parts));
  const files = new Map<string, string>();
  for await (const entry of zip.eachEntry()) {
    const text = (await buffer(await zip.openReadStreamPromise(entry))).toString('utf8');
    if (forbidden.test(text)) throw new Error(`${entry.fileName} has a character that XML cannot hold`);
    files.set(entry.fileName, text);
  }
  const names: string[] = [];
  parse(files.get('xl/workbook.xml')!, { open: (name, { name: own }) => name === 'sheet' && names.push(own!) });
  parse(files.get('[Content_Types].xml')!, {});
  parse(files.get('xl/styles.xml')!, {});
  return names.map((name, index) => ({ name, rows: rowsIn(files.get(`xl/worksheets/sheet${index + 1}.xml`)!) }));
}

async function collected(parts: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const found: Uint8Array[] = [];
  for await (const part of parts) found.push(part);
  return Buffer.concat(found);
}

interface Handler {
  readonly open?: (name: string, attributes: Readonly<Record<string, string>>) => unknown;
  readonly text?: (text: string) => void;
  readonly close?: (name: string) => void;
}

function parse(xml: string, { open, text, close }: Handler): void {
  const parser = saxParser(true);
  parser.onopentag = ({ name, attributes }) => open?.(name, attributes as Record<string, string>);
  parser.ontext = (found) => text?.(found);
  parser.onclosetag = (name) => close?.(name);
  parser.onerror = (error) => {
    throw error;
  };
  parser.write(xml).close();
}

const dates = new Set(['2', '3']);

function rowsIn(xml: string): ReadCell[][] {
  const rows: ReadCell[][] = [];
  let cell: Readonly<Record<string, string>> = {};
  let content = '';
  parse(xml, {
    open(name, attributes) {
      if (name === 'row') rows.push([]);
      if (name === 'c') [cell, content] = [attributes, ''];
    },
    text: (text) => void (content += text),
    close(name) {
      if (name !== 'c') return;
      const row = rows.at(-1)!;
      while (row.length < columnIndex(cell['r']!)) row.push(null);
      row.push(valueOf(cell, content));
    },
  });
  return rows;
}

function columnIndex(place: string): number {
  return (
    /^[A-Z]+/
      .exec(place)![0]
      .split('')
      .reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1
  );
}

function valueOf({ t: type, s: style = '0' }: Readonly<Record<string, string>>, content: string): ReadCell {
  if (type === 'inlineStr')
    return content.replaceAll(/_x([0-9A-Fa-f]{4})_/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  if (type === 'b') return content === '1';
  return dates.has(style) ? { days: Number(content) } : { number: Number(content) };
}
