import fc from 'fast-check';
import { evaluationLimits, LinearRegExp, StepCounter } from './evaluation-limits.js';

const late = evaluationLimits.timeMs + 1;

/** Returns a counter with a controlled clock. */
function counterOn(meter: { nowMs: number; computedMs: number }): StepCounter {
  return new StepCounter({ now: () => meter.nowMs, computed: () => meter.computedMs });
}

describe('the time of an evaluation', () => {
  it.each([
    ['is limited if it was spent on computing', { nowMs: late, computedMs: late }, 'D1012'],
    ['is not limited if the machine slept or was busy', { nowMs: 1_000_000, computedMs: 3 }, undefined],
    ['does not include the time of other threads', { nowMs: late - 1, computedMs: 4 * late }, undefined],
  ])('%s', (_, passed, code) => {
    const meter = { nowMs: 0, computedMs: 0 };
    const { options } = counterOn(meter);
    expect(options.stack).toBe(evaluationLimits.depth);
    Object.assign(meter, passed);
    let failure: unknown;
    try {
      void options.stack;
    } catch (error) {
      failure = error;
    }
    expect((failure as { code?: string } | undefined)?.code).toBe(code);
  });

  it('is measured for each evaluation separately', () => {
    const meter = { nowMs: late, computedMs: late };
    const counter = counterOn(meter);
    Object.assign(meter, { nowMs: 3 * late, computedMs: 3 * late });
    counter.restart();
    expect(counter.options.stack).toBe(evaluationLimits.depth);
  });
});

/** Returns every match of an expression in a text, in the way JSONata iterates over them. */
function matchesOf(engine: Pick<RegExp, 'exec' | 'lastIndex'> | LinearRegExp, text: string): unknown[] {
  const found: unknown[] = [];
  for (let match = engine.exec(text); match !== null; match = engine.exec(text)) {
    found.push([match.index, engine.lastIndex, ...match]);
    if (match[0] === '') engine.lastIndex += 1; // an empty match would not advance
  }
  return found;
}

const patterns = [
  /a+b/g,
  /^a/g,
  /b$/g,
  /(a)|(b)/g,
  /(?:ab|a)(c?)/g,
  /[^a]+/g,
  /a{2,3}?/g,
  /\bA/gi,
  /^b/gm,
  /a.c/gs,
  /a.c/g,
  /\d+|\s+/g,
  /(?<name>b)c/g,
  /\u0061[\x62\-\]]/g,
  /é+/g,
];

describe('a regular expression in linear time', () => {
  it.each(patterns)('finds the same matches as JavaScript: %s', (pattern) => {
    const texts = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'A', 'é', ' ', '1', '\n', '-', ']', '😀') });
    fc.assert(
      fc.property(texts, (text) => {
        expect(matchesOf(new LinearRegExp(pattern), text)).toEqual(
          matchesOf(new RegExp(pattern.source, `${pattern.flags}u`), text),
        );
      }),
      { numRuns: 300 },
    );
  });

  it('starts at lastIndex, and at the beginning again after it found nothing', () => {
    const engine = new LinearRegExp(/a/g);
    engine.lastIndex = 1;
    expect(engine.exec('aba')?.index).toBe(2);
    expect(engine.exec('aba')).toBeNull();
    expect(engine.lastIndex).toBe(0);
    engine.lastIndex = 9;
    expect(engine.exec('aba')).toBeNull();
  });

  it.each([/a(?=b)/, /a(?!b)/, /(?<=a)b/, /(?<!a)b/, /(a)\1/, /(?<n>a)\k<n>/, /a{1001}/])(
    'rejects an unsupported pattern: %s',
    (pattern) => {
      expect(() => new LinearRegExp(pattern)).toThrow(SyntaxError);
    },
  );
});
