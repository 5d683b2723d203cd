/** Limit of a figure. */
export type Limit = { readonly atLeast: number } | { readonly atMost: number };

/** A figure with its targets, as docs/performance.md states them. */
export interface Figure {
  readonly bench: string;
  readonly what: string;
  readonly value: number;
  /** Behind the number; empty for a ratio or a count. */
  readonly unit: string;
  /** Missing it makes the command fail. */
  readonly must?: Limit;
  readonly aim?: Limit;
}

export type Verdict = 'aim' | 'must' | 'missed' | 'no target';

export function verdictOf({ value, must, aim }: Figure): Verdict {
  if (must === undefined && aim === undefined) return 'no target';
  if (must !== undefined && !keeps(value, must)) return 'missed';
  if (aim !== undefined && keeps(value, aim)) return 'aim';
  return 'must';
}

function keeps(value: number, limit: Limit): boolean {
  return 'atLeast' in limit ? value >= limit.atLeast : value <= limit.atMost;
}
