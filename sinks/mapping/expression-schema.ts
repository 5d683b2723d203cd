import { z } from 'zod';
import { Expression } from './expression.js';
import { oneOf } from '../../config/values.js';
import { Secret } from '../../config/secret.js';
import { formatKey, type KeyPath } from '../../config/read-document.js';

/** A JSONata expression in pigeonpost.yaml, compiled when the file is read, so that a mistake is told at its key. */
export function expression(): z.ZodType<Expression, string> {
  return z
    .string({ error: 'allowed: a JSONata expression' })
    .transform((text, context) => {
      try {
        return new Expression(text);
      } catch (error) {
        context.issues.push({
          code: 'custom',
          input: text,
          message: `is no expression that can be used: ${(error as Error).message}`,
        });
        return z.NEVER;
      }
    })
    .meta({ allowed: 'a JSONata expression' });
}

/** When a value is written over what stands there. */
export type WritePolicy = 'always' | 'if-empty' | 'if-newer';

/** A property of a record at a vendor: what it is made from, and when it is written. */
export interface WrittenValue {
  readonly value: Expression;
  readonly write: WritePolicy;
}

const group = z.strictObject({
  value: expression(),
  write: oneOf(['always', 'if-empty', 'if-newer']).prefault('always'),
});

/**
 * An expression, or one with how it is written. Not a union: of a mistyped expression that would say that it is
 * neither shape.
 */
export const writtenValue = z
  .unknown()
  .transform((found, context): WrittenValue => {
    const result = typeof found === 'object' && found !== null ? group.safeParse(found) : expression().safeParse(found);
    if (result.success) {
      return result.data instanceof Expression ? { value: result.data, write: 'always' } : result.data;
    }
    for (const { message, path } of result.error.issues) {
      context.issues.push({ code: 'custom', input: found, message, path: [...path] });
    }
    return z.NEVER;
  })
  .meta({ allowed: 'a JSONata expression, or `{ value: …, write: always | if-empty | if-newer }`' });

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
