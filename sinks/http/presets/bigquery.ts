import type { Preset } from '../keys.js';

/**
 * Columns that every row has besides those of the mapping. `id` is the change's id, which stays the same if a row is
 * sent again.
 */
const row = `{
  "id": change.id,
  "list": change.list,
  "key": change.key,
  "revision": change.revision,
  "found_at": change.timestamp`;

/**
 * Writes a row of a BigQuery table for each change, with `tabledata.insertAll`. One invalid row makes BigQuery refuse
 * the whole request, so the sink splits the request in halves until it finds that row. Sources: sinks/http/README.md,
 * "BigQuery".
 */
export const bigquery: Preset = {
  name: 'bigquery',
  title: 'BigQuery',
  settings: {
    auth: { type: 'jwt-bearer', tokenUrl: 'https://oauth2.googleapis.com/token' },
    revisions: 'every',
    batch: { size: 500, maxAge: '10s' },
    maxBytes: 9_000_000,
    check: { url: '"?fields=id"' },
    accept: [
      {
        when: '$count(body.insertErrors) > 0',
        outcome: 'rejected',
        cause: '"bigquery:" & [body.insertErrors.errors[reason != "stopped"].reason][0]',
      },
      {
        // For a few minutes, streaming inserts do not find a table that is new or was created again.
        when: 'status = 404',
        outcome: 'retry',
        after: '60s',
        detail: 'the table does not exist, or it was created a few minutes ago',
      },
      {
        when: 'status = 403 and body.error.errors[reason in ["rateLimitExceeded", "quotaExceeded"]]',
        outcome: 'retry',
        after: '30s',
      },
      {
        when: 'status = 403 and body.error.errors[reason = "accessDenied"]',
        outcome: 'pause',
        detail: 'check the role of the service account, and check that billing is enabled for the project',
      },
    ],
  },
  record: {
    create: {
      url: '"/insertAll"',
      body: `{ "insertId": change.id, "json": $merge([${row}, "deleted": false }, properties]) }`,
      batch: '{ "rows": [items] }',
    },
    delete: {
      method: 'POST',
      url: '"/insertAll"',
      body: `{ "insertId": change.id, "json": ${row}, "deleted": true } }`,
      batch: '{ "rows": [items] }',
    },
  },
};
