import { mkdtempSync, rmSync, statSync, createWriteStream, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bench, Run } from './report.js';
import { Program } from './processes/program.js';
import type { ReadMeasurement } from './registrant-files/read-main.js';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { writeXlsx } from './registrant-files/write-xlsx.js';

/** Number of rows of about 120 bytes in a file of 200 MB. */
const rowsOf200Mb = 1_560_000;

/** Measures reading, mapping and checking a file of registrants, without the service and the ledger. */
export const registrantFile: Bench = {
  name: 'registrant-file',
  about: 'reading and checking --items registrants in CSV, XLSX and NDJSON, and a CSV file of 200 MB, in flat memory',
  async run(options, report) {
    const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-bench-'));
    try {
      const rows = options.items ?? 100_000;
      for (const [format, count] of [
        ['csv', rows],
        ['xlsx', rows],
        ['ndjson', rows],
        ['csv', rowsOf200Mb],
      ] as const) {
        const { run, megabytes } = await readOnce(folder, format, count);
        report.run(run);
        report.figure({
          what: `peak RSS, ${count.toLocaleString('en')} rows of ${format} (${megabytes} MB)`,
          value: run.peakRssMb,
          unit: 'MB',
          must: { atMost: 250 },
        });
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
};

async function readOnce(folder: string, format: MadeFormat, rows: number): Promise<{ run: Run; megabytes: number }> {
  const path = join(folder, `people-${rows}.${format}`);
  await makeFile(path, format, rows);
  const megabytes = Math.round(statSync(path).size / 1e6);
  const program = new Program({
    program: 'bench/registrant-files/read-main',
    args: [path],
    env: {},
    cwd: folder,
    logFile: `${path}.log`,
  });
  const measured = await program.measured<ReadMeasurement>(10 * 60_000);
  if (measured.sendable !== rows)
    throw new Error(`${measured.sendable} of ${rows} rows can be sent; all of them should be valid`);
  rmSync(path);
  const { seconds, cpuSeconds, peakRssMb } = measured;
  return {
    run: { contender: `${format}, ${megabytes} MB`, items: rows, seconds, cpuSeconds, peakRssMb, requests: 0 },
    megabytes,
  };
}

type MadeFormat = 'csv' | 'xlsx' | 'ndjson';

const header = ['Attendee code', 'Full name', 'E-mail', 'Company', 'Phone', 'Note'];

/** Writes a list of invented people to a file. Every cell except the company is different in each row. */
async function makeFile(path: string, format: MadeFormat, rows: number): Promise<void> {
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
