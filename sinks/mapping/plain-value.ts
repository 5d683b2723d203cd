import { evaluationLimits } from './evaluation-limits.js';

/** Why a result cannot be used. */
export class UnusableValue extends Error {
  override readonly name = 'UnusableValue';

  constructor(readonly code: 'not-a-number' | 'too-large') {
    super(code);
  }
}

const deepest = 50;

/**
 * A result of JSONata as plain data: it marks its lists and gives functions as values. Functions count as nothing.
 * @throws {UnusableValue} `not-a-number` where a division by nothing was made: JSON would turn it into null, which
 * clears what it is written to; `too-large` for what no vendor takes
 */
export function plainValue(value: unknown): unknown {
  let left: number = evaluationLimits.characters;
  const spend = (cost: number): void => {
    left -= cost;
    if (left < 0) throw new UnusableValue('too-large');
  };
  const copy = (each: unknown, depth: number): unknown => {
    if (depth > deepest) throw new UnusableValue('too-large');
    spend(typeof each === 'string' ? each.length : 1);
    if (typeof each === 'function' || each === undefined) return undefined;
    if (typeof each === 'number' && !Number.isFinite(each)) throw new UnusableValue('not-a-number');
    if (typeof each !== 'object' || each === null) return each;
    if (Array.isArray(each)) return each.map((entry) => copy(entry, depth + 1) ?? null);
    if ('_jsonata_function' in each || '_jsonata_lambda' in each) return undefined;
    return Object.fromEntries(
      Object.entries(each)
        .map(([name, entry]) => {
          spend(name.length);
          return [name, copy(entry, depth + 1)] as const;
        })
        .filter(([, entry]) => entry !== undefined),
    );
  };
  return copy(value, 0);
}
