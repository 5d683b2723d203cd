import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Database } from '../../ledger/drivers/database.js';
import { packageVersion } from '../../base/package-root.js';
import { BackupError } from './backup-error.js';

/** The form of the archive. A later version that changes it takes the next number, and goes on reading this one. */
const format = 'pigeonpost-backup/1';

const factsSchema = z.object({
  format: z.literal(format),
  /** The instant of the copy: what was committed by then is in it. */
  madeAt: z.iso.datetime(),
  /** The version that made it. */
  pigeonpost: z.string(),
  /** The ledger's newest migration. */
  migration: z.number().int(),
  ledger: z.uuid(),
});

/** What a backup of an embedded store says about itself; nothing of what is in the ledger. */
export type BackupFacts = z.infer<typeof factsSchema>;

/** The file that has the facts, at the head of the archive. */
export const factsFile = 'backup.json';

/** @throws {BackupError} kind `missing` when nothing was ever stored */
export async function backupFactsOf(db: Database): Promise<BackupFacts> {
  const [migrated] = await db.query(`select 1 from pg_tables where tablename = 'ledger'`);
  const [row] =
    migrated === undefined
      ? []
      : await db.query<{ migration: number; ledger: string }>(
          'select (select max(number) from migrations) as migration, id as ledger from ledger',
        );
  if (row === undefined) throw new BackupError('missing', 'the store holds no ledger yet: there is nothing to back up');
  return { format, madeAt: new Date().toISOString(), pigeonpost: packageVersion(), ...row };
}

/** @throws {BackupError} kind `unusable` */
export async function readBackupFacts(folder: string): Promise<BackupFacts> {
  try {
    return factsSchema.parse(JSON.parse(await readFile(join(folder, factsFile), 'utf8')));
  } catch (error) {
    throw new BackupError('unusable', `the file is no backup that this version can read: its ${factsFile} says so`, {
      cause: error,
    });
  }
}
