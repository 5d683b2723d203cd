import type { Planned, Subject } from '../sinks/sink.js';
import { planShown, withHiddenReason } from './plan-shown.js';
import { curableReasons, mappingReasons } from './recent-decisions.js';

describe('the plan of changes whose identity is visible or hidden', () => {
  const subjects = [{}, {}] as Subject[];
  const shown = [{ identity: true }, { identity: false }];
  const plan = async (planned: Planned) => await planShown({ plan: async () => [planned, planned] }, subjects, shown);

  it('has another reason for a missing value of a hidden person, and the same new mapping decides again', async () => {
    const [named, hidden] = await plan({ kind: 'nothing', reason: 'no-actor' });
    expect([named, hidden]).toEqual([
      { kind: 'nothing', reason: 'no-actor' },
      { kind: 'nothing', reason: 'identity-hidden:no-actor' },
    ]);
    expect(curableReasons).toContain('identity-hidden:no-actor');
    expect(mappingReasons).not.toContain('identity-hidden:no-actor');
  });

  it.each<Planned>([
    { kind: 'nothing', reason: 'condition' },
    { kind: 'nothing', reason: 'unchanged' },
    { kind: 'unplannable', cause: 'mapping', detail: 'x' },
    { kind: 'send', operation: {} as never },
  ])('is otherwise the plan of the sink: %j', async (planned) => {
    expect(await plan(planned)).toEqual([planned, planned]);
  });

  it('is corrected in the same way if a look-up settles it', () => {
    expect(withHiddenReason({ kind: 'nothing', reason: 'no-user' }, { identity: false })).toMatchObject({
      reason: 'identity-hidden:no-user',
    });
  });
});
