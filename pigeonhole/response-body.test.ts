import fc from 'fast-check';
import { dataSpan } from './response-body.js';

const spanOf = (text: string): string | undefined => {
  const span = dataSpan(Buffer.from(text));
  return span === undefined ? undefined : Buffer.from(span).toString();
};

describe('the bytes of data', () => {
  it.each([
    ['{"data":[1,2],"meta":{"nextCursor":"a"}}', '[1,2]'],
    ['{"meta":{"data":[0],"nextCursor":"}\\""},"data":[{"a":"]}\\\\"}],"links":{}}', '[{"a":"]}\\\\"}]'],
    ['\uFEFF{ "links" : {} , "data" :[ 1 ] }', '[ 1 ] '],
    ['{"a":1,"data":2}', '2'],
    ['{"data":1,"data":[3]}', '[3]'],
  ])('of %s are %s', (text, span) => {
    expect(spanOf(text)).toBe(span);
  });

  it.each(['{}', '[]', '"data"', 'null', '{"meta":{"data":[]}}', '{"d\\u0061ta":[1],"data":[2]}'])(
    'cannot be found in %s',
    (text) => {
      expect(spanOf(text)).toBeUndefined();
    },
  );

  it('are those that a parser finds in any object', () => {
    const object = fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true });
    const property = fc.property(object, fc.jsonValue(), fc.nat(3), (around, data, indent) => {
      const members = Object.entries(around).filter(([name]) => name !== 'data');
      const half = Math.floor(members.length / 2);
      const whole = Object.fromEntries([...members.slice(0, half), ['data', data], ...members.slice(half)]);
      const span = spanOf(JSON.stringify(whole, null, indent));
      if (span === undefined) return members.some(([name]) => JSON.stringify(name).includes('\\'));
      return JSON.stringify(JSON.parse(span)) === JSON.stringify(data);
    });
    fc.assert(property, { numRuns: 300 });
  });
});
