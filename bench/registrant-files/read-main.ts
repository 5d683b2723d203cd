/**
 * Reads a file of registrants as an import does, as a separate process that measures itself and prints one line of
 * JSON. Usage: node dist/bench/registrant-files/read-main.js FILE
 */
import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { measured, type Measurement, printMeasured } from '../processes/print-measured.js';
import { isSendable } from '../../importing/files/checked-row.js';
import { guessMapping } from '../../importing/files/column-mapping.js';
import { openRegistrantFile } from '../../importing/files/open-registrant-file.js';
import { RowCheck } from '../../importing/files/row-check.js';

export interface ReadMeasurement extends Measurement {
  readonly rows: number;
  readonly sendable: number;
}

async function run(path: string): Promise<Omit<ReadMeasurement, keyof Measurement>> {
  const file = await openRegistrantFile(createReadStream(path), { name: basename(path) });
  const check = new RowCheck({ mapping: guessMapping(file.columns, []) });
  let rows = 0;
  let sendable = 0;
  for await (const batch of file.rows) {
    rows += batch.length;
    sendable += check.check(batch).filter(isSendable).length;
  }
  return { rows, sendable };
}

printMeasured(
  'read',
  measured(() => run(process.argv[2] ?? '')),
);
