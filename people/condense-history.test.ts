import { condense, type PastChange, type PastDelivery } from './condense-history.js';

/** Five changes of one item, with these numbers; those in `snapshots` still have their content. */
const history = (snapshots: readonly number[] = []): PastChange[] =>
  [2, 4, 6, 8].map((sequence) => ({
    sequence,
    previous: sequence === 2 ? null : sequence - 2,
    hasSnapshot: snapshots.includes(sequence),
  }));
const delivery = (sequence: number, state: string, more: Partial<PastDelivery> = {}): PastDelivery => ({
  sinkId: 1,
  sequence,
  replay: 0,
  state,
  identity: null,
  attempts: 0,
  ...more,
});
const delivered = (sequence: number, more: Partial<PastDelivery> = {}): PastDelivery =>
  delivery(sequence, 'delivered', more);
const droppedOf = (...deliveries: PastDelivery[]): number[] =>
  condense(history(), deliveries).deliveries.map(({ sequence }) => sequence);

describe('the history of an item', () => {
  it('keeps the last change and what arrived last at each sink', () => {
    const all = [2, 4, 6, 8].flatMap((n) => [delivered(n), delivered(n, { sinkId: 2 })]);
    const { deliveries, changes, links } = condense(history(), all);
    expect(deliveries).toEqual(all.slice(0, 6));
    expect(changes).toEqual([2, 4, 6]);
    expect(links).toEqual([{ sequence: 8, previous: null }]);
  });

  it('links the changes that it keeps', () => {
    const all = [delivered(2), delivery(4, 'withheld'), delivered(6), delivered(8)];
    expect(condense(history(), all)).toMatchObject({
      changes: [2, 6],
      links: [
        { sequence: 4, previous: null },
        { sequence: 8, previous: 4 },
      ],
    });
  });

  it('stays linked to changes before those that were read', () => {
    const later = history().slice(1);
    expect(condense(later, [delivered(4), delivered(6), delivered(8)])).toMatchObject({
      changes: [4, 6],
      links: [{ sequence: 8, previous: 2 }],
    });
  });

  it('keeps a change whose content is still stored', () => {
    expect(condense(history([4]), [delivered(2), delivered(4), delivered(6), delivered(8)]).changes).toEqual([2, 6]);
  });

  it('drops changes that no sink received', () => {
    expect(condense(history(), []).changes).toEqual([2, 4, 6]);
  });

  it.each([
    ['is withheld', [delivery(2, 'withheld'), delivered(8)]],
    ['is a dead letter', [delivery(2, 'dead'), delivered(8)]],
    ['is being sent', [delivery(2, 'sending'), delivered(8)]],
    ['waits', [delivery(2, 'waiting'), delivery(4, 'retry'), delivered(8)]],
    ['was sent with the identity, and nothing later was', [delivered(2, { identity: true }), delivered(8)]],
    [
      'removed the person, and nothing later did',
      [delivered(2, { identity: false }), delivered(8, { identity: true })],
    ],
    ['arrived last', [delivered(2), delivery(8, 'withheld')]],
    ['arrived at another sink', [delivered(2), delivered(8, { sinkId: 2 })]],
    [
      'may have arrived before it was superseded',
      [delivery(2, 'superseded', { attempts: 1 }), delivery(8, 'withheld')],
    ],
  ])('keeps a delivery that %s', (_, deliveries) => {
    expect(droppedOf(...deliveries)).toEqual([]);
  });

  it.each([
    ['was superseded untried', [delivery(2, 'superseded'), delivery(8, 'withheld')]],
    ['was tried and superseded before one arrived', [delivery(2, 'superseded', { attempts: 3 }), delivered(8)]],
    ['arrived before a replay of the same change', [delivered(2), delivered(2, { replay: 1 })]],
    ['arrived with the identity before another', [delivered(2, { identity: true }), delivered(8, { identity: true })]],
  ])('drops a delivery that %s', (_, deliveries) => {
    expect(droppedOf(...deliveries)).toEqual([2]);
  });
});
