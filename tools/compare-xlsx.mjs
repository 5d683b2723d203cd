// Compares our reader of XLSX files with openpyxl (PyPI) over a folder of workbooks, cell by cell. The sample files of
// spreadsheet libraries are good material: SheetJS, calamine, XlsxWriter, ClosedXML, readxl, ExcelDataReader.
//
//   python3 -m venv venv && venv/bin/pip install openpyxl
//   npm run build && node tools/compare-xlsx.mjs FOLDER venv/bin/python3
//
// Prints each workbook that only one of them reads, and the cells that differ. Neither is always right: judge each
// difference by what a spreadsheet program shows. Known ones: openpyxl keeps escapes such as _x000D_ and the fractions
// of a second.
import { spawn } from 'node:child_process';
import { createReadStream, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const [, , folder, python = 'python3'] = process.argv;
if (folder === undefined || folder === '--help') {
  console.log('usage: node tools/compare-xlsx.mjs FOLDER [PYTHON (python3)]');
  process.exit(folder === undefined ? 2 : 0);
}
const shownCells = 5;
const { readXlsx } = await import(new URL('../dist/importing/files/xlsx/read-xlsx.js', import.meta.url).href);
const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.(xls|xlt)[xm]$/i.test(name))
  .map((name) => join(folder, name))
  .sort();

const other = spawn(python, [fileURLToPath(new URL('read-with-openpyxl.py', import.meta.url))], {
  stdio: ['pipe', 'pipe', 'inherit'],
});
other.stdin.end(paths.map((path) => `${path}\n`).join(''));
const counts = { workbooks: 0, cells: 0, refusedByBoth: 0, refusedByOne: 0, differing: 0 };
for await (const line of createInterface({ input: other.stdout })) report(JSON.parse(line), await ours(line));
console.log(counts);
process.exitCode = counts.workbooks === paths.length ? 0 : 1;

/** Reads a workbook with our reader: texts by sheet and reference, or the sentence that refuses it. */
async function ours(line) {
  const { path, sheets } = JSON.parse(line);
  const texts = new Map();
  const findings = new Map();
  try {
    const first = await readXlsx(createReadStream(path), undefined);
    for (const { name } of first.sheets) {
      if (sheets !== undefined && !sheets.some((sheet) => sheet.name === name)) continue; // a dialog, a macro sheet
      const sheet = await readXlsx(createReadStream(path), name);
      for await (const batch of sheet.rows) {
        for (const row of batch) {
          row.values.forEach((text, column) => {
            if (text !== '') texts.set(`${name}!${columnName(column)}${row.row}`, text);
          });
          for (const { column, kind } of row.findings ?? []) {
            findings.set(`${name}!${columnName(column)}${row.row}`, kind);
          }
        }
      }
    }
    return { texts, findings };
  } catch (error) {
    if (error.name !== 'RegistrantFileError') throw new Error(`reading ${path} failed`, { cause: error });
    return { refused: error.message };
  }
}

function report(theirs, mine) {
  counts.workbooks++;
  const name = theirs.path.slice(folder.length + 1);
  if (theirs.refused !== undefined || mine.refused !== undefined) {
    const isBoth = theirs.refused !== undefined && mine.refused !== undefined;
    counts[isBoth ? 'refusedByBoth' : 'refusedByOne']++;
    if (!isBoth) console.log(`${name}\n  openpyxl: ${theirs.refused ?? 'read'}; we: ${mine.refused ?? 'read'}`);
    return;
  }
  const different = [];
  const seen = new Set();
  for (const sheet of theirs.sheets) {
    for (const [reference, [kind, value, format]] of Object.entries(sheet.cells)) {
      const at = `${sheet.name}!${reference}`;
      const text = mine.texts.get(at) ?? '';
      const finding = mine.findings.get(at);
      seen.add(at);
      counts.cells++;
      if (!isSame(kind, value, text, finding)) different.push([at, `${kind} ${value} as ${format}`, text, finding]);
    }
  }
  for (const [at, text] of mine.texts) if (!seen.has(at)) different.push([at, 'nothing', text, mine.findings.get(at)]);
  if (different.length === 0) return;
  counts.differing++;
  console.log(`${name}: ${different.length} cells`);
  for (const [at, value, text, finding = 'no finding'] of different.slice(0, shownCells)) {
    console.log(`  ${at}: openpyxl ${value}; we ${JSON.stringify(text)} (${finding})`);
  }
}

/** Whether our text is a value of the other reader, as far as the two express the same. */
function isSame(kind, value, text, finding) {
  switch (kind) {
    case 'text':
      return [value, withoutEscapes(value)].some((each) => lines(each) === lines(text)) || isIso(value, text, finding);
    case 'bool':
      return text === (value ? 'TRUE' : 'FALSE');
    case 'error':
      return text === '' && finding === 'error-cell';
    case 'number':
      return isSameNumber(value, text);
    case 'instant':
      if (value < '1900') return finding === undefined; // a negative number in the format of a date: Excel shows none
      return inSeconds(value).includes(text);
    case 'time':
      return inSeconds(`2000-01-01T${value}`).includes(text);
    default:
      return text === clock(value);
  }
}

/** Our text may have the digits of a format, such as 000-00-0000. */
function isSameNumber(value, text) {
  const number = Number(text);
  if (text !== '' && Math.abs(number - value) <= Math.abs(value) * 1e-14) return true;
  return Number.isInteger(value) && /\d/.test(text) && Number(text.replaceAll(/\D/g, '')) === value;
}

/** The forms in which we may give an instant: with the parts that the cell shows. */
function inSeconds(value) {
  const at = new Date(Math.round(Date.parse(`${value}Z`) / 1000) * 1000).toISOString();
  return [at.slice(0, 10), at.slice(0, 19), at.slice(11, 19)];
}

function clock(duration) {
  const seconds = Math.round(duration);
  const two = (number) => String(number).padStart(2, '0');
  return `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}

function withoutEscapes(text) {
  return text.replace(/_x([0-9A-Fa-f]{4})_/g, (_whole, code) => String.fromCharCode(Number.parseInt(code, 16)));
}

/** openpyxl leaves some dates of strict documents as text. */
function isIso(value, text, finding) {
  return finding === 'date-cell' && text !== '' && value.startsWith(text);
}

/** XML parsers may give a line end as CR LF; a registrant's is LF. */
function lines(text) {
  return text.replace(/\r+\n/g, '\n');
}

function columnName(index) {
  const letter = String.fromCharCode(65 + (index % 26));
  return index < 26 ? letter : columnName(Math.floor(index / 26) - 1) + letter;
}
