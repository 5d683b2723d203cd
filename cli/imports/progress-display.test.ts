import { Pace, createUploadDisplay } from './progress-display.js';

describe('the rate of an import', () => {
  it('is known after a second with progress', () => {
    const pace = new Pace();
    expect(pace.note(0, 0)).toBeNull();
    expect(pace.note(500, 500)).toBeNull();
    expect(pace.note(1000, 2000)).toBe(500);
  });

  it('covers the last 30 s', () => {
    const pace = new Pace();
    pace.note(0, 0);
    for (let s = 1; s <= 60; s += 1) pace.note(100 * s, 1000 * s);
    for (let s = 61; s <= 91; s += 1) pace.note(6000 + 10 * (s - 60), 1000 * s);
    expect(pace.note(6320, 92_000)).toBe(10);
  });

  it('starts again after a wait', () => {
    const pace = new Pace();
    pace.note(0, 0);
    pace.forget();
    expect(pace.note(1000, 3_600_000)).toBeNull();
    expect(pace.note(3000, 3_602_000)).toBe(1000);
  });
});

describe('the progress of reading a file', () => {
  it('is redrawn in place five times a second, cut at the edge, and removed', () => {
    const drawn: string[] = [];
    let nowMs = 0;
    const out = { draw: (text: string) => void drawn.push(text), columns: 24 };
    const display = createUploadDisplay(out, { doing: 'checking p.csv', fileBytes: 1000, now: () => nowMs });
    for (const bytes of [10, 20, 500, 1000]) {
      display.onSent(bytes);
      nowMs += 150;
    }
    display.end();
    expect(drawn).toEqual(['\rchecking p.csv: 1 %\u001b[K', '\rchecking p.csv: 50 %\u001b[K', '\r\u001b[K']);
    expect(
      createUploadDisplay({ ...out, columns: 10 }, { doing: 'checking p.csv', fileBytes: 0, now: () => 0 }).onSent(0),
    ).toBeUndefined();
    expect(drawn.at(-1)!.replace('\r', '').replace('\u001b[K', '').length).toBeLessThanOrEqual(10);
  });

  it('is not drawn before anything was sent', () => {
    const draw = jest.fn();
    createUploadDisplay({ draw, columns: 80 }, { doing: 'x', fileBytes: 1, now: () => 0 }).end();
    expect(draw).not.toHaveBeenCalled();
  });
});
