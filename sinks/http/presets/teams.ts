import type { Preset } from '../keys.js';

/**
 * Posts a message in a channel of Microsoft Teams, through a workflow with the trigger "When a Teams webhook request is
 * received". Sources: sinks/http/README.md, "Microsoft Teams".
 */
export const teams: Preset = {
  name: 'teams',
  title: 'Microsoft Teams',
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
