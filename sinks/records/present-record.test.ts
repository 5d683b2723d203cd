import { presentValues } from './present-record.js';

const hourMs = 3_600_000;

/** Returns the time that a value of a record has which was last modified at hour 10. */
function happenedAt(writtenAtHour: number | null, isOurs = false) {
  const record = { values: new Map([['rating', 'Cold']]), lastModifiedAtMs: 10 * hourMs };
  const writtenAtMs = writtenAtHour === null ? null : writtenAtHour * hourMs;
  return presentValues(record, { writtenAtMs, isOurs }).get('rating');
}

describe('the time of a present value', () => {
  it('is that of the last change of the record', () => {
    expect(happenedAt(null)).toEqual({ value: 'Cold', happenedAtMs: 10 * hourMs, isOurs: false });
  });

  it('is that of the last change if a user changed the record after this sink', () => {
    expect(happenedAt(9, true)).toEqual({ value: 'Cold', happenedAtMs: 10 * hourMs, isOurs: true });
  });

  it('is before any other if nobody has changed the record since this sink wrote it for the item', () => {
    expect(happenedAt(10, true)?.happenedAtMs).toBe(Number.NEGATIVE_INFINITY);
  });
});
