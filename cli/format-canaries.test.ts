import type { ReadyCheck } from '../operations/ready/readiness.js';
import { formatCanaries } from './format-ready.js';

const line = (state: ReadyCheck['state']): ReadyCheck => ({
  id: 'canary:crm',
  label: 'Canary through crm (hubspot)',
  state,
  says: 'it was sent and taken back',
});

describe('what canaries came to', () => {
  it.each<[string, ReadyCheck['state'][], string]>([
    ['all came through', ['ok', 'ok'], 'canaries: all came through and were taken back'],
    ['one is to be looked at', ['ok', 'warning'], 'canaries: none failed, 1 to look at'],
    ['one was refused', ['ok', 'warning', 'failed'], 'canaries: 1 of 3 did not come through'],
    ['one broke off', ['unknown'], 'canaries: 1 of 1 did not come through'],
    ['there is no sink', [], 'no sink to send a canary to'],
  ])('is said at the end where %s', (_, states, last) => {
    const lines = formatCanaries(states.map(line), { columns: 80, colours: false });
    expect(lines).toHaveLength(states.length + 1);
    expect(lines.at(-1)).toBe(last);
  });
});
