import { byReason, type OutcomeCount, sentLanes } from './ledger-status.js';
import { sumOf } from '../base/words.js';
import type { Config } from '../config/config.js';

describe('the counts of a sink', () => {
  it('are summed by reason over lists and pigeonholes, the most frequent first', () => {
    const count = (
      state: OutcomeCount['state'],
      reason: string,
      changes: number,
      list = 'attendees',
    ): OutcomeCount => ({
      list,
      state,
      reason,
      changes,
    });
    const counts = [
      count('withheld', 'condition', 2),
      count('withheld', 'no-match', 3),
      count('withheld', 'no-match', 4, 'votes'),
      count('delivered', '', 9),
      count('dead', 'http:422', 1),
    ];
    expect(Object.entries(byReason(counts, 'withheld'))).toEqual([
      ['no-match', 7],
      ['condition', 2],
    ]);
    expect(sumOf(byReason(counts, 'dead'))).toBe(1);
  });
});

const config = { syncs: { all: { workspace: 'acme', sinks: ['hooks'] } } } as unknown as Config;
const lane = { workspace: 'acme', pigeonholeId: 101, sink: 'hooks' };
const place = { workspace: 'acme', pigeonholeId: 101, syncs: ['all'] };

describe('a lane', () => {
  it.each<[string, boolean, typeof lane, typeof place]>([
    ['of a pigeonhole that a sync of its sink reads is sent', true, lane, place],
    ['of a pigeonhole that its sync no longer selects is not sent', false, lane, { ...place, syncs: [] }],
    ['of a pigeonhole that only another sync reads is not sent', false, lane, { ...place, syncs: ['other'] }],
    ['of a sink that no sync names any longer is not sent', false, { ...lane, sink: 'old' }, place],
    ['of another workspace is not sent', false, { ...lane, workspace: 'beta' }, { ...place, workspace: 'beta' }],
    ['of the same pigeonhole id in another workspace is not sent', false, lane, { ...place, workspace: 'beta' }],
    [
      "of a workspace's own lists is sent",
      true,
      { ...lane, pigeonholeId: 0 },
      { ...place, pigeonholeId: 0, syncs: [] },
    ],
    ['of an unknown pigeonhole is not sent', false, { ...lane, pigeonholeId: 7 }, place],
  ])('%s', (_, isSent, of, at) => {
    expect(sentLanes(config, [of], [at])).toEqual(isSent ? [of] : []);
  });
});
