import { crc32, deflateRawSync } from 'node:zlib';

/** Content of a written cell: a text (stored separately, as Excel does), a number with a style, or raw XML. */
export type WrittenCell =
  | string
  | number
  | null
  | { readonly number: string; readonly style: number }
  | { readonly xml: string };

interface WrittenSheet {
  readonly name: string;
  readonly rows: Iterable<readonly WrittenCell[]>;
  readonly state?: 'hidden' | 'veryHidden';
}

export interface WrittenWorkbook {
  readonly sheets: readonly WrittenSheet[];
  /** Number formats by style, from style 1; a number is a built-in format. */
  readonly formats?: readonly (string | number)[];
  readonly from1904?: boolean;
}

/** Builds a small XLSX file in Excel's layout, for tests and benchmarks. Written from ECMA-376, not from our reader. */
export function writeXlsx(workbook: WrittenWorkbook): Buffer {
  const shared = new Map<string, number>();
  const sheets = workbook.sheets.map((sheet) => ({ ...sheet, xml: sheetXml(sheet.rows, shared) }));
  return writeZip({
    '[Content_Types].xml': contentTypes(sheets.length),
    '_rels/.rels': relationships([['rId1', 'officeDocument', 'xl/workbook.xml']]),
    'xl/workbook.xml': workbookXml(workbook),
    'xl/_rels/workbook.xml.rels': relationships([
      ...sheets.map((_sheet, index): [string, string, string] => [
        `rId${index + 1}`,
        'worksheet',
        `worksheets/sheet${index + 1}.xml`,
      ]),
      ['rIdStyles', 'styles', 'styles.xml'],
      ['rIdTexts', 'sharedStrings', '/xl/sharedStrings.xml'],
    ]),
    'xl/styles.xml': stylesXml(workbook.formats ?? []),
    'xl/sharedStrings.xml': sharedXml(shared),
    ...Object.fromEntries(sheets.map(({ xml }, index) => [`xl/worksheets/sheet${index + 1}.xml`, xml])),
  });
}

/** Builds a zip archive of compressed entries. */
export function writeZip(entries: Readonly<Record<string, string | Buffer>>): Buffer {
  const locals: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(entries)) {
    const bytes = Buffer.from(content);
    const packed = deflateRawSync(bytes);
    const shared = Buffer.alloc(26); // fields that the local header and the central directory share
    shared.writeUInt16LE(20, 0); // version needed
    shared.writeUInt16LE(0x0800, 2); // names in UTF-8
    shared.writeUInt16LE(8, 4); // deflate
    shared.writeUInt32LE(crc32(bytes), 10);
    shared.writeUInt32LE(packed.length, 14);
    shared.writeUInt32LE(bytes.length, 18);
    shared.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), shared, Buffer.from(name), packed]);
    const entry = Buffer.alloc(14);
    entry.writeUInt32LE(offset, 10);
    central.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), shared, entry, Buffer.from(name)]));
    locals.push(local);
    offset += local.length;
  }
  const contents = Buffer.concat(central);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(central.length, 4);
  end.writeUInt16LE(central.length, 6);
  end.writeUInt32LE(contents.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...locals, contents, Buffer.from('PK\x05\x06'), end]);
}

const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';

function sheetXml(rows: Iterable<readonly WrittenCell[]>, shared: Map<string, number>): string {
  const parts = [`${head}<worksheet xmlns="${main}"><sheetData>`];
  let row = 0;
  for (const cells of rows) {
    row++;
    if (cells.length === 0) continue;
    const written = cells.map((cell, index) => cellXml(cell, `${columnName(index)}${row}`, shared)).join('');
    parts.push(`<row r="${row}" spans="1:${cells.length}">${written}</row>`);
  }
  parts.push('</sheetData><pageMargins left="0.7" right="0.7" top="0.75" bottom="0.75"/></worksheet>');
  return parts.join('');
}

function cellXml(cell: WrittenCell, reference: string, shared: Map<string, number>): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return `<c r="${reference}"><v>${cell}</v></c>`;
  if (typeof cell === 'object') {
    return 'xml' in cell
      ? cell.xml.replace('<c', `<c r="${reference}"`)
      : `<c r="${reference}" s="${cell.style}"><v>${cell.number}</v></c>`;
  }
  const index = shared.get(cell) ?? shared.size;
  shared.set(cell, index);
  return `<c r="${reference}" t="s"><v>${index}</v></c>`;
}

function columnName(index: number): string {
  const letter = String.fromCharCode(65 + (index % 26));
  return index < 26 ? letter : columnName(Math.floor(index / 26) - 1) + letter;
}

function sharedXml(shared: ReadonlyMap<string, number>): string {
  const texts = [...shared.keys()].map((text) => `<si><t xml:space="preserve">${escaped(text)}</t></si>`);
  return `${head}<sst xmlns="${main}" uniqueCount="${shared.size}">${texts.join('')}</sst>`;
}

function stylesXml(formats: readonly (string | number)[]): string {
  const own = formats.map((format, index) =>
    typeof format === 'number' ? '' : `<numFmt numFmtId="${164 + index}" formatCode="${escaped(format)}"/>`,
  );
  const styles = formats.map(
    (format, index) => `<xf numFmtId="${typeof format === 'number' ? format : 164 + index}"/>`,
  );
  return `${head}<styleSheet xmlns="${main}"><numFmts>${own.join('')}</numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/>${styles.join('')}</cellXfs></styleSheet>`;
}

function workbookXml({ sheets, from1904 = false }: WrittenWorkbook): string {
  const tabs = sheets.map(
    ({ name, state }, index) =>
      `<sheet name="${escaped(name)}" sheetId="${index + 1}"${state === undefined ? '' : ` state="${state}"`} r:id="rId${index + 1}"/>`,
  );
  return `${head}<workbook xmlns="${main}" xmlns:r="${office}"><workbookPr${from1904 ? ' date1904="1"' : ''}/><sheets>${tabs.join('')}</sheets></workbook>`;
}

function relationships(relations: readonly (readonly [id: string, type: string, target: string])[]): string {
  const lines = relations.map(
    ([id, type, target]) => `<Relationship Id="${id}" Type="${office}/${type}" Target="${target}"/>`,
  );
  return `${head}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${lines.join('')}</Relationships>`;
}

function contentTypes(sheets: number): string {
  const type = 'application/vnd.openxmlformats-officedocument.spreadsheetml';
  const parts = Array.from(
    { length: sheets },
    (_sheet, index) =>
      `<Override PartName="/xl/worksheets/sheet${index + 1}.xml" ContentType="${type}.worksheet+xml"/>`,
  );
  return `${head}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="${type}.sheet.main+xml"/>${parts.join('')}</Types>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
