import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bench } from './bench.js';
import { Program } from './processes/program.js';
import { makeFile } from './registrant-files/make-file.js';
import type { MadeFormat } from './registrant-files/make-file.js';
import type { ReadMeasurement } from './registrant-files/read-main.js';
import type { Run } from './report/run.js';

/** Rows of about 120 bytes that make 200 MB. */
const rowsOf200Mb = 1_560_000;

/** Reading, mapping and checking a file of registrants, without the service and the ledger. */
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
          bench: 'registrant-file',
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
  const line = await program.lineLike(/^measured (.+)$/, 10 * 60_000);
  await program.ended(30_000);
  const measured = JSON.parse(line[1]!) as ReadMeasurement;
  if (measured.sendable !== rows) throw new Error(`of ${rows} rows, ${measured.sendable} were found fit to be sent`);
  rmSync(path);
  const { seconds, cpuSeconds, peakRssMb } = measured;
  return {
    run: { contender: `${format}, ${megabytes} MB`, items: rows, seconds, cpuSeconds, peakRssMb, requests: 0 },
    megabytes,
  };
}
