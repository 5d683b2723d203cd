import { randomUUID } from 'node:crypto';
import type { Client, WorkflowStartOptions } from '@temporalio/client';
import { anyStore, useBothDatabases } from '../ledger/drivers/both-databases.test-kit.js';
import { requester } from '../ledger/imports/dropped-files.js';
import { beginImport, startImport } from '../ledger/imports/imports.js';
import { testKey } from '../ledger/ledger-key.test-kit.js';
import { openLedger } from '../ledger/ledger.js';
import { pigeonholeNumberOf } from '../ledger/pigeonholes.js';
import { runningImports } from '../importing/read-import.js';
import { Wakes } from '../cycles/wakes.js';
import { createStarter, discovering, importing } from './orchestration.js';

const databases = useBothDatabases();

describe('the workflow of an import', () => {
  it('has priority over those of files from drop folders', async () => {
    const ledger = await openLedger(databases.of(anyStore), testKey);
    const pigeonholeNumber = await pigeonholeNumberOf(ledger, 'acme', 101);
    const ids = { dropped: randomUUID(), requested: randomUUID() };
    for (const [by, id] of [[requester, ids.dropped] as const, ['ada', ids.requested] as const]) {
      const about = { id, pigeonholeNumber, file: 'people.csv', mapping: {}, requestedBy: by, canary: null };
      await startImport(ledger, await beginImport(ledger, about), 0);
    }
    const started = new Map<string, number | undefined>();
    const client = {
      workflow: {
        start: async (_: string, { workflowId, priority }: WorkflowStartOptions) =>
          void started.set(workflowId, priority?.priorityKey),
      },
    } as unknown as Client;
    const wakes = new Wakes(null, { warn: () => undefined });
    const starter = createStarter(client, 'queue', { ledger, wakes }, async () => undefined);
    for (const each of await runningImports(ledger)) await starter.start(importing(each));
    await starter.start(discovering('acme'));
    expect(Object.fromEntries(started)).toEqual({
      [`import/${ids.dropped}`]: 4,
      [`import/${ids.requested}`]: 2,
      'discover/acme': undefined,
    });
  });
});
