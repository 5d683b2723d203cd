import type { Config } from '../config/config.js';
import type { Ledger } from '../ledger/ledger.js';
import { rememberForecast } from './remembered-forecast.js';

const hour = 3_600_000;
const config = {} as Config;

function remembering() {
  let now = 0;
  let failure: Error | undefined;
  const asked: (readonly number[])[] = [];
  const forecast = rememberForecast(
    async (_, __, spansMs) => {
      asked.push(spansMs);
      if (failure !== undefined) throw failure;
      return spansMs.map((ms) => ({ live: ms / 1000, idle: 0, sweep: 1 }));
    },
    () => now,
  );
  const ask = async (spansMs: readonly number[], given: { config?: Config; workspaces?: string[] } = {}) =>
    await forecast({ ledger: {} as Ledger, config, ...given }, given.workspaces ?? ['acme'], spansMs, 0);
  return { ask, asked, pass: (ms: number) => void (now += ms), fail: (error?: Error) => void (failure = error) };
}

describe('a remembered forecast', () => {
  it('is computed once a minute, and more often by a process that has just started', async () => {
    const { ask, asked, pass } = remembering();
    await ask([hour]);
    pass(900);
    await ask([hour]);
    expect(asked).toHaveLength(1);
    pass(101);
    await ask([hour]); // the first one may have known no streams
    expect(asked).toHaveLength(2);
    pass(300_000);
    await ask([hour]);
    pass(59_000);
    await ask([hour]);
    expect(asked).toHaveLength(3);
    pass(1001);
    await ask([hour]);
    expect(asked).toHaveLength(4);
  });

  it('gives a span that is shorter by now its share', async () => {
    const { ask, asked } = remembering();
    await ask([hour, 100_000]);
    expect(await ask([hour, 50_000])).toEqual([
      { live: 3600, idle: 0, sweep: 1 },
      { live: 50, idle: 0, sweep: 0.5 },
    ]);
    expect(asked).toHaveLength(1);
  });

  it('is computed again for another configuration, other workspaces, or another window', async () => {
    const { ask, asked } = remembering();
    await ask([hour]);
    await ask([hour], { workspaces: ['acme', 'beta'] });
    await ask([hour], { config: {} as Config });
    await ask([24 * hour], { config: {} as Config });
    expect(asked).toHaveLength(4);
  });

  it('is not remembered if it fails', async () => {
    const { ask, asked, fail } = remembering();
    fail(new Error('the store failed'));
    await expect(ask([hour])).rejects.toThrow('the store failed');
    fail();
    expect(await ask([hour])).toHaveLength(1);
    expect(asked).toHaveLength(2);
  });
});
