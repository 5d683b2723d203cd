import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../config/config.js';
import { openEmbedded } from '../ledger/drivers/embedded.js';
import { openLedger } from '../ledger/ledger.js';
import { testKey } from '../ledger/ledger-key.test-kit.js';
import { storedFields } from './stored-fields.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stored-fields-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const fieldsIn = (where: string): ReturnType<typeof storedFields> =>
  storedFields({ store: { kind: 'embedded', folder: where } } as Config, ['attendees', 'votes']);

describe('the fields stored by a pigeonpost that does not run', () => {
  it('are not known where there is no store, and none is made', async () => {
    const nowhere = join(folder, 'data');
    expect(await fieldsIn(nowhere)).toBeUndefined();
    expect(existsSync(nowhere)).toBe(false);
  });

  it('are read when it can be opened; not while it is in use, or before it is a ledger', async () => {
    const db = await openEmbedded({ folder });
    try {
      expect(await fieldsIn(folder)).toBeUndefined(); // in use
    } finally {
      await db.close();
    }
    expect(await fieldsIn(folder)).toBeUndefined(); // no tables
    const again = await openEmbedded({ folder });
    await openLedger(again, testKey);
    await again.close();
    expect(await fieldsIn(folder)).toEqual(
      new Map([
        ['attendees', []],
        ['votes', []],
      ]),
    );
  });
});
