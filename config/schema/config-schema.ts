import { z } from 'zod';
import { exportsSchema } from './exports.js';
import { alertsSchema, importsSchema, retentionSchema, telemetrySchema } from './operations.js';
import {
  networkSchema,
  serverSchema,
  temporalSchema,
  ledgerKeySchema,
  storeConnectionsSchema,
  storeSchema,
} from './process.js';
import { syncsSchema } from './syncs.js';
import {
  headerSecret,
  identifier,
  ifNotGroup,
  namedGroup,
  nonEmptyText,
  percent,
  serviceUrl,
  duration,
  listOf,
  oneOf,
  wholeNumber,
} from '../values.js';
import { listNames } from '../../base/lists.js';

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
    .describe("How the sink removes a person's data from the destination."),
  limits: z
    .strictObject({
      per10s: wholeNumber({ min: 1, max: 1_000_000, unit: 'requests' }).optional().describe('Requests in 10 seconds.'),
      perDay: wholeNumber({ min: 1, max: 1_000_000_000, unit: 'requests' }).optional().describe('Requests in a day.'),
    })
    .optional()
    .describe('Limits of the account, if they differ from the defaults of the vendor.'),
  audit: z
    .union([oneOf(['never']), duration({ minMs: 60_000 })], { error: 'allowed: never, or a duration such as 1d' })
    .prefault('1d')
    .meta({ allowed: '`never`, or a duration such as 1d' })
    .describe(
      'Interval at which pigeonpost compares the destination with what it delivered. It becomes longer while nothing is delivered. `never`: only on request.',
    ),
};

/** `sinks`: where changes go. The schema is loose, because the schema of the sink's type checks its own keys. */
const sinksSchema = namedGroup(
  'sink',
  z.looseObject(commonSinkShape).describe('A sink under a name of your choice.'),
).describe('Where changes go. The name is an identity in the ledger: renaming one makes it a new sink.');

/** `workspaces`: one per API key of the service. */
const workspacesSchema = namedGroup(
  'workspace',
  z
    .strictObject({
      baseUrl: serviceUrl().describe('Address of the service, with or without the `/v2` of its paths.'),
      apiKey: headerSecret().describe('API key of the workspace. It gives access to everything in it.'),
      subscriptionId: identifier()
        .optional()
        .describe(
          'Team workspaces only: the subscription under which `pigeonpost apply` creates a pigeonhole whose file names none.',
        ),
      subscriptionField: nonEmptyText('the name of a field')
        .optional()
        .describe(
          'Field that names the subscription in requests to the service; `subscriptionId` by default. The documentation of the service does not name it.',
        ),
      quota: z
        .strictObject({
          reserve: percent().prefault('10%').describe('Share of the request quota that reading leaves to imports.'),
        })
        .prefault({})
        .describe('How the request quota of the API key is shared out.'),
    })
    .describe('A workspace under a name of your choice.'),
).describe(
  'The workspaces to read, one per API key. The name is an identity in the ledger: renaming one starts afresh.',
);

/**
 * The schema of pigeonpost.yaml. docs/configuration.md is generated from the descriptions.
 */
export const configSchema = z.strictObject(
  {
    workspaces: workspacesSchema,
    syncs: syncsSchema,
    sinks: sinksSchema,
    store: storeSchema,
    storeConnections: storeConnectionsSchema,
    ledgerKey: ledgerKeySchema,
    temporal: temporalSchema,
    server: serverSchema,
    network: networkSchema,
    telemetry: telemetrySchema,
    alerts: alertsSchema,
    imports: importsSchema,
    exports: exportsSchema,
    retention: retentionSchema,
  },
  { error: ifNotGroup('a group of keys such as workspaces, syncs, sinks') },
);

/** The schema's output. `config.ts` has the types that the rest of the program uses. */
export type ParsedConfig = z.output<typeof configSchema>;
