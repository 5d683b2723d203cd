import { z } from 'zod';
import { Expression } from './expression.js';
import { inputSchemaOf } from '../../config/parse-tree.js';
import { oneOf } from '../../config/values.js';
import { Secret } from '../../config/secret.js';
import { formatKey, type KeyPath } from '../../config/read-document.js';

/**
 * Schema of a JSONata expression in pigeonpost.yaml. It compiles the expression when the file is read, so that a
 * mistake is reported with the key.
 */
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
          message: `is not a usable expression: ${(error as Error).message}`,
        });
        return z.NEVER;
      }
    })
    .meta({ allowed: 'a JSONata expression' });
}

/** The rule that says when a mapping overwrites a value that the destination already has. */
export type WritePolicy = 'always' | 'if-empty' | 'if-newer';

/** A property of a vendor's record: its expression and its write policy. */
export interface WrittenValue {
  readonly value: Expression;
  readonly write: WritePolicy;
  /** True if the mapping states the policy. The value by which a record was found is replaced only then. */
  readonly isStated?: true;
}

const group = z.strictObject({
  value: expression(),
  write: oneOf(['always', 'if-empty', 'if-newer']).prefault('always'),
});

/**
 * Schema of an expression, or of an expression with its write policy. It is not a zod union, because for a mistake in
 * an expression, a union would only report that the value has neither form.
 */
export const writtenValue = z
  .unknown()
  .transform((found, context): WrittenValue => {
    const result = typeof found === 'object' && found !== null ? group.safeParse(found) : expression().safeParse(found);
    if (result.success) {
      if (result.data instanceof Expression) return { value: result.data, write: 'always' };
      return Object.hasOwn(found as object, 'write') ? { ...result.data, isStated: true } : result.data;
    }
    for (const { message, path } of result.error.issues) {
      context.issues.push({ code: 'custom', input: found, message, path: [...path] });
    }
    return z.NEVER;
  })
  .meta({
    allowed: 'a JSONata expression, or `{ value: …, write: always | if-empty | if-newer }`',
    published: { anyOf: [{ type: 'string' }, inputSchemaOf(group)] },
  });

export interface PlacedExpression {
  readonly expression: Expression;
  /** The expression's key within the sink, such as `records[0].properties.email`. */
  readonly key: string;
  /** The list whose items the expression reads: the nearest `from` around it; undefined if there is none. */
  readonly from: string | undefined;
}

export function expressionsIn(settings: unknown, at: KeyPath = [], from?: string): PlacedExpression[] {
  if (settings instanceof Expression) return [{ expression: settings, key: formatKey(at), from }];
  if (typeof settings !== 'object' || settings === null || settings instanceof Secret) return [];
  if (Array.isArray(settings)) return settings.flatMap((each, n) => expressionsIn(each, [...at, n], from));
  const own = (settings as { readonly from?: unknown }).from;
  return Object.entries(settings).flatMap(([key, value]) =>
    expressionsIn(value, [...at, key], typeof own === 'string' ? own : from),
  );
}
