import { z } from 'zod';
import { duration, listOf, name, nonEmptyText, oneOf, wholeNumber } from '../values.js';
import { listNames } from './list-names.js';

export const consentStates = ['obtained', 'not-asked', 'not-known', 'refused'] as const;

export type ConsentState = (typeof consentStates)[number];

/** The keys that every sink takes. A sink's other keys are its type's and are checked by the schema that the type brings. */
export const commonSinkShape = {
  type: z
    .string({ error: 'allowed: the name of a sink type' })
    .meta({ allowed: 'the name of a sink type' })
    .describe('What kind of destination it is. It decides which other keys there are.'),
  mode: oneOf(['send', 'observe'])
    .prefault('send')
    .describe('`observe` plans and counts what would be sent, and sends nothing until a person approves it.'),
  history: z
    .union([oneOf(['none', 'all']), duration()], { error: 'allowed: none, all, or a duration such as 30d' })
    .prefault('all')
    .meta({ allowed: '`none`, `all`, or a duration such as 30d' })
    .describe('How much of what the ledger holds already a new sink is given before what comes after.'),
  lists: listOf(z.enum(listNames), { allowed: `a list of ${listNames.join(', ')}` })
    .optional()
    .describe('The lists whose changes it is sent; all that it can use by default.'),
  consent: z
    .strictObject({
      accept: listOf(oneOf(consentStates), { allowed: `a list of ${consentStates.join(', ')}`, atLeast: 0 }).describe(
        'States of consent whose records are sent. What other people did is sent without their identity.',
      ),
      basis: nonEmptyText('a sentence').optional().describe('Why that is allowed, for the audit.'),
    })
    .optional()
    .describe(
      "Whose data it is sent. By default everyone's but those who refused for `file` and `postgres`, and of those who consented alone for the others.",
    ),
  onConsentWithdrawn: oneOf(['keep', 'forget'])
    .prefault('keep')
    .describe('What becomes of what was sent when someone withdraws consent.'),
  onForget: oneOf(['clear-our-fields', 'delete', 'manual'])
    .prefault('clear-our-fields')
    .describe('What removing a person does at the destination.'),
  limits: z
    .strictObject({
      per10s: wholeNumber({ min: 1, max: 1_000_000, unit: 'requests' }).optional().describe('Requests in 10 seconds.'),
      perDay: wholeNumber({ min: 1, max: 1_000_000_000, unit: 'requests' }).optional().describe('Requests in a day.'),
    })
    .optional()
    .describe('Where the limits of the account differ from what the vendor grants by default.'),
};

/** `sinks`: where changes go. Loose, since the keys of a type are checked by its own schema. */
export const sinksSchema = z
  .record(name(), z.looseObject(commonSinkShape).describe('A sink under a name of your choice.'), {
    error: ({ code }) => (code === 'invalid_type' ? 'allowed: a group of sinks, each under its name' : undefined),
  })
  .refine((sinks) => Object.keys(sinks).length > 0, { error: 'allowed: at least one sink' })
  .describe('Where changes go. The name is an identity in the ledger: renaming one makes it a new sink.');
