import type { Preset } from '../keys.js';

const upsert = {
  method: 'PATCH',
  body: '{ "fields": $merge([properties, { "Item": change.list & ":" & change.pigeonholeId & ":" & change.key }]) }',
  batch: '{ "performUpsert": { "fieldsToMergeOn": ["Item"] }, "typecast": true, "records": [items] }',
} as const;

/**
 * Writes a row of an Airtable table for each item. Finds the row by its field `Item`. Sources: sinks/http/README.md,
 * "Airtable".
 */
export const airtable: Preset = {
  name: 'airtable',
  title: 'Airtable',
  limits: { perSecond: 5, per10s: 50 },
  settings: {
    auth: { type: 'bearer' },
    batch: { size: 10 },
    check: { url: '"?maxRecords=1"' },
    accept: [
      {
        when: 'status = 429 and "PUBLIC_API_BILLING_LIMIT_EXCEEDED" in body.errors.error',
        outcome: 'retry',
        after: '1h',
        detail: 'the calls of this month are used up: Airtable accepts more next month or on another plan',
      },
      { when: 'status = 429', outcome: 'retry', after: '30s' },
      { when: 'status in [400, 413, 422]', outcome: 'rejected', cause: 'body.error.type' },
      {
        // Airtable gives the same answer for a row that no longer exists and for one that the token may not delete.
        when: 'request = "delete" and status = 403',
        outcome: 'rejected',
        cause: 'body.error.type',
        detail: 'the row no longer exists, or the token may not delete it: check the table',
      },
    ],
    // matched by the value of "Item", because the documentation promises no order of the rows
    results: `request = "delete" ? "delivered" : [items.(
      $item := fields.Item;
      $row := $$.body.records[fields.Item = $item];
      { "outcome": $row ? "delivered" : "rejected", "cause": "row-not-returned", "id": $row[0].id }
    )]`,
  },
  record: {
    create: upsert,
    update: upsert,
    delete: { url: '"/" & record.id' },
  },
};
