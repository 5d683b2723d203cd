import { Pace, createUploadDisplay } from './progress-display.js';

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

describe('how far a file is read', () => {
  it('is drawn over itself five times a second, cut at the edge, and taken away', () => {
    const drawn: string[] = [];
    let nowMs = 0;
    const out = { draw: (text: string) => void drawn.push(text), columns: 24 };
    const display = createUploadDisplay(out, { doing: 'looking at p.csv', fileBytes: 1000, now: () => nowMs });
    for (const bytes of [10, 20, 500, 1000]) {
      display.onSent(bytes);
      nowMs += 150;
    }
    display.end();
    expect(drawn).toEqual(['\rlooking at p.csv: 1 %\u001b[K', '\rlooking at p.csv: 50 %\u001b[K', '\r\u001b[K']);
    expect(
      createUploadDisplay({ ...out, columns: 10 }, { doing: 'looking at p.csv', fileBytes: 0, now: () => 0 }).onSent(0),
    ).toBeUndefined();
    expect(drawn.at(-1)!.replace('\r', '').replace('\u001b[K', '').length).toBeLessThanOrEqual(10);
  });

  it('draws nothing where nothing was sent', () => {
    const draw = jest.fn();
    createUploadDisplay({ draw, columns: 80 }, { doing: 'x', fileBytes: 1, now: () => 0 }).end();
    expect(draw).not.toHaveBeenCalled();
  });
});
