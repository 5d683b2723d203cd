import { createUploadDisplay } from './upload-display.js';

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
