import { z } from 'zod';
import { Expression } from './expression.js';

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
