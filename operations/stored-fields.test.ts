import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../config/config.js';
import { openEmbedded } from '../ledger/drivers/embedded.js';
import { Expression } from '../sinks/mapping/expression.js';
import { openLedger } from '../ledger/ledger.js';
import { testKey } from '../ledger/ledger-key.test-kit.js';
import { storedFieldNotes } from './stored-fields.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stored-fields-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const notesIn = (where: string): ReturnType<typeof storedFieldNotes> =>
  storedFieldNotes({
    store: { kind: 'embedded', folder: where },
    syncs: {},
    sinks: { crm: { settings: { from: 'attendees', email: new Expression('item.Email') } } },
  } as unknown as Config);

describe('notes about the fields stored by a pigeonpost that does not run', () => {
  it('are not known where there is no store, and none is made', async () => {
    const nowhere = join(folder, 'data');
    expect(await notesIn(nowhere)).toBeUndefined();
    expect(existsSync(nowhere)).toBe(false);
  });

  it('are read when it can be opened, and not while it is in use', async () => {
    const db = await openEmbedded({ folder });
    try {
      expect(await notesIn(folder)).toBeUndefined(); // in use
    } finally {
      await db.close();
    }
    const again = await openEmbedded({ folder });
    await openLedger(again, testKey);
    await again.close();
    expect(await notesIn(folder)).toEqual([]);
  });
});
