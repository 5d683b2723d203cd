import { droppedBy, readingRules, withoutFields } from './reading-rules.js';

describe('reading rules', () => {
  it('are the same text whatever the order and repetition of the dropped fields', () => {
    expect(readingRules(['b', 'a', 'b'])).toBe(readingRules(['a', 'b']));
    expect(readingRules(['a'])).not.toBe(readingRules([]));
    expect(readingRules(['a,b'])).not.toBe(readingRules(['a', 'b']));
  });

  it('tell which fields they leave out', () => {
    expect(droppedBy(readingRules(['b', 'a "quoted"']))).toEqual(['a "quoted"', 'b']);
    expect(droppedBy(readingRules([]))).toEqual([]);
  });

  it('leave out a field at the top level alone', () => {
    expect(withoutFields({ a: 1, b: { a: 2 } }, new Set(['a']))).toEqual({ b: { a: 2 } });
  });
});
