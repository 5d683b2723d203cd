import type { DoubleAnswer, DoubleRequest } from '../serve/double-request.js';
import { type RequestRule } from '../serve/request-rules.js';
import { type RunningDouble, serveDouble, type ServeOptions } from '../serve/serve-double.js';

export interface MoodleOptions extends ServeOptions {
  /** Whether the token's user has `moodle/site:viewuseridentity`. */
  readonly seesIdentity?: boolean;
  /** The site's setting `showuseridentity`: the fields that users with this capability see. */
  readonly identityFields?: readonly ('email' | 'idnumber')[];
  /** The maximum grade of the activity, which limits every grade, because `unlimitedgrades` is off on a new site. */
  readonly maxGrade?: number;
}

/** A new site, set up as docs/sinks/http/moodle.md says, with a new activity. */
export const freshAccount = {
  seesIdentity: true,
  identityFields: ['email'],
  maxGrade: 100,
} as const satisfies Omit<MoodleOptions, keyof ServeOptions>;

export interface MoodleDouble extends RunningDouble {
  readonly token: string;
  /** Grades of the activity by user id; some students have grades from the start. */
  readonly grades: ReadonlyMap<number, number>;
  /** Locks the grade item, as a teacher can in the gradebook. */
  lockGradeItem(): void;
}

const token = 'm00dle-token';
const courseId = 42;
const activityId = 7;
const users = [
  { id: 11, username: 'ann', email: 'ann@example.com', idnumber: 'S001' },
  { id: 12, username: 'ben', email: 'ben@example.com', idnumber: 'S002' },
  { id: 13, username: 'cam', email: 'shared@example.com', idnumber: 'S003' },
  { id: 14, username: 'dee', email: 'shared@example.com', idnumber: 'S004' },
];
const parameters: Readonly<Record<string, RegExp>> = {
  core_webservice_get_site_info: /^$/,
  core_user_get_users_by_field: /^(?:field|values\[\d+\])$/,
  core_grades_update_grades:
    /^(?:source|courseid|component|activityid|itemnumber|grades\[\d+\]\[(?:studentid|grade|str_feedback)\])$/,
};

/** Allows any form parameter, because each function checks its own. The token is a parameter, not a header. */
const rules: readonly RequestRule[] = [{ method: 'POST', path: /\/server\.php$/, form: [/./] }];

/**
 * Starts three functions of Moodle's REST server. It answers every call with HTTP 200, and an error is a body with
 * `exception`. It checks parameters as strictly as Moodle does. Sources: sinks/http/README.md, "Moodle".
 */
export async function startMoodleDouble(options: MoodleOptions = {}): Promise<MoodleDouble> {
  const { seesIdentity, identityFields, maxGrade } = { ...freshAccount, ...options };
  const grades = new Map([
    [12, 55],
    [13, 60],
  ]);
  let isLocked = false;

  const answer = ({ method, path, headers, body, query }: DoubleRequest): DoubleAnswer => {
    if (path !== '/webservice/rest/server.php') return { status: 404, html: 'not found' };
    const isForm = headers['content-type'] === 'application/x-www-form-urlencoded';
    if (method !== 'POST' || !isForm || query.size > 0) return failure('double_exception', 'unexpectedrequest');
    const form = new URLSearchParams(body);
    const { wstoken, moodlewsrestformat, wsfunction = '', ...given } = Object.fromEntries(form);
    if (wstoken !== token) return failure('core\\exception\\moodle_exception', 'invalidtoken');
    if (moodlewsrestformat !== 'json') return { status: 200, text: '<?xml version="1.0"?><RESPONSE/>' };
    const known = parameters[wsfunction];
    if (known === undefined) return failure('core\\exception\\access_exception', 'accessexception');
    if (Object.keys(given).some((name) => !known.test(name))) return invalidParameter();
    if (wsfunction === 'core_webservice_get_site_info') return { status: 200, json: { sitename: 'Campus', userid: 2 } };
    return wsfunction === 'core_user_get_users_by_field' ? usersBy(given) : updateGrades(given);
  };

  function usersBy(given: Readonly<Record<string, string>>): DoubleAnswer {
    const { field = '', ...values } = given;
    if (!['id', 'idnumber', 'username', 'email'].includes(field)) return invalidParameter();
    const isHidden =
      field === 'email' || field === 'idnumber'
        ? !seesIdentity || !identityFields.some((each) => each === field)
        : false;
    if (isHidden) return { status: 200, json: [] }; // not an error: Moodle omits users whose searched field the caller may not see
    const wanted = Object.values(values);
    const found = users.filter((user) => wanted.includes(String(user[field as keyof (typeof users)[number]])));
    return { status: 200, json: found };
  }

  function updateGrades(given: Readonly<Record<string, string>>): DoubleAnswer {
    const numbers = ['courseid', 'activityid', 'itemnumber', 'grades[0][studentid]'];
    if (numbers.some((name) => !/^\d+$/.test(given[name] ?? '')) || !given['source']) return invalidParameter();
    const grade = Number(given['grades[0][grade]'] || Number.NaN);
    if (Number.isNaN(grade)) return invalidParameter();
    if (Number(given['activityid']) !== activityId || given['component'] !== 'mod_assign') {
      return failure('core\\exception\\moodle_exception', 'invalidcoursemodule');
    }
    if (Number(given['courseid']) !== courseId)
      return failure('core\\exception\\moodle_exception', 'errorcoursecontextnotvalid');
    if (isLocked) return { status: 200, json: 4 };
    grades.set(Number(given['grades[0][studentid]']), Math.min(maxGrade, Math.max(0, grade)));
    return { status: 200, json: 0 };
  }

  const double = await serveDouble({ answer, state: () => [...grades], rules }, options);
  return { ...double, token, grades, lockGradeItem: () => (isLocked = true) };
}

function failure(exception: string, errorcode: string): DoubleAnswer {
  return { status: 200, json: { exception, errorcode, message: `Ann Ray: ${errorcode}` } };
}

const invalidParameter = (): DoubleAnswer => failure('invalid_parameter_exception', 'invalidparameter');
