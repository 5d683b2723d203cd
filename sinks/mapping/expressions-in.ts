import { Secret } from '../../config/secret.js';
import { formatKey, type KeyPath } from '../../config/key-path.js';
import { Expression } from './expression.js';

export interface PlacedExpression {
  readonly expression: Expression;
  /** Its key within the sink, e.g. `records[0].properties.email`. */
  readonly key: string;
  /** The list whose items it is given: the nearest `from` around it; undefined where none stands. */
  readonly from: string | undefined;
}

/** Every expression of a sink's settings, in their order. */
export function expressionsIn(settings: unknown, at: KeyPath = [], from?: string): PlacedExpression[] {
  if (settings instanceof Expression) return [{ expression: settings, key: formatKey(at), from }];
  if (typeof settings !== 'object' || settings === null || settings instanceof Secret) return [];
  if (Array.isArray(settings)) return settings.flatMap((each, n) => expressionsIn(each, [...at, n], from));
  const own = (settings as { readonly from?: unknown }).from;
  return Object.entries(settings).flatMap(([key, value]) =>
    expressionsIn(value, [...at, key], typeof own === 'string' ? own : from),
  );
}
