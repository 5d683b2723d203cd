import { kinds } from '../kit/scenario-kinds.js';
import type * as Withdrawals from '../../delivering/consent-changes.js';
import { attendee } from '../kit/items.js';
import { useStages } from '../kit/stage.js';

const counted: number[] = [];
jest.mock('../../delivering/consent-changes.js', () => {
  const actual = jest.requireActual<typeof Withdrawals>('../../delivering/consent-changes.js');
  return {
    ...actual,
    withdrawalsLeft: async (...given: Parameters<typeof Withdrawals.withdrawalsLeft>) => {
      const left = await actual.withdrawalsLeft(...given);
      counted.push(left);
      return left;
    },
  };
});

const stages = useStages();

describe.each(kinds)('withdrawals of consent, on %s', (kind) => {
  it('are counted only in a cycle in which a person withdraws', async () => {
    counted.length = 0;
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(1), attendee(2), attendee(3, { consent: { obtained: false } }));
    const archive = '{ type: file, folder: ./archive, consent: { accept: [obtained] }, onConsentWithdrawn: forget }';
    const scene = await stage.scene({ sinks: { archive } });
    await scene.settle();
    await stage.patch('attendees', 1, { Name: 'Other' });
    await stage.pollsAreDue();
    await scene.settle();
    expect(counted).toEqual([]);

    await stage.patch('attendees', 1, { consent: { obtained: false } });
    await stage.pollsAreDue();
    await scene.settle();
    expect(counted).toEqual([50]); // the default of deletions.holdAbove.items
    await stage.patch('attendees', 2, { consent: { obtained: false } });
    await stage.pollsAreDue();
    await scene.settle();
    expect(counted).toEqual([50, 49]);
  });
});
