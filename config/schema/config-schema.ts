import { z } from 'zod';
import { alertsSchema, importsSchema, retentionSchema, telemetrySchema } from './operations.js';
import { networkSchema, serverSchema, temporalSchema } from './process.js';
import { sinksSchema } from './sinks.js';
import { ledgerKeySchema, storeConnectionsSchema, storeSchema } from './store.js';
import { syncsSchema } from './syncs.js';
import { headerSecret, identifier, name, nonEmptyText, percent, serviceUrl } from '../values.js';

/** `workspaces`: one per API key of the service. */
const workspacesSchema = z
  .record(
    name(),
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
    {
      error: ({ code }) =>
        code === 'invalid_type' ? 'allowed: a group of workspaces, each under its name' : undefined,
    },
  )
  .refine((workspaces) => Object.keys(workspaces).length > 0, { error: 'allowed: at least one workspace' })
  .describe(
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
    retention: retentionSchema,
  },
  {
    error: (issue) =>
      issue.code === 'invalid_type' ? 'allowed: a group of keys such as workspaces, syncs, sinks' : undefined,
  },
);

/** The schema's output. `config.ts` has the types that the rest of the program uses. */
export type ParsedConfig = z.output<typeof configSchema>;
