import type { Preset } from './preset.js';

/**
 * A message in a channel of Microsoft Teams, by a workflow with the trigger "When a Teams webhook request is received".
 * Sources: sinks/http/README.md, "Microsoft Teams".
 */
export const teams: Preset = {
  name: 'teams',
  title: 'Microsoft Teams',
  limits: { per10s: 20 },
  settings: {
    maxBytes: 28_000,
    accept: [
      {
        // A workflow that calls an older connector passes its refusal on with HTTP 200.
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
      // TextRun shows a text as it is: Markdown in it, such as a link that somebody in the audience writes, has no effect.
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
              [properties.facts[$ != null and $count($keys($)) > 0].{
                "type": "FactSet",
                "facts": [$each($, function($value, $name) {
                  { "title": $name, "value": $truncate($string($value), 500) }
                })]
              }]
            )
          }
        }]
      }`,
    },
  },
};
