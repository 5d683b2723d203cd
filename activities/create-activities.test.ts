import type { Collaborators, InUse } from '../cycles/collaborators.js';
import { MockActivityEnvironment } from '@temporalio/testing';
import { LedgerError } from '../ledger/ledger-error.js';
import { createActivities } from './create-activities.js';

/** A process that adopts another configuration each time that the work fails because of it, as `Editions` does. */
function changingConfigurations(deps: Collaborators, onRepeat: () => void): InUse {
  return {
    async use(work) {
      for (;;) {
        try {
          return await work(deps);
        } catch (error) {
          if (!(error instanceof LedgerError) || error.kind !== 'configuration') throw error;
          onRepeat();
        }
      }
    },
  } as InUse;
}

afterEach(() => jest.restoreAllMocks());

it('a stay that configurations interrupt again and again ends in its two minutes', async () => {
  let nowMs = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
  let repeats = 0;
  const deps = {
    stopping: new AbortController().signal,
    wakes: { listen: () => () => undefined },
    tracer: { span: () => Promise.reject(new LedgerError('configuration', 'another configuration is current')) },
    onCycle: () => undefined,
  } as unknown as Collaborators;
  const current = changingConfigurations(deps, () => {
    repeats += 1;
    nowMs += 50_000;
  });
  const activities = createActivities(current);
  const stay = await new MockActivityEnvironment().run(() => activities.deliverStay('crm'));
  expect(stay).toEqual({ state: 'working', reason: 'time' });
  expect(repeats).toBeLessThanOrEqual(3);
});
