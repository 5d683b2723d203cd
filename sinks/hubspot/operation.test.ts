import { type Step, withoutInternal } from './operation.js';

describe('an operation in a preview', () => {
  it('leaves out fields that only record earlier attempts', () => {
    const properties = { email: 'ann@example.com', kind: 'guest', sinceMs: '5' };
    const steps = [
      { kind: 'record', id: null, properties, writtenAtMs: { email: 1 }, sinceMs: null, listsBefore: ['7'] },
    ];
    expect(withoutInternal({ steps: steps as unknown as Step[] })).toEqual({
      steps: [{ kind: 'record', id: null, properties }],
    });
  });
});
