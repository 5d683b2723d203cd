import { Pace } from './pace.js';

describe('the pace of an import', () => {
  it('is told once a second has passed in which something happened', () => {
    const pace = new Pace();
    expect(pace.note(0, 0)).toBeNull();
    expect(pace.note(500, 500)).toBeNull();
    expect(pace.note(1000, 2000)).toBe(500);
  });

  it('is that of the last half a minute', () => {
    const pace = new Pace();
    pace.note(0, 0);
    for (let s = 1; s <= 60; s += 1) pace.note(100 * s, 1000 * s);
    for (let s = 61; s <= 91; s += 1) pace.note(6000 + 10 * (s - 60), 1000 * s);
    expect(pace.note(6320, 92_000)).toBe(10);
  });

  it('begins anew after a wait', () => {
    const pace = new Pace();
    pace.note(0, 0);
    pace.forget();
    expect(pace.note(1000, 3_600_000)).toBeNull();
    expect(pace.note(3000, 3_602_000)).toBe(1000);
  });
});
