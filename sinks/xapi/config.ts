import { z } from 'zod';
import type { Secret } from '../../config/secret.js';
import { listOf, oneOf, secret, sinkUrl, text, wholeNumber } from '../../config/values.js';
import type { Expression } from '../mapping/expression.js';
import { expression } from '../mapping/expression-schema.js';
import { type NetworkKeys, networkKeys, plainHttpStaysPrivate } from '../network/address-policy.js';
import { kindNames, type StatementKind } from './kinds.js';

/** `xapi` in pigeonpost.yaml, less the keys that all sinks share. docs/sinks/xapi.md explains each key to users. */
export interface XapiConfig extends NetworkKeys {
  /** Without a slash at its end: `/statements` is appended. */
  readonly endpoint: string;
  readonly username: string;
  readonly password: Secret;
  readonly actor: { readonly homePage: string; readonly name: Expression };
  /** What the ids of activities begin with; absent: the actor's `homePage`. */
  readonly activities?: string | undefined;
  readonly statements: readonly StatementKind[];
  readonly credit?: CreditKeys | undefined;
}

export interface CreditKeys {
  /** Raised when the rule changes: what was issued by another version is voided and issued anew. */
  readonly version: number;
  readonly when: Expression;
  readonly activity: Expression;
}

const webAddress = (what: string) =>
  text(what, (found) => (URL.canParse(found) && /^https?:$/.test(new URL(found).protocol) ? found : undefined));

export const xapiConfigSchema: z.ZodType<XapiConfig> = z
  .strictObject({
    endpoint: sinkUrl().describe('The address of the LRS; `/statements` is appended.'),
    username: text('the user name of the LRS, without a colon', (found) =>
      /^[^:\x00-\x1f\x7f]+$/.test(found) ? found : undefined,
    ).describe('The user name, or key, of the LRS for Basic authentication.'),
    password: secret()
      .refine((found) => /^[^\x00-\x1f\x7f]+$/.test(found.reveal()), {
        error: 'allowed: a secret without line breaks, not even at its end',
      })
      .describe('Its password, or secret.'),
    actor: z
      .strictObject({
        homePage: webAddress(
          'the address of the system that knows people by these names, such as https://example.com',
        ).describe('The system that the name is an account of.'),
        name: expression().describe('Who a person is there. Where it gives nothing, nothing is said of them.'),
      })
      .describe('How the LRS identifies a person: by an account.'),
    activities: webAddress('an address of your own, such as https://example.com/events')
      .optional()
      .describe('What the ids of events, sessions and questions begin with; `actor.homePage` by default.'),
    statements: listOf(oneOf(kindNames), { allowed: `a list of ${kindNames.join(', ')}`, atLeast: 0 })
      .default(kindNames)
      .describe('What is said; all by default.'),
    credit: z
      .strictObject({
        version: wholeNumber({ min: 1, max: 1_000_000 }).describe(
          'The version of the rule. Raise it when the rule changes: what was issued by another is voided and issued anew.',
        ),
        when: expression().describe('Whether credit is due, over an item of `engagement`.'),
        activity: expression().describe('What was completed: an address, or a name that one is made of.'),
      })
      .optional()
      .describe('Statements that someone completed something, from the list `engagement`.'),
    ...networkKeys,
  })
  .superRefine(plainHttpStaysPrivate('endpoint'));
