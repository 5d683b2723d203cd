import type { Collaborators, InUse } from '../work/collaborators.js';
import { createActivities } from './create-activities.js';

describe('a request in a signal to a workflow', () => {
  it.each(['pause', 'resume', 'poll-now', 'sweep'] as const)(
    'changes nothing, because every client of Temporal can send it: %s',
    async (request) => {
      const statements: string[] = [];
      const warned: string[] = [];
      const run = async (sql: string): Promise<unknown[]> => {
        statements.push(sql);
        return [];
      };
      const db = {
        query: run,
        script: run,
        transaction: async (work: (tx: object) => unknown) => await work({ query: run }),
      };
      const deps = { ledger: { db }, log: { warn: (_: object, text: string) => warned.push(text) } };
      const inUse = { use: (work: (given: Collaborators) => unknown) => work(deps as unknown as Collaborators) };
      const activities = createActivities(inUse as unknown as InUse);
      await activities.handleWorkRequest({ kind: 'sink', name: 'hooks' }, request);
      expect(statements).toEqual([]);
      expect(warned).toEqual(['ignored a signal with a request that only the API may make']);
    },
  );
});
