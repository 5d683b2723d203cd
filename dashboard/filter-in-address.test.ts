import { filterIn, withFilter } from './filter-in-address.js';

describe('filters in the address', () => {
  it('are read from the parameters, empty where there are none', () => {
    expect(filterIn('#/audit-log?who=a%20b&other=1', ['who', 'action'])).toEqual({ who: 'a b', action: '' });
    expect(filterIn('#/audit-log', ['who'])).toEqual({ who: '' });
  });

  it('are written without empty ones', () => {
    expect(withFilter('#/audit-log?who=x', { who: 'a&b', action: '' })).toBe('#/audit-log?who=a%26b');
    expect(withFilter('#/audit-log?who=x', { who: '' })).toBe('#/audit-log');
  });
});
