import type { Lane, Operation, Outcome, Sink } from '../sinks/sink.js';
import type { ShownChange } from './candidates.js';
import { sendApart } from './send-apart.js';
import { sendBatch } from './send-batch.js';

const down: Outcome = { kind: 'retry', detail: 'HTTP 500' };
const delivered: Outcome = { kind: 'delivered' };
const change = (n: number, attempts = 0) => ({ list: 'votes', key: String(n), attempts });

/** Sends changes as a lane does that need not deliver all of them in order. */
async function sendAll(changes: readonly ReturnType<typeof change>[], isFailing: boolean, send: Sink['send']) {
  const sink = { traits: { order: 'item' }, send } as Sink;
  const planned = changes.map((_, n) => ({ kind: 'send', operation: { changeId: String(n) } }) as const);
  const held = { lane: { memory: {} } as Lane, signal: new AbortController().signal, confirm: () => undefined };
  const sent = await sendBatch(sink, changes as readonly ShownChange[], planned, { ...held, isFailing });
  return sent.settlements.map(({ kind }) => kind);
}

/** Sends `count` operations to a destination that fails every request with a bad record in it. */
async function send(
  count: number,
  {
    bad = [] as number[],
    isDown = false,
    isFailing = true,
    suspects = [] as number[],
    requests = [] as number[][],
  } = {},
) {
  const changes = Array.from({ length: count }, (_, n) => change(n, suspects.includes(n) ? 1 : 0));
  const kinds = await sendAll(changes, isFailing, async (sent: readonly Operation[]) => {
    const numbers = sent.map(({ changeId }) => Number(changeId));
    requests.push(numbers);
    const fails = isDown || numbers.some((n) => bad.includes(n));
    return { outcomes: numbers.map(() => (fails ? down : delivered)) };
  });
  return { requests, failed: kinds.flatMap((kind, n) => (kind === 'delivered' ? [] : [n])), kinds };
}

describe('a batch in which one record makes every request fail', () => {
  it.each([0, 1, 30, 49, 50, 98, 99])('delivers all others of a hundred if it is number %d', async (n) => {
    const { failed, kinds, requests } = await send(100, { bad: [n] });
    expect(failed).toEqual([n]);
    expect(kinds[n]).toBe('retry');
    expect(requests.length).toBeLessThanOrEqual(18);
  });

  it.each([[[0, 99]], [[3, 4]], [[10, 60, 90]]])('delivers all others if there are several (%j)', async (bad) => {
    const { failed, requests } = await send(100, { bad: bad.filter((n) => n !== 0) });
    expect(failed).toEqual(bad.filter((n) => n !== 0));
    expect(requests.length).toBeLessThanOrEqual(60);
  });

  it('is halved only if the lane failed before', async () => {
    const { failed, requests } = await send(100, { bad: [30], isFailing: false });
    expect([failed.length, requests.length]).toEqual([100, 1]);
  });

  it('does not contain a record that failed while others passed', async () => {
    const { failed, requests } = await send(100, { bad: [30], isFailing: false, suspects: [30, 31] });
    expect(failed).toEqual([30]);
    expect(requests[0]).toHaveLength(98);
    expect(requests[1]).toEqual([30, 31]);
  });
});

describe('several revisions of an item in a batch', () => {
  const of = async (changes: ReturnType<typeof change>[], isFailing: boolean) => {
    const requests: number[] = [];
    const kinds = await sendAll(changes, isFailing, async (sent: readonly Operation[]) => {
      requests.push(sent.length);
      return { outcomes: sent.map(() => delivered) };
    });
    return [kinds, requests];
  };

  it('are sent in order: the later one waits for the next batch if the batch is sent in parts', async () => {
    expect(await of([change(1), change(1), change(2)], false)).toEqual([['delivered', 'delivered', 'delivered'], [3]]);
    expect(await of([change(1), change(1), change(2)], true)).toEqual([['delivered', 'unsent', 'delivered'], [2]]);
    expect(await of([change(1, 1), change(1), change(2)], false)).toEqual([
      ['delivered', 'unsent', 'delivered'],
      [1, 1],
    ]);
  });
});

describe('an outage', () => {
  it('costs two more requests for each batch, and none for a single record', async () => {
    const { failed, requests } = await send(100, { isDown: true });
    expect(failed).toHaveLength(100);
    expect(requests.map(({ length }) => length)).toEqual([100, 1, 1]);
    expect((await send(1, { isDown: true })).requests).toHaveLength(1);
  });

  it('that begins while a batch is halved ends the requests', async () => {
    const requests: number[][] = [];
    const operations = Array.from({ length: 1000 }, (_, n) => ({ changeId: String(n) }));
    const { outcomes } = await sendApart(
      operations,
      {
        lane: { memory: {} } as Lane,
        signal: new AbortController().signal,
        changes: operations.map((_, n) => change(n)),
        isFailing: true,
      },
      async (sent: readonly Operation[]) => {
        requests.push([]);
        return { outcomes: sent.map(() => (requests.length === 2 ? delivered : down)) };
      },
    );
    expect(requests.length).toBeLessThan(20);
    expect(outcomes.map(({ kind }) => kind)).toContain('unsent'); // tried again with the next batch
  });

  it('is not probed if the destination requests a wait or pauses the sink', async () => {
    for (const outcome of [
      { kind: 'retry', detail: 'HTTP 429', afterMs: 5000 },
      { kind: 'pause', cause: 'credential', detail: 'HTTP 401' },
    ] satisfies Outcome[]) {
      let requests = 0;
      const operations = [{ changeId: '1' }, { changeId: '2' }];
      const apart = {
        lane: { memory: {} } as Lane,
        signal: new AbortController().signal,
        changes: [change(1), change(2)],
        isFailing: true,
      };
      const { outcomes } = await sendApart(operations, apart, async (sent: readonly Operation[]) => {
        requests += 1;
        return { outcomes: sent.map(() => outcome) };
      });
      expect([requests, outcomes]).toEqual([1, [outcome, outcome]]);
    }
  });
});
