import { mergePatch } from './json.js';

describe('mergePatch', () => {
  it('merges objects, removes what is null and replaces the rest', () => {
    const target = { a: { b: 1, c: 2 }, list: [1, 2], gone: true };
    expect(mergePatch(target, { a: { c: 3 }, list: [9], gone: null })).toEqual({ a: { b: 1, c: 3 }, list: [9] });
  });

  it('leaves its arguments as they were', () => {
    const target = { a: { b: 1 } };
    mergePatch(target, { a: { b: null } });
    expect(target).toEqual({ a: { b: 1 } });
  });
});
