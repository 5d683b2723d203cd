import { z } from '@hono/zod-openapi';
import { printable } from '../base/printable.js';

/** A file that is to take the place of the one that the process was started with; none: that one, as it stands now. */
export const candidateSchema = z
  .strictObject({
    file: printable(4096).optional().describe('Absolute path, by which messages name it.'),
    text: z.string().max(1_000_000).optional().describe('Its text.'),
  })
  .openapi('Candidate');
export type Candidate = z.infer<typeof candidateSchema>;

/** The absolute path of the file that a person means, where they name one: only the process's own is ever read. */
export const applySchema = z.strictObject({ file: printable(4096).optional() });

const changedKeySchema = z.object({
  key: z.string(),
  from: z.string().optional().describe('JSON of the value; absent where it could hold a secret.'),
  to: z.string().optional(),
});
export type ChangedKey = z.infer<typeof changedKeySchema>;

const configurationChangeSchema = z.object({
  kind: z.enum(['added', 'changed', 'removed']),
  what: z.enum(['workspace', 'sync', 'sink', 'drop folder', 'alerts']),
  name: z.string(),
  keys: z.array(changedKeySchema).readonly().describe('Of what is changed.'),
  note: z
    .string()
    .nullable()
    .describe(
      'Consequences that the keys do not show: for removed and returning entries, and for dead letters that are sent again.',
    ),
});
export type ConfigurationChange = z.infer<typeof configurationChangeSchema>;

const selectionChangeSchema = z.object({
  sync: z.string(),
  workspace: z.string(),
  added: z.array(z.int()).readonly(),
  removed: z.array(z.int()).readonly(),
  unread: z.int().describe('Of the added: never read before, so that nobody knows what they hold.'),
});
export type SelectionChange = z.infer<typeof selectionChangeSchema>;

const deliveryCauseSchema = z
  .enum(['history', 'list-added', 'released', 'cured', 'redriven', 'since-watermark'])
  .describe(
    '`history`: the sink is new there; `list-added`: it gets a list that it did not get before; `released`: `reason` no longer withholds it; `cured`: the mapping withheld it, and the changed one sends it; `redriven`: it was refused for `reason`, and is sent again; `since-watermark`: it was left out for a while, and gets what it missed.',
  );
export type DeliveryCause = z.infer<typeof deliveryCauseSchema>;

const causedDeliveriesSchema = z.object({
  sink: z.string(),
  list: z.string(),
  cause: deliveryCauseSchema,
  reason: z.string().nullable().describe('Of `released` and `redriven`: what they were withheld or refused for.'),
  changes: z.int(),
  withheld: z.record(z.string(), z.int()).readonly().describe('Not sent on purpose, by reason.'),
  observed: z.boolean().describe('The sink observes: they are counted, and not sent.'),
  estimated: z.boolean().describe('Only the newest of a large number were planned, so `changes` is an estimate.'),
});
export type CausedDeliveries = z.infer<typeof causedDeliveriesSchema>;

const keptItemsSchema = z.object({
  sink: z.string(),
  list: z.string(),
  reason: z
    .string()
    .describe(
      'Why no later change of it is sent: `list-not-wanted`, or a state of consent such as `consent-not-asked`.',
    ),
  items: z.int(),
});
export type KeptItems = z.infer<typeof keptItemsSchema>;

/** Changes and consequences of a configuration. */
export const configurationPlanSchema = z
  .object({
    current: z.int().describe('The number of the one that is current.'),
    changes: z.array(configurationChangeSchema).readonly(),
    pigeonholes: z
      .array(selectionChangeSchema)
      .readonly()
      .describe('Pigeonholes that a sync begins or ceases to read.'),
    deliveries: z
      .array(causedDeliveriesSchema)
      .readonly()
      .describe('What is sent because of it, beside what is found from now on.'),
    kept: z
      .array(keptItemsSchema)
      .readonly()
      .describe('What stays at a sink that is sent it no more: nothing is taken back.'),
    atNextStart: z.array(z.string()).readonly().describe('Keys that take effect at the next start.'),
    warnings: z.array(z.string()).readonly().describe('What is allowed but probably not meant.'),
  })
  .openapi('ConfigurationPlan');
export type ConfigurationPlan = z.infer<typeof configurationPlanSchema>;

export const appliedConfigurationSchema = z
  .object({
    number: z.int(),
    changed: z.boolean().describe('False: the file is the current configuration already.'),
    plan: configurationPlanSchema,
  })
  .openapi('AppliedConfiguration');
export type AppliedConfiguration = z.infer<typeof appliedConfigurationSchema>;
