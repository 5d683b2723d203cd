import { z } from '@hono/zod-openapi';
import { instant } from '../../base/printable.js';

/*
 * The closing statement of an event, as it is signed, stored, shown and sent (docs/statement.md). It contains numbers,
 * codes, instants, ids of sessions, names from the configuration and the name of the event, and nothing of a person.
 */

export const statementFormat = 'pigeonpost statement 1';

const items = (what: string) => z.int().describe(what);

/** A number of items that two counts do not share, with the reason. */
const differenceSchema = z
  .object({
    reason: z.string().describe('Stable code.'),
    text: z.string().describe('The reason in words.'),
    items: items(
      'Number of items: positive if only the event service shows them, negative if only pigeonpost has them.',
    ),
    open: z.boolean().describe('Whether a person has to act or wait before the counts agree.'),
  })
  .openapi('StatementDifference');
export type Difference = z.infer<typeof differenceSchema>;

const countsSchema = {
  shown: items('Items that the event service showed when the list was read again.'),
  held: items('Items that pigeonpost has.'),
};

const listSchema = z
  .object({
    list: z.string(),
    label: z.string().describe('The list in words.'),
    ...countsSchema,
    differences: z.array(differenceSchema).readonly().describe('`shown` is `held` plus the sum of these.'),
    readFrom: instant().nullable().describe('First request of the read; null: the list was not read again.'),
    readUntil: instant().nullable().describe('Last request of the read; null: the list was not read again.'),
    sessions: z
      .array(z.object({ session: z.int().nullable().describe('Null: items of no session.'), ...countsSchema }))
      .readonly()
      .describe('The same counts by session. Empty if the items of the list belong to no session.'),
  })
  .openapi('StatementList');
export type StatementList = z.infer<typeof listSchema>;

/** Items of one list at one destination by what became of them. */
const outcomesSchema = {
  delivered: items('The destination accepted them.'),
  withheld: items('Not sent, on purpose.'),
  refused: items('The destination refused them (dead letters).'),
  waiting: items('Not sent yet.'),
  unsent: items('Not meant for the destination when they were found.'),
};

const reasonSchema = z
  .object({
    outcome: z.enum(['withheld', 'refused', 'waiting', 'unsent']),
    reason: z.string().describe('Stable code.'),
    text: z.string(),
    items: z.int(),
    open: z.boolean().describe('Whether a person has to act or wait.'),
  })
  .openapi('StatementReason');
export type StatementReason = z.infer<typeof reasonSchema>;

const destinationListSchema = z
  .object({
    list: z.string(),
    label: z.string(),
    items: items('Items that pigeonpost has, which is the sum of the five numbers below.'),
    ...outcomesSchema,
    reasons: z.array(reasonSchema).readonly(),
    removed: z
      .object({
        items: items('Items that were deleted in the event service, or erased on request.'),
        ...outcomesSchema,
      })
      .describe('What became of the removals of earlier items. `delivered`: the destination accepted the removal.'),
  })
  .openapi('StatementDestinationList');
export type DestinationList = z.infer<typeof destinationListSchema>;

const paritySchema = z
  .object({
    comparedAt: instant().describe('End of the comparison.'),
    compared: items('Items, or versions of them in a log, that were compared.'),
    same: items('The destination has them as they were sent.'),
    explained: items('It has an earlier version, which a later change of its settings or of related items explains.'),
    stale: items('It has an earlier version.'),
    changed: items('Other people or programs have changed them there.'),
    missing: items('They are not there any more.'),
    extra: items('They are still there, although they were deleted, withdrawn or erased, or they are there twice.'),
    unreadable: items('The destination does not let pigeonpost read them.'),
  })
  .openapi('StatementParity');
export type Parity = z.infer<typeof paritySchema>;

const destinationSchema = z
  .object({
    name: z.string().describe('Name of the sink in the configuration.'),
    type: z.string(),
    state: z
      .enum(['working', 'observing', 'paused', 'failing'])
      .describe('State of the sink when the statement was made.'),
    lists: z.array(destinationListSchema).readonly(),
    parity: paritySchema
      .nullable()
      .describe('The last comparison with what the destination holds (docs/audit.md); null: there was none.'),
  })
  .openapi('StatementDestination');
export type Destination = z.infer<typeof destinationSchema>;

export const interruptionCauses = ['stopped', 'silent', 'quota', 'throttled', 'credential', 'paused', 'late'] as const;
export type InterruptionCause = (typeof interruptionCauses)[number];

const interruptionSchema = z
  .object({
    cause: z.enum(interruptionCauses),
    text: z.string(),
    since: instant(),
    until: instant().nullable().describe('Null: it lasted when the statement was made.'),
    seconds: z.int(),
  })
  .openapi('StatementInterruption');
export type StatementInterruption = z.infer<typeof interruptionSchema>;

/** A point that a person has to act on or wait for. */
const openPointSchema = z
  .object({
    where: z.string().describe('A list, a list at a destination, or the reading, in words.'),
    text: z.string(),
    items: z.int().nullable().describe('Null: it cannot be counted.'),
    todo: z.string(),
  })
  .openapi('StatementOpenPoint');
export type OpenPoint = z.infer<typeof openPointSchema>;

export const statementSchema = z
  .object({
    format: z.literal(statementFormat),
    number: z.int(),
    instance: z.string().describe('Id of the ledger that made it.'),
    software: z.string(),
    event: z.object({
      workspace: z.string(),
      id: z.int(),
      name: z.string().nullable(),
      status: z.string().nullable().describe('As the event service reported it.'),
      firstDay: z.string().nullable(),
      lastDay: z.string().nullable(),
      timezone: z.string().nullable(),
    }),
    requestedAt: instant(),
    completedAt: instant(),
    agrees: z.boolean().describe('Whether nothing is open: every item is accounted for.'),
    open: z.array(openPointSchema).readonly(),
    source: z
      .object({ ...countsSchema, lists: z.array(listSchema).readonly() })
      .describe('Every list of the event, read again for this statement.'),
    sessions: z
      .array(
        z.object({
          session: z.int(),
          type: z.string().nullable(),
          startsAt: instant().nullable(),
          endsAt: instant().nullable(),
        }),
      )
      .readonly()
      .describe('The sessions of the event in the order of their start.'),
    destinations: z.array(destinationSchema).readonly(),
    coverage: z
      .object({
        from: instant().describe('Since when pigeonpost has watched the event.'),
        until: instant(),
        interruptions: z.array(interruptionSchema).readonly().describe('When reading was late or impossible.'),
        seconds: z.int().describe('Time in which at least one of them lasted.'),
        readAfterwards: z.boolean().describe('Whether every list was read completely after the last interruption.'),
      })
      .describe('Coverage of time.'),
  })
  .openapi('Statement');
export type Statement = z.infer<typeof statementSchema>;

export const signedStatementSchema = z
  .object({
    statement: statementSchema,
    signature: z.object({
      algorithm: z.literal('ed25519'),
      key: z.string().describe('Fingerprint of the public key.'),
      value: z.string().describe('Signature of the statement in the canonical form of RFC 8785, base64url.'),
    }),
  })
  .openapi('SignedStatement');
export type SignedStatement = z.infer<typeof signedStatementSchema>;
