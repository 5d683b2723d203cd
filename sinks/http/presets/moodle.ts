import type { Preset } from '../keys.js';

const server = '"/webservice/rest/server.php"';

const grade = {
  method: 'POST',
  url: server,
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
  name: 'moodle',
  title: 'Moodle',
  settings: {
    auth: { type: 'parameter', name: 'wstoken' },
    check: {
      method: 'POST',
      url: server,
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
      url: server,
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
    create: grade,
    update: grade,
  },
};
