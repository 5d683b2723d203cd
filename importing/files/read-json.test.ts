import fc from 'fast-check';
import { openRegistrantFile } from './open-registrant-file.js';
import { inChunks, readAll, refusalOf, valuesOf } from './open-registrant-file.test-kit.js';

const people = [
  { attendeeCode: '00123', Name: 'Ada "A" {[}] L' },
  { attendeeCode: '1E5', Name: 'Böb\\' },
];

describe('a JSON file', () => {
  it.each([
    ['a list', JSON.stringify(people), 'json'],
    ['a list over several lines', JSON.stringify(people, null, 2), 'json'],
    ['a list in data', JSON.stringify({ data: people }), 'json'],
    [
      'a list in data beside other fields',
      JSON.stringify({ meta: { data: [1], note: '"data": [' }, data: people, more: [2] }, null, 1),
      'json',
    ],
    ['one object per line', people.map((one) => JSON.stringify(one)).join('\n'), 'ndjson'],
    [
      'one object per line with empty lines',
      `\n${people.map((one) => JSON.stringify(one)).join('\r\n\r\n')}\r\n`,
      'ndjson',
    ],
    ['objects that span several lines', people.map((one) => JSON.stringify(one, null, 2)).join('\n'), 'ndjson'],
  ])('is read as %s, regardless of how it is split into chunks', async (_name, text, format) => {
    for (const chunkBytes of [1, 2, 5, 64, 4096]) {
      const file = await readAll(text, { chunkBytes });
      expect(file.format).toBe(format);
      expect(file.columns).toEqual(['attendeeCode', 'Name']);
      expect(file.rows).toEqual([
        { row: 2, values: ['00123', 'Ada "A" {[}] L'] },
        { row: 3, values: ['1E5', 'Böb\\'] },
      ]);
    }
  });

  it('has the fields of all elements as columns, in the order in which they appear', async () => {
    const text = JSON.stringify([{ a: '1' }, { b: '2', a: '3' }, { c: null }]);
    expect((await readAll(text)).columns).toEqual(['a', 'b', 'c']);
    expect(await valuesOf(text)).toEqual([
      ['1', '', ''],
      ['3', '2', ''],
      ['', '', ''],
    ]);
  });

  it('reports a field that first appears after the inspected part, so that no value is lost silently', async () => {
    const lines = Array.from({ length: 5_000 }, (_one, index) =>
      JSON.stringify({ code: `A${index}`, note: 'x'.repeat(1_000) }),
    );
    const text = [...lines, JSON.stringify({ code: 'B', late: 'y' }), JSON.stringify({ code: 'C', late: '' })].join(
      '\n',
    );
    const found = (await readAll(text)).rows.filter(({ findings }) => findings !== undefined);
    expect(found.map(({ row, findings }) => [row, findings])).toEqual([
      [5_002, [{ column: null, kind: 'late-field' }]],
    ]);
  });

  it('converts numbers and booleans to text, never in scientific notation', async () => {
    const text = '[{"a": 1E5, "b": 1.50, "c": true, "d": 0.0000001, "e": 1e14, "f": -0}]';
    expect(await valuesOf(text)).toEqual([['100000', '1.5', 'true', '0.0000001', '100000000000000', '0']]);
  });

  it('reports numbers that lost digits, and values that are not text', async () => {
    const { rows } = await readAll('[{"a": 12345678901234567890, "b": {"x": 1}, "c": ["y"]}, "nobody"]');
    expect(rows).toEqual([
      {
        row: 2,
        values: ['12345678901234567000', '', ''],
        findings: [
          { column: 0, kind: 'digits-lost' },
          { column: 1, kind: 'nested-value' },
          { column: 2, kind: 'nested-value' },
        ],
      },
      { row: 3, values: ['', '', ''], findings: [{ column: null, kind: 'not-an-object' }] },
    ]);
  });

  it('keeps a field that is called __proto__', async () => {
    expect(await valuesOf('[{"__proto__": "x", "constructor": "y"}, {"a": "z"}]')).toEqual([
      ['x', 'y', ''],
      ['', '', 'z'],
    ]);
  });

  it.each([
    [
      'an element that is not JSON',
      '[{"a": "Secret"}, {"a": Secret}]',
      'damaged',
      'Element 2 is not valid JSON; correct or export it again.',
    ],
    [
      'a line that is not JSON',
      '{"a": "Secret"}\n{"a": \n',
      'damaged',
      'The JSON breaks off or closes a wrong bracket after element 1, in line 3; export it again.',
    ],
    [
      'a list that is cut off',
      '[{"a": "Secret"}, {"a": "b"}',
      'damaged',
      'The JSON breaks off or closes a wrong bracket after element 1, in line 1; export it again.',
    ],
    ['an empty list', '[]', 'empty', 'The JSON list is empty; export it again.'],
    [
      'a list without objects',
      '["Secret", 1]',
      'not-a-table',
      'The JSON list holds no objects with fields; give one object for each registrant.',
    ],
  ])('is refused with one sentence that quotes no data: %s', async (_name, text, kind, message) => {
    const refusal = await refusalOf(text);
    expect([refusal.kind, refusal.message, refusal.cause]).toEqual([kind, message, undefined]);
  });

  it.each([
    ['two lists', '[{"a": "1"}]\n[{"a": "2"}]', 2],
    ['two lists in one line', '[{"a": "1"}][{"a": "2"}]', 1],
    ['two pages', '{"data": [{"a": "1"}]}\n\n{"data": [{"a": "2"}]}', 3],
    ['a page with two lists', '{"data": [{"a": "1"}], "next": null,\n"data": [{"a": "2"}]}', 2],
    ['a list and an object', '[{"a": "1"}],\n{"a": "2"}', 1],
    ['a bracket too many', '[{"a": "1"}\n]\n, {"a": "2"}]', 3],
    ['a list and a word', '[{"a": "1"}]\r\nnull', 2],
  ])('is refused if anything follows the end of its list: %s', async (_name, text, line) => {
    for (const chunkBytes of [1, 4096]) {
      const refusal = await refusalOf(text, { chunkBytes });
      expect([refusal.kind, refusal.message]).toEqual([
        'damaged',
        `The list of the JSON ends after element 1, but more follows in line ${line}; put all registrants into one list, or import each list as a file of its own.`,
      ]);
    }
  });

  it.each([
    ['a list that ends with the bracket of an object', '[{"a": "1"}}'],
    ['a page that breaks off after its list', '{"data": [{"a": "1"}], "next": 2'],
    ['a page that ends with the bracket of a list', '{"data": [{"a": "1"}]]'],
    ['an object that ends with the bracket of a list', '[{"a": "1"]]'],
  ])('is refused as damaged: %s', async (_name, text) => {
    expect((await refusalOf(text)).kind).toBe('damaged');
  });

  it('is refused with the name of the member that holds the list', async () => {
    const page = { count: 1, next: null, results: [{ attendeeCode: '1' }] };
    expect((await refusalOf(JSON.stringify(page))).message).toBe(
      'The JSON is an object whose list is in "results"; give only the list, [{…}, …], or {"data": [{…}, …]}.',
    );
    const registrant = { attendeeCode: '1', sessions: [{ id: 1 }] };
    expect((await readAll(JSON.stringify(registrant))).columns).toEqual(['attendeeCode', 'sessions']);
  });

  it('reports an object that has a field twice', async () => {
    const { rows } = await readAll('[{"a\\\\": "x:\\"", "b": {"b": 1}}, {"a": ":", "a": "2"}]');
    expect(rows.map(({ findings }) => findings?.map(({ kind }) => kind))).toEqual([
      ['nested-value'],
      ['repeated-field'],
    ]);
  });

  it('is refused if an object larger than the inspected part contains no list', async () => {
    const refusal = await refusalOf(`{"a": "${'x'.repeat(70_000)}", "b": [1], "c": {"data": [2]}}`);
    expect(refusal.message).toBe(
      'The JSON is not a list of registrants; use [{…}, …], {"data": [{…}, …]}, or one object a line.',
    );
  });

  it('yields portions that are never empty', async () => {
    const file = await openRegistrantFile(inChunks('{"a": 1}\n'.repeat(2_000)), { name: 'people' });
    const lengths: number[] = [];
    for await (const portion of file.rows) lengths.push(portion.length);
    expect(lengths).toEqual([1_000, 1_000]);
  });

  it('is refused if one element exceeds the size limit', async () => {
    expect((await refusalOf(`[{"a": "${'x'.repeat(1_100_000)}"}]`)).kind).toBe('too-large');
  });

  it('is read correctly for any texts, in each of its forms', async () => {
    const text = fc.string({
      unit: fc.constantFrom('a', '"', '\\', '[', ']', '{', '}', ',', ':', '\n', 'é', '日', '😀'),
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ a: text, b: text }), { minLength: 1, maxLength: 6 }),
        fc.constantFrom('list', 'data', 'lines'),
        fc.integer({ min: 1, max: 40 }),
        async (rows, form, chunkBytes) => {
          const whole =
            form === 'lines'
              ? rows.map((row) => JSON.stringify(row)).join('\n')
              : JSON.stringify(form === 'list' ? rows : { x: '"data":[', data: rows });
          expect(await valuesOf(whole, { chunkBytes })).toEqual(rows.map(({ a, b }) => [a, b]));
        },
      ),
      { numRuns: 100 },
    );
  });
});
