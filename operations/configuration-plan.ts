import { z } from '@hono/zod-openapi';
import { configuredName, printable } from '../base/printable.js';

/** A configuration to compare with the current one. Without `text`, it is the process's own file with its present content. */
export const candidateSchema = z
  .strictObject({
    file: printable(4096).optional().describe('Absolute path, which messages use.'),
    text: z
      .string()
      .max(1_000_000)
      .optional()
      .describe('Text of the file.')
      // The code refuses an empty text itself, with the sentence that it has for an empty file.
      .openapi({ minLength: 1 }),
  })
  .openapi('Candidate');
export type Candidate = z.infer<typeof candidateSchema>;

/** A configuration to plan: a candidate, or the process's own file with the draft of a sink. */
export const plannedSchema = z
  .strictObject({
    ...candidateSchema.shape,
    draft: configuredName().optional().describe('The file of the process with the draft of this sink.'),
  })
  .openapi('PlannedCandidate');
export type PlannedCandidate = z.infer<typeof plannedSchema>;

/** The request to apply the configuration. `file` is only compared: the process never reads any file but its own. */
export const applySchema = z.strictObject({ file: printable(4096).optional() });

const changedKeySchema = z.object({
  key: z.string(),
  from: z.string().optional().describe('The value as JSON; absent if it could contain a secret.'),
  to: z.string().optional(),
});
export type ChangedKey = z.infer<typeof changedKeySchema>;

export const configurationChangeSchema = z.object({
  kind: z.enum(['added', 'changed', 'removed']),
  what: z.enum(['workspace', 'sync', 'sink', 'drop folder', 'nightly export', 'alerts']),
  name: z.string(),
  keys: z.array(changedKeySchema).readonly().describe('Changed keys.'),
  note: z
    .string()
    .nullable()
    .describe(
      'Consequences that the keys do not show: for removed and returning entries, and for an approval that ends.',
    ),
});
export type ConfigurationChange = z.infer<typeof configurationChangeSchema>;

const selectionChangeSchema = z.object({
  sync: z.string(),
  workspace: z.string(),
  added: z.array(z.int()).readonly(),
  removed: z.array(z.int()).readonly(),
  unread: z.int().describe('Number of added pigeonholes that were never read, so that their content is not known.'),
});
export type SelectionChange = z.infer<typeof selectionChangeSchema>;

const deliveryCauseSchema = z
  .enum(['history', 'list-added', 'released', 'cured', 'redriven', 'since-watermark', 'observed'])
  .describe(
    '`history`: the sink is new for the pigeonhole; `list-added`: it receives a list that it did not receive before; `released`: `reason` no longer withholds the changes; `cured`: the old mapping withheld them and the new one sends them; `redriven`: they were refused for `reason` and are sent again; `since-watermark`: the sink was left out for a while and receives what it missed; `observed`: the sink only counted the changes and now sends them, which are counted for all lists together.',
  );
export type DeliveryCause = z.infer<typeof deliveryCauseSchema>;

const causedDeliveriesSchema = z.object({
  sink: z.string(),
  list: z.string().describe('`changes` for the cause `observed`, which has no counts by list.'),
  cause: deliveryCauseSchema,
  reason: z.string().nullable().describe('For `released` and `redriven`: why the changes were withheld or refused.'),
  changes: z.int(),
  withheld: z
    .record(z.string(), z.int())
    .readonly()
    .describe('Changes that consent, the selection or the mapping withholds, by reason; not among `changes`.'),
  failed: z.int().describe('Changes that become dead letters because the mapping fails; not among `changes`.'),
  observed: z.boolean().describe('The sink observes: changes are counted and not sent.'),
  estimated: z.boolean().describe('Only the newest of a large number were planned, so `changes` is an estimate.'),
});
export type CausedDeliveries = z.infer<typeof causedDeliveriesSchema>;

const withheldItemsSchema = z.object({
  sink: z.string(),
  list: z.string(),
  items: z
    .int()
    .describe(
      'Number of stored items that the mapping decides about. All are counted as if the sink had not received them yet.',
    ),
  withheld: z.record(z.string(), z.int()).readonly().describe('Those that the mapping withholds, by reason.'),
  failed: z.int().describe('Those for which the mapping fails, so that they become dead letters.'),
  before: z
    .int()
    .nullable()
    .describe('The sum of both with the running configuration; null if the sink or the list is new.'),
  problem: z
    .string()
    .nullable()
    .describe(
      'The sentence that the status would show, if the mapping withholds the whole list and probably should not.',
    ),
  estimated: z.boolean().describe('Only the newest of a large number were planned, so the counts are an estimate.'),
});
export type WithheldItems = z.infer<typeof withheldItemsSchema>;

const keptItemsSchema = z.object({
  sink: z.string(),
  list: z.string(),
  reason: z
    .string()
    .describe('Why no later change is sent: `list-not-wanted`, or a state of consent such as `consent-not-asked`.'),
  items: z.int(),
});
export type KeptItems = z.infer<typeof keptItemsSchema>;

/** Changes and consequences of a configuration. */
export const configurationPlanSchema = z
  .object({
    current: z.int().describe('Number of the current configuration.'),
    changes: z.array(configurationChangeSchema).readonly(),
    pigeonholes: z.array(selectionChangeSchema).readonly().describe('Pigeonholes that a sync starts or stops reading.'),
    deliveries: z
      .array(causedDeliveriesSchema)
      .readonly()
      .describe(
        'Stored changes that are sent because of the new configuration, in addition to those found from now on.',
      ),
    withholding: z
      .array(withheldItemsSchema)
      .readonly()
      .describe('Lists of which a new or changed mapping withholds more than the running one, or everything.'),
    kept: z
      .array(keptItemsSchema)
      .readonly()
      .describe('Data that stays at a sink that no longer receives it: nothing is removed there.'),
    atNextStart: z.array(z.string()).readonly().describe('Keys that take effect at the next start.'),
    warnings: z.array(z.string()).readonly().describe('Settings that are allowed but probably not intended.'),
  })
  .openapi('ConfigurationPlan');
export type ConfigurationPlan = z.infer<typeof configurationPlanSchema>;

export const appliedConfigurationSchema = z
  .object({
    number: z.int(),
    changed: z.boolean().describe('False: the file is already the current configuration.'),
    plan: configurationPlanSchema,
  })
  .openapi('AppliedConfiguration');
export type AppliedConfiguration = z.infer<typeof appliedConfigurationSchema>;
