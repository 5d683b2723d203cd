import type { Preset } from '../keys.js';

/**
 * Writes contacts in Dynamics 365 (Dataverse). Finds a contact by e-mail. An existing contact keeps its name and
 * address; only `columns` are written. Sources: sinks/http/README.md, "Dynamics 365".
 */
export const dynamics: Preset = {
  name: 'dynamics',
  title: 'Dynamics 365',
  limits: { per10s: 150 },
  settings: {
    auth: { type: 'client-credentials', clientAuthentication: 'client_secret_post' },
    headers: { accept: '"application/json"', 'odata-version': '"4.0"', 'odata-maxversion': '"4.0"' },
    check: { url: '"/WhoAmI"' },
    accept: [{ when: 'request = "update" and status = 404', outcome: 'missing' }],
  },
  record: {
    requires: ['email', 'lastname'],
    find: {
      url: `"/contacts?$select=contactid&$top=1&$orderby=createdon&$filter="
        & $encodeUrlComponent("emailaddress1 eq '" & $replace(properties.email, "'", "''") & "'")`,
      idFrom: 'body.value[0].contactid',
    },
    create: {
      url: '"/contacts"',
      headers: { prefer: '"return=representation"' },
      body: `$merge([
        { "emailaddress1": properties.email, "lastname": properties.lastname },
        properties.firstname ? { "firstname": properties.firstname } : {},
        properties.columns ? properties.columns : {}
      ])`,
      idFrom: 'body.contactid',
    },
    // Without If-Match, an update of a deleted contact would create it again.
    update: {
      url: '"/contacts(" & record.id & ")"',
      headers: { 'if-match': '"*"' },
      body: 'properties.columns ? properties.columns : {}',
    },
    delete: { url: '"/contacts(" & record.id & ")"' },
  },
};
