import fc from 'fast-check';
import { canonicalJson } from './canonical-json.js';

function withReversedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withReversedKeys);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).map(([key, member]) => [key, withReversedKeys(member)] as const);
  return Object.fromEntries(entries.toReversed());
}

describe('canonical JSON', () => {
  it('matches the example of RFC 8785, section 3.2.3', () => {
    const value = JSON.parse(
      '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],' +
        '"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}',
    ) as unknown;
    expect(canonicalJson(value)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
  });

  it('sorts members by UTF-16 code units, as in RFC 8785, section 3.2.3', () => {
    const value = { '€': 1, '\r': 2, '\ufb33': 3, '1': 4, '😀': 5, '\u0080': 6, ö: 7 };
    expect(Object.values(JSON.parse(canonicalJson(value)) as object)).toHaveLength(7);
    const order = [...canonicalJson(value).matchAll(/:(\d)/g)].map(([, digit]) => Number(digit));
    expect(order).toEqual([2, 4, 6, 7, 1, 5, 3]);
  });

  it('is the same for any order of members, and parses to the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value);
        expect(canonicalJson(withReversedKeys(value))).toBe(text);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('distinguishes a name that contains a NUL character from two names', () => {
    expect(canonicalJson({ a: 1, b: 2 })).toBe('{"a":1,"b":2}');
    expect(canonicalJson({ 'a\u0000b': 3 })).toBe('{"a\\u0000b":3}');
    expect(canonicalJson({ 'x\u0000y': 1, z: 2 })).toBe('{"x\\u0000y":1,"z":2}');
    expect(canonicalJson({ x: 1, 'y\u0000z': 2 })).toBe('{"x":1,"y\\u0000z":2}');
  });

  it('keeps a lone surrogate as an escape, and keeps members named __proto__ or constructor', () => {
    expect(canonicalJson('\ud800')).toBe('"\\ud800"');
    expect(canonicalJson(JSON.parse('{"__proto__":1,"constructor":2}'))).toBe('{"__proto__":1,"constructor":2}');
  });

  it('sorts names that look like integers, which objects list first, among the other names at any depth', () => {
    const text = '{"a":[{"!":1,"10":2,"9":3,"a":4}],"links":0,"z":{"__proto__":{"b":1},"y":2}}';
    expect(canonicalJson(withReversedKeys(JSON.parse(text)))).toBe(text);
    expect(canonicalJson(JSON.parse(text), new Set(['links']))).toBe(text.replace('"links":0,', ''));
  });

  it('is correct for a shape that appears again after 100,000 others', () => {
    for (let n = 0; n < 100_000; n += 1) canonicalJson({ [`name ${n}`]: n, a: 1 });
    expect(canonicalJson({ b: 1, a: 2 })).toBe('{"a":2,"b":1}');
    expect(canonicalJson({ 'name 99999': 1, a: 1 })).toBe('{"a":1,"name 99999":1}');
  });

  it('omits the named keys at any depth, and undefined values', () => {
    const value = { links: 1, a: [{ links: { b: 1 }, c: undefined, d: {} }] };
    expect(canonicalJson(value, new Set(['links']))).toBe('{"a":[{"d":{}}]}');
  });
});
