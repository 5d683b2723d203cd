import type { Config } from '../config/config.js';
import type { Ledger } from '../ledger/ledger.js';
import { numberedLanes } from './lane-plans.js';

const config = {
  syncs: { all: { workspace: 'acme', lists: 'auto', sinks: ['archive'] } },
  sinks: { archive: { type: 'file', folder: './archive' } },
} as unknown as Config;

describe('the lanes of a sink with their numbers', () => {
  it('ask the store only for the lane of the workspace, however many pigeonholes there are', async () => {
    const asked: unknown[] = [];
    const query = async (_: string, parameters: unknown): Promise<unknown[]> => {
      asked.push(parameters);
      return [{ pigeonholeNumber: 7 }];
    };
    const selected = Array.from({ length: 300 }, (_, at) => {
      return { workspace: 'acme', pigeonholeId: 101 + at, pigeonholeNumber: 1000 + at, status: 'live', syncs: ['all'] };
    });
    const lanes = await numberedLanes({ config, ledger: { db: { query } } as unknown as Ledger }, 'archive', selected);
    expect(asked).toEqual([['acme', 0]]);
    expect([...lanes].map(([number, { pigeonholeId }]) => [number, pigeonholeId])).toEqual([
      ...selected.map(({ pigeonholeNumber, pigeonholeId }) => [pigeonholeNumber, pigeonholeId]),
      [7, 0],
    ]);
  });
});
