import { FaultPlan, type FaultEffect } from './faults.js';

const request = (path: string) => ({ method: 'POST', path, body: '' });
const dropBefore: FaultEffect = { kind: 'dropBefore' };

describe('a plan of faults', () => {
  it('applies an effect once after the skipped requests', () => {
    const plan = new FaultPlan();
    plan.add({ effect: dropBefore, path: '/a', skip: 1 });
    expect(['/a', '/b', '/a', '/a'].map((path) => plan.take(request(path)))).toEqual([
      undefined,
      undefined,
      dropBefore,
      undefined,
    ]);
    expect(plan.waiting).toBe(0);
  });

  it('calls a function for each request, and applies the next fault to the others', () => {
    const plan = new FaultPlan();
    plan.add({ effect: ({ path }) => (path === '/a' ? dropBefore : undefined) }, { effect: { kind: 'dropAfter' } });
    expect(['/a', '/b', '/a', '/b'].map((path) => plan.take(request(path))?.kind)).toEqual([
      'dropBefore',
      'dropAfter',
      'dropBefore',
      undefined,
    ]);
  });
});
