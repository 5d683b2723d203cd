import { z } from 'zod';
import { duration, listOf, name, nonEmptyText, oneOf, wholeNumber } from '../values.js';
import { listNames } from './list-names.js';

const consentStates = ['obtained', 'not-asked', 'not-known', 'refused'] as const;

/** Keys that every sink accepts. The schema of the sink's type checks the other keys. */
export const commonSinkShape = {
  type: z
    .string({ error: 'allowed: the name of a sink type' })
    .meta({ allowed: 'the name of a sink type' })
    .describe('The type of the destination. It decides which other keys exist.'),
  mode: oneOf(['send', 'observe'])
    .prefault('send')
    .describe('`observe` plans and counts what would be sent, and sends nothing until a person approves it.'),
  history: z
    .union([oneOf(['none', 'all']), duration()], { error: 'allowed: none, all, or a duration such as 30d' })
    .transform((found) => (typeof found === 'number' ? { forMs: found } : found))
    .prefault('all')
    .meta({ allowed: '`none`, `all`, or a duration such as 30d' })
    .describe('How much of the existing ledger a new sink receives before new changes.'),
  lists: listOf(z.enum(listNames), { allowed: `a list of ${listNames.join(', ')}` })
    .optional()
    .describe('Lists whose changes the sink receives; by default all that it can use.'),
  consent: z
    .strictObject({
      accept: listOf(oneOf(consentStates), { allowed: `a list of ${consentStates.join(', ')}`, atLeast: 0 }).describe(
        'Consent states whose records are sent. Items of other people are sent without their identity.',
      ),
      basis: nonEmptyText('a sentence').optional().describe('Why that is allowed, for the audit.'),
    })
    .optional()
    .describe(
      'Whose data the sink receives. By default, `file` and `postgres` receive everyone except people who refused consent; all other sinks receive only people who gave consent.',
    ),
  onConsentWithdrawn: oneOf(['keep', 'forget'])
    .prefault('keep')
    .describe('What happens to delivered data when a person withdraws consent.'),
  onForget: oneOf(['clear-our-fields', 'delete', 'manual'])
    .prefault('clear-our-fields')
    .describe('What removing a person does at the destination.'),
  limits: z
    .strictObject({
      per10s: wholeNumber({ min: 1, max: 1_000_000, unit: 'requests' }).optional().describe('Requests in 10 seconds.'),
      perDay: wholeNumber({ min: 1, max: 1_000_000_000, unit: 'requests' }).optional().describe('Requests in a day.'),
    })
    .optional()
    .describe('Limits of the account, if they differ from the defaults of the vendor.'),
};

/** `sinks`: where changes go. The schema is loose, because the schema of the sink's type checks its own keys. */
export const sinksSchema = z
  .record(name(), z.looseObject(commonSinkShape).describe('A sink under a name of your choice.'), {
    error: ({ code }) => (code === 'invalid_type' ? 'allowed: a group of sinks, each under its name' : undefined),
  })
  .refine((sinks) => Object.keys(sinks).length > 0, { error: 'allowed: at least one sink' })
  .describe('Where changes go. The name is an identity in the ledger: renaming one makes it a new sink.');
