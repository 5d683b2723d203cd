import type { Preset } from '../keys.js';

/** Vendors whose records the sink finds, updates and, except in Marketo and Moodle, deletes. */

const airtableUpsert = {
  method: 'PATCH',
  body: '{ "fields": $merge([properties, { "Item": change.list & ":" & change.pigeonholeId & ":" & change.key }]) }',
  batch: '{ "performUpsert": { "fieldsToMergeOn": ["Item"] }, "typecast": true, "records": [items] }',
} as const;

/**
 * Writes a row of an Airtable table for each item. Finds the row by its field `Item`. Sources: sinks/http/README.md,
 * "Airtable".
 */
export const airtable: Preset = {
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
    create: airtableUpsert,
    update: airtableUpsert,
    delete: { url: '"/" & record.id' },
  },
};

/**
 * Creates or updates leads in Marketo by e-mail, with up to 300 in one request. Marketo answers 200 and reports
 * failures in the body. There is no `delete`, because an upsert does not show whether the lead existed before. Sources:
 * sinks/http/README.md, "Marketo".
 */
export const marketo: Preset = {
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

const moodleServer = '"/webservice/rest/server.php"';

const moodleGrade = {
  method: 'POST',
  url: moodleServer,
  encoding: 'form',
  body: `{
    "wsfunction": "core_grades_update_grades",
    "moodlewsrestformat": "json",
    "source": "pigeonpost",
    "courseid": properties.courseid,
    "component": properties.component ? properties.component : "mod_assign",
    "activityid": properties.activityid,
    "itemnumber": 0,
    "grades": [{ "studentid": record.id, "grade": properties.grade }]
  }`,
} as const;

/**
 * Writes a grade of an activity in Moodle. Looks up the student first, because Moodle's own user id identifies the
 * student of a grade. Sources: sinks/http/README.md, "Moodle".
 */
export const moodle: Preset = {
  settings: {
    auth: { type: 'parameter', name: 'wstoken' },
    check: {
      method: 'POST',
      url: moodleServer,
      encoding: 'form',
      body: '{ "wsfunction": "core_webservice_get_site_info", "moodlewsrestformat": "json" }',
    },
    accept: [
      {
        when: 'body.errorcode in ["invalidtoken", "accessexception", "servicenotavailable", "enablewsdescription"]',
        outcome: 'pause',
        cause: 'body.errorcode',
        detail:
          'check the token, and that its service is enabled and has the functions that docs/sinks/http/moodle.md names',
      },
      {
        when: 'body.errorcode in ["sitemaintenance", "upgraderunning", "dmlreadexception", "dmlwriteexception", "dbconnectionfailed"]',
        outcome: 'retry',
        cause: 'body.errorcode',
        after: '60s',
      },
      { when: '$exists(body.exception)', outcome: 'rejected', cause: 'body.errorcode' },
      {
        when: 'request = "find" and $count(body) != 1',
        outcome: 'rejected',
        cause: '$count(body) = 0 ? "student-not-found" : "several-students"',
        detail:
          'check "properties.user", "properties.userField", and that the user of the token has moodle/site:viewuseridentity',
      },
      {
        // lib/grade/constants.php: 0 OK, 1 failed, 2 several grade items, 4 the grade item is locked
        when: 'request in ["create", "update"] and body != 0',
        outcome: 'rejected',
        cause: '"grade-update-" & body',
        detail: 'check that the activity has one grade item and that it is not locked',
      },
    ],
  },
  record: {
    requires: ['courseid', 'activityid', 'user', 'grade'],
    on: ['create', 'update'],
    find: {
      method: 'POST',
      url: moodleServer,
      encoding: 'form',
      body: `{
        "wsfunction": "core_user_get_users_by_field",
        "moodlewsrestformat": "json",
        "field": properties.userField ? properties.userField : "email",
        "values": [properties.user]
      }`,
      idFrom: 'body[0].id',
    },
    // never sent as a creation, because an item whose student is not found is rejected
    create: moodleGrade,
    update: moodleGrade,
  },
};

/**
 * Writes persons in Pipedrive. Finds a person by e-mail. An existing person keeps name and addresses; only custom
 * fields are written. Sources: sinks/http/README.md, "Pipedrive".
 */
export const pipedrive: Preset = {
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
