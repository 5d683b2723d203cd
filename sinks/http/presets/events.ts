import type { Preset } from '../keys.js';

/** Vendors that receive an event, a row or a message for each change or item, and never an update of one. */

/**
 * Columns that every row has besides those of the mapping. `id` is the change's id, which stays the same if a row is
 * sent again.
 */
const bigqueryRow = `{
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
      body: `{ "insertId": change.id, "json": $merge([${bigqueryRow}, "deleted": false }, properties]) }`,
      batch: '{ "rows": [items] }',
    },
    delete: {
      method: 'POST',
      url: '"/insertAll"',
      body: `{ "insertId": change.id, "json": ${bigqueryRow}, "deleted": true } }`,
      batch: '{ "rows": [items] }',
    },
  },
};

/** Sends a track event to Segment for each item. Sources: sinks/http/README.md, "Segment". */
export const segment: Preset = {
  settings: {
    baseUrl: 'https://api.segment.io/v1',
    auth: { type: 'basic' },
    batch: { size: 100 },
    maxBytes: 500_000,
  },
  record: {
    requires: ['userId', 'event'],
    on: ['create'],
    create: {
      url: '"/batch"',
      // Segment drops a second event with the same messageId, so a repeat is harmless.
      body: `{
        "type": "track",
        "messageId": change.id,
        "userId": $string(properties.userId),
        "event": properties.event,
        "timestamp": properties.timestamp ? properties.timestamp : change.timestamp,
        "properties": properties.properties
      }`,
      batch: '{ "batch": items }',
    },
  },
};

/**
 * Posts a message in a channel of Microsoft Teams, through a workflow with the trigger "When a Teams webhook request is
 * received". Sources: sinks/http/README.md, "Microsoft Teams".
 */
export const teams: Preset = {
  limits: { perSecond: 4, per10s: 20 },
  settings: {
    maxBytes: 28_000,
    accept: [
      {
        // If a workflow calls an older connector, it returns that connector's refusal with HTTP 200.
        when: '$type(body) = "string" and $contains(body, "HTTP error 429")',
        outcome: 'retry',
        after: '30s',
      },
    ],
    records: [
      {
        from: 'qna-questions',
        properties: {
          title: 'session.name',
          text: 'item.content',
          facts: '{ "From": $field("Name"), "Status": item.status }',
        },
      },
    ],
  },
  record: {
    requires: ['text'],
    on: ['create'],
    create: {
      // Teams renders Markdown in a TextBlock and in the facts of a FactSet, but not in a TextRun. Attendees choose
      // their names and texts, so everything is a TextRun, and a link that an attendee writes appears as plain text.
      body: `{
        "type": "message",
        "attachments": [{
          "contentType": "application/vnd.microsoft.card.adaptive",
          "contentUrl": null,
          "content": {
            "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
            "type": "AdaptiveCard",
            "version": "1.4",
            "body": $append(
              $append(
                [properties.title[$ != null].{
                  "type": "RichTextBlock",
                  "inlines": [{ "type": "TextRun", "text": $string($), "weight": "Bolder", "size": "Medium" }]
                }],
                [properties.text[$ != null].{
                  "type": "RichTextBlock",
                  "inlines": [{ "type": "TextRun", "text": $truncate($string($), 5000) }]
                }]
              ),
              [$each(properties.facts ? properties.facts : {}, function($value, $name) {
                {
                  "type": "RichTextBlock",
                  "inlines": [
                    { "type": "TextRun", "text": $name & ": ", "weight": "Bolder" },
                    { "type": "TextRun", "text": $truncate($string($value), 500) }
                  ]
                }
              })]
            )
          }
        }]
      }`,
    },
  },
};
