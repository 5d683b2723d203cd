import { z } from 'zod';
import { oneOf } from '../../config/values.js';
import { expression } from './expression-schema.js';
import { Expression } from './expression.js';

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
