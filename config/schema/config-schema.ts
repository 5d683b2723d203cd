import { z } from 'zod';
import { alertsSchema, importsSchema, retentionSchema, telemetrySchema } from './operations.js';
import { networkSchema, serverSchema, temporalSchema } from './process.js';
import { sinksSchema } from './sinks.js';
import { ledgerKeySchema, storeConnectionsSchema, storeSchema } from './store.js';
import { syncsSchema } from './syncs.js';
import { workspacesSchema } from './workspaces.js';

/**
 * pigeonpost.yaml as a whole. docs/configuration.md is written from the descriptions.
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

/** What the schema makes of a file; config.ts has what the rest of the program sees. */
export type ParsedConfig = z.output<typeof configSchema>;
