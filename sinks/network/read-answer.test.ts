import { Readable } from 'node:stream';
import { answeredAtMs, headerText, parsedJson, readText } from './read-answer.js';

/** Returns a body that arrives in these pieces. An error ends it early. */
function bodyOf(...pieces: readonly (Buffer | Error)[]): Readable {
  return Readable.from(
    (function* () {
      for (const piece of pieces) {
        if (piece instanceof Error) throw piece;
        yield piece;
      }
    })(),
  );
}

describe('the text of a response', () => {
  it('is complete even if a character arrives in two pieces', async () => {
    const [first, second] = [Buffer.from('é').subarray(0, 1), Buffer.from('é').subarray(1)];
    expect(await readText(bodyOf(Buffer.from('caf'), first, second), 5)).toBe('café');
  });

  it('is dropped if it is too long, without waiting for the rest', async () => {
    const body = bodyOf(Buffer.from('abc'), Buffer.from('def'), new Error('was read on'));
    expect(await readText(body, 5)).toBeUndefined();
    expect(body.destroyed).toBe(true);
  });

  it('fails if it ends early', async () => {
    const broken = new Error('broken off');
    await expect(readText(bodyOf(Buffer.from('{"a":'), broken), 100)).rejects.toBe(broken);
  });
});

it.each([
  ['{"a":1}', { a: 1 }],
  ['null', null],
  ['<html>', undefined],
  ['', undefined],
  [undefined, undefined],
])('%s is parsed as %j', (text, said) => expect(parsedJson(text)).toEqual(said));

it('the text of a header is its first value', () => {
  expect([headerText(['first', 'second']), headerText('only'), headerText(undefined)]).toEqual([
    'first',
    'only',
    undefined,
  ]);
});

describe('the instant of a response', () => {
  const now = (): number => 42;

  it('is read from the sender’s Date header', () => {
    expect(answeredAtMs('Thu, 01 Jan 2026 00:00:00 GMT', now)).toBe(Date.UTC(2026, 0, 1));
  });

  it.each([undefined, '', 'today'])('is read from the local clock if the Date header is %j', (date) => {
    expect(answeredAtMs(date, now)).toBe(42);
  });
});
