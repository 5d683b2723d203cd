import { Expression, mappingView, numberValue, textValue } from './expression.js';
import { MappingError } from './mapping-error.js';
import { viewOf } from './view-of.test-kit.js';
import { subjectOf } from '../plan-of.test-kit.js';
import { sampleChange } from '../sample-change.test-kit.js';

const secretText = 'maria.lopez@example.com';
const key = 'crm.records[0].properties.email';

async function failureOf(text: string, item: Record<string, unknown> = {}): Promise<MappingError> {
  const expression = new Expression(text);
  expression.standsAt({ line: 34, key: `sinks.${key}` });
  const failure = await expression.evaluate(viewOf(item), key).then(
    (value) => new Error(`it gave ${JSON.stringify(value)?.slice(0, 100)}`),
    (error: unknown) => error,
  );
  expect(failure).toBeInstanceOf(MappingError);
  return failure as MappingError;
}

describe('an expression', () => {
  it('returns plain data that equals its JSON form', async () => {
    const value = await new Expression('{ "all": item.tags, "one": item.tags[0], "none": item.nothing }').evaluate(
      viewOf({ tags: ['a', 'b'] }),
      key,
    );
    expect(value).toStrictEqual({ all: ['a', 'b'], one: 'a' });
  });

  it('returns nothing for a function', async () => {
    expect(await new Expression('$uppercase').evaluate(viewOf({}), key)).toBeUndefined();
  });

  it.each([
    ['itemm..', 'it ends too early'],
    ['$fild("Email")', 'there is no function $fild (at character 5)'],
    ['$eval(item.content)', 'it would run the text of an item as an expression'],
    ['($r := $random; $r())', 'the same item has to give the same value each time'],
    ['$match(item.a, /a(?=b)/)', 'has no look-ahead'],
    ['$match(item.a, /(a)\\1/)', 'back-reference'],
  ])('is rejected when it is compiled: %s', (text, reason) => {
    const compile = (): Expression => new Expression(text);
    if (reason === 'it ends too early') expect(compile).toThrow(SyntaxError);
    else expect(compile).toThrow(reason);
  });

  it('may define and call its own functions, whatever their names are', async () => {
    const text = '($random := function($n) { $n + 1 }; $map([1], function($v) { $random($v) }))';
    expect(await new Expression(text).evaluate(viewOf({}), key)).toBe(2);
  });

  it.each([
    '($eval := $eval; $eval(item.content))',
    'function($eval){$eval}($eval)(item.content)',
    '($f := function($eval){ 1 }; $eval(item.content))',
    '(function($eval){ 1 }; $f := $eval; $f(item.content))',
    '[1]@$eval.$eval(item.content)',
    '(function($eval){ 1 }; $g := function($f){ $f($$.item.content) }; $g($eval))',
    '($f := function($eval){ 1 }; item.content ~> $eval)',
    '(function($eval){ 1 }; $map([item.content], $eval))',
    '(function($eval){ 1 }; $f := $eval(?); $f(item.content))',
    '(function($eval){ 1 }; ($eval ~> $string)(item.content))',
    '(function($random){ 1 }; $random())',
    '(function($shuffle){ 1 }; $shuffle([1, 2]))',
  ])('cannot call an unavailable function under any name: %s', async (text) => {
    expect((await failureOf(text, { content: '1+1' })).causeCode).toMatch(/: (?:withheld|T\d{4})$/);
  });

  it('reports sink, key, line, item and code if it fails', async () => {
    const failure = await failureOf('$lowercase(item.Email)', { Email: 7 });
    expect(failure.causeCode).toBe('mapping: crm.records[0].properties.email: T0410');
    expect(failure.message).toBe(
      'crm.records[0].properties.email (line 34 of the configuration) for questions:9001 failed: T0410, a function received a value of the wrong type, at character 11',
    );
  });

  it('also reports them if its value has the wrong type', async () => {
    const expression = new Expression('item.Email');
    expression.standsAt({ line: 34, key: `sinks.${key}` });
    await expect(expression.evaluate(viewOf({ Email: secretText }), key, numberValue)).rejects.toMatchObject({
      causeCode: `mapping: ${key}: not-a-number`,
      message: `${key} (line 34 of the configuration) for questions:9001 returned a text, but the sink needs a number`,
    });
    expect(await expression.evaluate(viewOf({ Email: '7' }), key, numberValue)).toBe(7);
  });

  it.each([
    '$number(item.Email)',
    '$toMillis(item.Email)',
    '$error("wrong: " & item.Email)',
    '$assert(false, item.Email)',
    'item.Email + 1',
    'item.Email < 1',
    '{ "a": 1, item.Email: 2, item.Email: 3 }',
    '$decodeUrl(item.Email & "%")',
    '$formatNumber(1, item.Email & "0;0;0")',
    '$eventDate(item.Email)',
    '$truncate(item.Email, item.Email)',
    '$fromMillis(0, item.Email & "[")',
    '$single([item.Email, item.Email])',
  ])('quotes nothing from the item if it fails: %s', async (text) => {
    const failure = await failureOf(text, { Email: secretText });
    const told = JSON.stringify([failure.message, failure.causeCode, failure.stack, failure.cause]);
    expect(told).not.toContain('maria');
    expect(failure.causeCode).toMatch(/^mapping: crm\.records\[0\]\.properties\.email: ([A-Z]\d{4}|[a-z-]+)$/);
  });

  it.each([
    ['division by zero', 'item.answered / item.offered', 'not-a-number'],
    ['an infinite recursion', '($f := function($x) { 1 + $f($x) }; $f(1))', 'D1011'],
    ['an infinite tail recursion', '($f := function($x) { $f($x) }; $f(1))', 'too-many-steps'],
    ['a huge range', '[1..10000000]', 'D2015'],
    ['a range beyond JSONata’s own limit', '[1..100000000]', 'D2014'],
    [
      'a list for each entry of a list',
      '$map([1..5000], function($a) { $map([1..5000], function($b) { $a * $b }) })',
      'too-many-steps',
    ],
    ['a huge padding', '$pad("", 100000000)', 'too-long'],
    [
      'a text that doubles',
      '($f := function($s, $n) { $n = 0 ? $s : $f($s & $s, $n - 1) }; $f("ab", 25))',
      'too-large',
    ],
  ])('is stopped by a limit other than time in case of %s', async (_, text, code) => {
    // the time limit, which is the last resort, would report D1012
    expect((await failureOf(text, { answered: 0, offered: 0 })).causeCode).toBe(`mapping: ${key}: ${code}`);
  });

  it('is limited by steps and not by time, so that it fails for the same items on every machine', async () => {
    const stepsOf = async (n: number): Promise<unknown> =>
      await new Expression(`$sum($map([1..${n}], function($v) { $v + 1 }))`).evaluate(viewOf({}), key);
    expect(await stepsOf(2_000)).toBe(2_003_000);
    await expect(stepsOf(9_000)).rejects.toThrow('too-many-steps');
  });

  it('handles a catastrophic regular expression without backtracking', async () => {
    const text = '$contains(item.content, /^(a+)+$/)';
    expect(await new Expression(text).evaluate(viewOf({ content: `${'a'.repeat(5_000)}!` }), key)).toBe(false);
  });

  it.each([
    ['$replace(item.t, /(\\w+)@(\\w+)/, "$2 at $1")', { t: 'a@b, c@d' }, 'b at a, d at c'],
    ['$match(item.t, /b+/).index', { t: 'abbab' }, [1, 4]],
    ['$split(item.t, /\\s*,\\s*/)', { t: 'a , b,c' }, ['a', 'b', 'c']],
    ['$match(item.t, /^a/).match', { t: 'aaa' }, 'a'],
    ['$contains(item.t, /ÉCOLE/i)', { t: 'une école' }, true],
    ['$match(item.t, /(x)?y/).groups', { t: 'y' }, null],
    ['$match(item.t, /😀(.)/).groups', { t: 'hi 😀é' }, ['é']],
  ])('matches regular expressions as JavaScript does: %s', async (text, item, value) => {
    const found = await new Expression(text).evaluate(viewOf(item), key);
    expect(found === undefined || (Array.isArray(found) && found[0] === null) ? null : [found].flat()).toEqual(
      value === null ? null : [value].flat(),
    );
  });

  it('runs after earlier evaluations, each with its own limits', async () => {
    const endless = new Expression('($f := function($x) { $f($x) }; $f(item.n))');
    const fine = new Expression('$sum($map([1..500], function($v) { $v }))');
    const asked = Array.from({ length: 40 }, (_, n) => (n % 2 === 0 ? endless : fine));
    const ends = await Promise.allSettled(asked.map((each) => each.evaluate(viewOf({ n: 1 }), key)));
    expect(ends.map(({ status }) => status)).toEqual(asked.map((each) => (each === fine ? 'fulfilled' : 'rejected')));
  });

  it('lets timers run while many expressions are evaluated', async () => {
    let ticks = 0;
    const timer = setInterval(() => (ticks += 1), 1);
    const slow = new Expression('$sum($map([1..1000], function($v) { $v }))');
    await Promise.all(Array.from({ length: 100 }, () => slow.evaluate(viewOf({}), key)));
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(2);
  });

  it('returns the time of the change for $now, so that a change always maps to the same values', async () => {
    const view = viewOf({});
    expect(await new Expression('$now()').evaluate(view, key)).toBe(view.change.timestamp);
    expect(await new Expression('$now("[Y]/[M01]/[D01]")').evaluate(view, key)).toBe('2026/11/21');
    expect(await new Expression('$millis()').evaluate(view, key)).toBe(Date.parse(view.change.timestamp));
  });

  it.each([
    ['item.n > 1', { n: 2 }, true],
    ['item.n > 1', { n: 1 }, false],
    ['item.missing', {}, false],
    ['item.text', { text: '' }, false],
    ['item.text', { text: 'false' }, true],
    ['item.list', { list: [0, '', false] }, false],
    ['item.list', { list: [0, 1] }, true],
    ['item.object', { object: {} }, false],
    ['item.nothing', { nothing: null }, false],
    ['0', {}, false],
  ])('as a condition, %s has the same result as $boolean', async (text, item, expected) => {
    const view = viewOf(item);
    expect(await new Expression(text).holds(view, key)).toBe(expected);
    expect((await new Expression(`$boolean(${text})`).evaluate(view, key)) ?? false).toBe(expected);
  });

  it('that fails as a condition throws an error instead of being false', async () => {
    await expect(new Expression('item.n > 1').holds(viewOf({ n: 'two' }), key)).rejects.toBeInstanceOf(MappingError);
  });
});

