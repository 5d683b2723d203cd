import { inItemOrder } from './in-item-order.js';
import type { Outcome } from './sink.js';

const operation = (itemKey: string, revision: number) => ({ itemKey, revision });
const kinds = (outcomes: readonly Outcome[]) => outcomes.map(({ kind }) => kind);

/**
 * Delivers with the outcome in `answers` for `<item><revision>`, or else delivered, and records which deliveries
 * started.
 */
function harness(answers: Record<string, Outcome> = {}) {
  const started: string[] = [];
  let inProgress = 0;
  let maxInProgress = 0;
  const deliver = async ({ itemKey, revision }: { itemKey: string; revision: number }): Promise<Outcome> => {
    started.push(`${itemKey}${revision}`);
    maxInProgress = Math.max(maxInProgress, (inProgress += 1));
    await Promise.resolve();
    inProgress -= 1;
    return answers[`${itemKey}${revision}`] ?? { kind: 'delivered' };
  };
  return { started, deliver, maxInProgress: () => maxInProgress };
}

describe('delivering in the order of items', () => {
  it('holds back only later changes of the item that failed', async () => {
    const { deliver, started } = harness({ a1: { kind: 'retry', detail: 'down' } });
    const operations = [operation('a', 1), operation('b', 1), operation('a', 2), operation('b', 2), operation('a', 3)];
    const outcomes = await inItemOrder(operations, { concurrency: 2, mayStart: () => true, deliver });
    expect(kinds(outcomes)).toEqual(['retry', 'delivered', 'unsent', 'delivered', 'unsent']);
    expect(started).toEqual(['a1', 'b1', 'b2']);
  });

  it('continues after a rejected change, which is settled', async () => {
    const { deliver } = harness({ a1: { kind: 'rejected', cause: 'http:400', detail: 'refused' } });
    const outcomes = await inItemOrder([operation('a', 1), operation('a', 2)], {
      concurrency: 2,
      mayStart: () => true,
      deliver,
    });
    expect(kinds(outcomes)).toEqual(['rejected', 'delivered']);
  });

  it('starts nothing after a pause', async () => {
    const { deliver, started } = harness({ b1: { kind: 'pause', cause: 'gone', detail: 'HTTP 410' } });
    const operations = ['a', 'b', 'c', 'd'].map((item) => operation(item, 1));
    const outcomes = await inItemOrder(operations, { concurrency: 1, mayStart: () => true, deliver });
    expect(kinds(outcomes)).toEqual(['delivered', 'pause', 'unsent', 'unsent']);
    expect(started).toEqual(['a1', 'b1']);
  });

  it('starts nothing once mayStart returns false', async () => {
    const { deliver, started } = harness();
    const operations = [operation('a', 1), operation('a', 2), operation('b', 1)];
    const outcomes = await inItemOrder(operations, { concurrency: 1, mayStart: () => started.length < 1, deliver });
    expect(kinds(outcomes)).toEqual(['delivered', 'unsent', 'unsent']);
  });

  it('runs at most the allowed number of deliveries concurrently, and never two of one item', async () => {
    const { deliver, maxInProgress } = harness();
    const operations = ['a', 'b', 'c', 'd', 'e'].map((item) => operation(item, 1));
    await inItemOrder(operations, { concurrency: 3, mayStart: () => true, deliver });
    expect(maxInProgress()).toBe(3);

    const one = harness();
    const ofOneItem = [1, 2, 3].map((revision) => operation('a', revision));
    await inItemOrder(ofOneItem, { concurrency: 3, mayStart: () => true, deliver: one.deliver });
    expect(one.maxInProgress()).toBe(1);
    expect(one.started).toEqual(['a1', 'a2', 'a3']);
  });
});
