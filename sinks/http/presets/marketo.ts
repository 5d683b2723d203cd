import type { Preset } from '../keys.js';

/**
 * Creates or updates leads in Marketo by e-mail, with up to 300 in one request. Marketo answers 200 and reports
 * failures in the body. There is no `delete`, because an upsert does not show whether the lead existed before. Sources:
 * sinks/http/README.md, "Marketo".
 */
export const marketo: Preset = {
  name: 'marketo',
  title: 'Marketo',
  limits: { per10s: 50, perDay: 50_000 },
  settings: {
    auth: { type: 'client-credentials', clientAuthentication: 'client_secret_post' },
    batch: { size: 300, maxAge: '10s' },
    maxBytes: 1_000_000,
    check: { url: '"/rest/v1/leads/describe.json"' },
    accept: [
      {
        when: 'body.success = false and body.errors[code = "606"]',
        outcome: 'retry',
        after: '20s',
        cause: '"marketo:606"',
      },
      {
        when: 'body.success = false and body.errors[code = "607"]',
        outcome: 'retry',
        after: '1h',
        cause: '"marketo:607"',
      },
      {
        when: 'body.success = false and body.errors[code in ["502", "601", "602", "604", "608", "611", "614", "615", "713", "719"]]',
        outcome: 'retry',
        after: '30s',
        cause: '"marketo:" & body.errors[0].code',
      },
      {
        when: 'body.success = false and body.errors[code in ["600", "603", "610"]]',
        outcome: 'pause',
        cause: '"marketo:" & body.errors[0].code',
        detail: 'give the role of the API user the permissions Read-Write Person and Read-Only Person',
      },
      { when: 'body.success = false', outcome: 'rejected', cause: '"marketo:" & body.errors[0].code' },
    ],
    results: `[body.result.{
      "outcome": status = "created" or status = "updated" ? "delivered" : "rejected",
      "id": id,
      "cause": reasons ? "marketo:" & reasons[0].code : "marketo:" & status
    }]`,
  },
  record: {
    requires: ['email'],
    create: {
      url: '"/rest/v1/leads.json"',
      body: 'properties',
      batch: '{ "action": "createOrUpdate", "lookupField": "email", "input": [items] }',
    },
  },
};
