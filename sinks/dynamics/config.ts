import { z } from 'zod';
import { listNames } from '../../base/lists.js';
import { listOf, nonEmptyText, oneOf, secret, sinkUrl, text } from '../../config/values.js';
import { expression, writtenValue } from '../mapping/expression-schema.js';
import { networkKeys, plainHttpStaysPrivate } from '../network/address-policy.js';

const column = () =>
  text('the logical name of a column, such as emailaddress1', (found) =>
    /^[a-z][a-z0-9_]{0,99}$/.test(found) ? found : undefined,
  );

const recordKeys = z.strictObject({
  from: oneOf(listNames).describe('The list of the items.'),
  when: expression().optional().describe('Only items for which this is true.'),
  object: text('the entity set name of a table, such as contacts', (found) =>
    /^[a-z][a-z0-9_]{0,99}$/.test(found) ? found : undefined,
  ).describe('The table of the rows, by its entity set name: `contacts`, `leads`, or a table of your own.'),
  match: listOf(column(), { allowed: 'a list of columns' }).describe(
    'Columns by which the row is found, in order: the first that finds one decides.',
  ),
  onSeveral: oneOf(['newest', 'oldest', 'park'])
    .prefault('park')
    .describe('The row to use if several match: the newest or oldest by creation, or none (`park`, a dead letter).'),
  create: z
    .boolean({ error: 'allowed: true or false' })
    .default(true)
    .describe('Whether to create rows that are not found. `false` only updates.'),
  properties: z
    .record(column(), writtenValue, { error: 'allowed: logical names of columns, each with an expression' })
    .describe('What is written, by the logical name of the column.'),
});

const record = recordKeys.superRefine((keys, context) => {
  for (const name of keys.match.filter((each) => !Object.hasOwn(keys.properties, each))) {
    const message = `add ${name} to "properties", which sets its value`;
    context.issues.push({ code: 'custom', input: keys, path: ['match'], message });
  }
});

/** docs/sinks/dynamics.md explains each key to users. */
export const dynamicsConfigSchema = z
  .strictObject({
    baseUrl: sinkUrl().describe("The address of your environment's Web API, with its version."),
    tokenUrl: sinkUrl().describe("The address of your tenant's token endpoint."),
    clientId: nonEmptyText('the id of an application').describe('The id of the application in Microsoft Entra.'),
    clientSecret: secret().describe('A secret of the application.'),
    records: z
      .array(record, { error: 'allowed: a list of records' })
      .min(1, { error: 'allowed: at least one record' })
      .describe('What to write to Dynamics for each list.'),
    ...networkKeys,
  })
  .superRefine(plainHttpStaysPrivate('baseUrl'))
  .superRefine(plainHttpStaysPrivate('tokenUrl'));

/** The keys of a `dynamics` sink in pigeonpost.yaml, without those that all sinks share. */
export type DynamicsConfig = Readonly<z.infer<typeof dynamicsConfigSchema>>;
