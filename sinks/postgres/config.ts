import { z } from 'zod';
import type { Secret } from '../../config/secret.js';
import { secret, text } from '../../config/values.js';
import { readCertificates, readUrl } from './read-url.js';

/** `postgres` in pigeonpost.yaml, less the keys that all sinks share. docs/sinks/postgres.md explains each to users. */
export interface PostgresConfig {
  /** May hold a password, so no log or error shows more of it than host and port. */
  readonly url: Secret;
  readonly schema: string;
}

const urlSecret = secret().superRefine((found, context) => {
  try {
    readCertificates(readUrl(found.reveal()));
  } catch (error) {
    context.issues.push({ code: 'custom', input: undefined, message: `this URL ${(error as Error).message}` });
  }
});

export const postgresConfigSchema: z.ZodType<PostgresConfig> = z.strictObject({
  url: urlSecret
    .meta({
      allowed:
        'postgres://user:password@host:5432/database?sslmode=verify-full, written as `${NAME}` or `${file:/path}`',
      secret: true,
    })
    .describe('The database. Without `sslmode` the certificate is checked; private addresses are allowed.'),
  schema: text('a schema in lower case, such as engagement', (found) =>
    /^(?!pg_)[a-z_][a-z0-9_]{0,62}$/.test(found) ? found : undefined,
  ).describe('The schema with a table for each list. It is made if need be, and belongs to this sink alone.'),
});
