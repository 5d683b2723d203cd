import type { Collaborators } from '../cycles/collaborators.js';
import { anotherConfiguration } from '../ledger/configurations.js';
import { type Edition, Editions } from './editions.js';

/** An edition with nothing but its number, because `use` reads nothing else. */
function edition(configuration: number, closed: number[] = []): Edition {
  const deps = { configuration } as Collaborators;
  return { deps, close: async () => void closed.push(configuration) };
}

function unexpected(error: unknown): void {
  throw error;
}

describe('work that takes minutes', () => {
  it('runs again with each configuration that becomes current meanwhile', async () => {
    const closed: number[] = [];
    const editions = new Editions(edition(1, closed), unexpected);
    editions.catchUp = async () => {
      editions.replace(edition(editions.current.configuration + 1, closed));
      return true;
    };
    const used: number[] = [];
    const result = await editions.use(async ({ configuration }) => {
      used.push(configuration);
      if (configuration < 4) throw anotherConfiguration(configuration, configuration + 1);
      return 'done';
    });
    expect(result).toBe('done');
    expect(used).toEqual([1, 2, 3, 4]);
    await editions.close();
    expect(closed).toEqual([1, 2, 3, 4]);
  });

  it('fails if this process cannot adopt the current configuration', async () => {
    const editions = new Editions(edition(1), unexpected);
    await expect(editions.use(() => Promise.reject(anotherConfiguration(1, 2)))).rejects.toMatchObject({
      kind: 'configuration',
    });
  });

  it('fails with the error of the work, without looking for another configuration', async () => {
    const editions = new Editions(edition(1), unexpected);
    let looks = 0;
    editions.catchUp = async () => (looks += 1) > 0;
    await expect(editions.use(() => Promise.reject(new Error('the disk is full')))).rejects.toThrow('the disk is full');
    expect(looks).toBe(0);
  });
});
