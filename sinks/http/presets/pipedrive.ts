import type { Preset } from '../keys.js';

/**
 * Writes persons in Pipedrive. Finds a person by e-mail. An existing person keeps name and addresses; only custom
 * fields are written. Sources: sinks/http/README.md, "Pipedrive".
 */
export const pipedrive: Preset = {
  name: 'pipedrive',
  title: 'Pipedrive',
  limits: { perSecond: 5, per10s: 20 },
  settings: {
    auth: { type: 'header', name: 'x-api-token' },
    check: { url: '"/persons?limit=1"' },
    accept: [
      { when: 'request = "update" and status = 404', outcome: 'missing' },
      {
        when: 'status = 403 and $contains($string(body.code), "feature_capping")',
        outcome: 'pause',
        detail: 'the account has reached a limit of its plan',
      },
    ],
  },
  record: {
    requires: ['email', 'name'],
    find: {
      url: '"/persons/search?fields=email&exact_match=true&limit=1&term=" & $encodeUrlComponent(properties.email)',
      idFrom: 'body.data.items[0].item.id',
    },
    create: {
      url: '"/persons"',
      body: `$merge([
        { "name": properties.name, "emails": [{ "value": properties.email, "primary": true, "label": "work" }] },
        properties.custom ? { "custom_fields": properties.custom } : {}
      ])`,
      idFrom: 'body.data.id',
    },
    update: {
      url: '"/persons/" & record.id',
      body: 'properties.custom ? { "custom_fields": properties.custom } : {}',
    },
    delete: { url: '"/persons/" & record.id' },
  },
};