describe('the data of a mapping', () => {
  it('includes the person of an item, and for a person’s own record that record', () => {
    const attendee = { id: 7, Name: 'Ada' };
    expect(mappingView(subjectOf(sampleChange(), { attendee })).attendee).toBe(attendee);
    const own = sampleChange({ list: 'attendees', type: 'attendees.updated', data: attendee });
    expect(mappingView(subjectOf(own)).attendee).toBe(attendee);
  });

  it('includes no person if the identity is not visible or the record was deleted', () => {
    expect(mappingView(subjectOf(sampleChange())).attendee).toBeNull();
    expect(mappingView(subjectOf(sampleChange({ list: 'attendees', data: null }))).attendee).toBeNull();
  });
});

const readers = { textValue, numberValue };

describe('the value of a property', () => {
  it.each<[keyof typeof readers, unknown, unknown]>([
    ['textValue', 'a', 'a'],
    ['textValue', '', ''],
    ['textValue', 7.5, '7.5'],
    ['textValue', false, 'false'],
    ['textValue', ['a', 1, true], 'a;1;true'],
    ['numberValue', 7, 7],
    ['numberValue', ' 7.50 ', 7.5],
    ['numberValue', '-1e3', -1000],
    ['numberValue', '', null],
  ])('by %s converts %p to %p', (reader, value, expected) => {
    expect(readers[reader](value, key)).toBe(expected);
  });

  it.each(Object.entries(readers))('by %s is omitted for undefined and cleared for null', (_, read) => {
    expect(read(undefined, key)).toBeUndefined();
    expect(read(null, key)).toBeNull();
  });

  it.each<[keyof typeof readers, unknown, string]>([
    ['textValue', { a: 1 }, 'not-a-text'],
    ['textValue', ['a', { b: 1 }], 'not-a-text'],
    ['numberValue', '1,5', 'not-a-number'],
    ['numberValue', '0x10', 'not-a-number'],
    ['numberValue', true, 'not-a-number'],
    ['numberValue', '1e999', 'not-a-number'],
  ])('by %s rejects %p instead of guessing', (reader, value, code) => {
    const read = (): unknown => readers[reader](value, key);
    expect(read).toThrow(MappingError);
    expect(read).toThrow(expect.objectContaining({ causeCode: `mapping: ${key}: ${code}` }));
  });

  it('is not quoted if it is rejected', () => {
    expect(() => numberValue('maria.lopez@example.com', key)).toThrow(
      `${key} returned a text, but the sink needs a number`,
    );
  });
});
