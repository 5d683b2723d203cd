/**
 * Returns the names that the text of a setting spells out: all keys and texts of a configuration, and the words and
 * quoted texts of its expressions. A name that is computed from the data of a person is not among them. Pure.
 * @param setting part of a configuration as JSON, without secrets
 */
export function literalNames(setting: unknown, found: Set<string> = new Set()): ReadonlySet<string> {
  if (typeof setting === 'string') {
    found.add(setting);
    for (const [, double, single, tick, word] of setting.matchAll(
      /"([^"\\]+)"|'([^'\\]+)'|`([^`]+)`|([\p{L}_$][\p{L}\p{N}_$-]*)/gu,
    )) {
      found.add((double ?? single ?? tick ?? word)!);
      // a literal part of an address, such as people in "/people/"
      for (const part of (double ?? single ?? '').split(/[/?&=]+/)) found.add(part);
    }
  } else if (typeof setting === 'object' && setting !== null) {
    for (const [name, value] of Object.entries(setting)) {
      if (!Array.isArray(setting)) found.add(name);
      literalNames(value, found);
    }
  }
  return found;
}

/**
 * Removes the content of data and keeps its shape: members and their types stay, texts and numbers do not. A member whose
 * name is neither known nor written by pigeonpost itself is shown without its name, because a mapping can make a name
 * from what a person entered. Booleans and empty values stay, because they say little about a person. Pure.
 */
export function withoutValues(data: unknown, known: ReadonlySet<string>): unknown {
  if (Array.isArray(data)) return data.map((each) => withoutValues(each, known));
  if (typeof data === 'object' && data !== null) {
    let hidden = 0;
    const nameOf = (name: string): string => {
      if (known.has(name) || ownNames.has(name)) return name;
      hidden += 1;
      return hidden === 1 ? '(name)' : `(name ${hidden})`;
    };
    return Object.fromEntries(Object.entries(data).map(([name, value]) => [nameOf(name), withoutValues(value, known)]));
  }
  if (data === '' || data === null || typeof data === 'boolean') return data;
  return typeof data === 'number' ? '(number)' : '(text)';
}

/**
 * Returns an address with `(value)` in place of each part of its path and query that is neither known nor written by
 * pigeonpost itself, because a mapping can write data there. The host is part of the configuration and stays. Pure.
 */
export function withoutAddressValues(address: string, known: ReadonlySet<string>): string {
  const [, host = '', rest = ''] = /^([a-z]+:\/\/[^/?]*)?([^]*)$/.exec(address)!;
  const shown = rest.replaceAll(/[^/?&=.]+/g, (part) => {
    const isShown = known.has(part) || ownNames.has(part) || addressParts.has(part) || /^v\d{1,2}$/.test(part);
    return isShown ? part : '(value)';
  });
  return `${host}${shown.replaceAll(/\(value\)(?:\.\(value\))+/g, '(value)')}`;
}

/** Parts of addresses that sinks write themselves. A part that is missing here is shown as `(value)`. */
const addressParts: ReadonlySet<string> = new Set(
  `{id} {number} (secret) add api assignments associate attend attendance batch cancel chat postMessage allOrNone composite
  contacts courses crm day default email-create events grades identifiers lists marketing marketing-events memberships
  ndjson gz notes objects q query register search_term services sobjects statements submissions update_grades upsert 0
  2026-09 Campaign CampaignMember Contact Lead Task false ids`.split(/\s+/),
);

/**
 * Names of members that sinks write themselves: parts of their operations, of the change envelope, and of the formats of
 * their destinations. A name that is missing here is shown as `(name)`.
 */
const ownNames: ReadonlySet<string> = new Set(
  `account action activities allOrNone assignment attributes grade_data grading_type idProperty inputs interactionDateTime
  link_names parse points_possible published reply_broadcast submission_types unfurl_links unfurl_media vid activityId actor address anonymous archive assignment assignmentId associations at
  attachments attendee attendeeCode attendeeId author batch before blocks body bytes call calls canvas cause change
  changeId channel column columns comment contact context contextActivities courseId create created createdAt data
  definition delete description detail display duration elements email emoji entry environment event eventId eventName
  excuse expressions extensions external fields file folder form found foundAt grade happenedAtMs headers homePage id
  identifier input inputs instance isAnonymous item itemKey items key kind language line lines link links list lists
  lookup lookups mark mbox member memberWrites members merge message messageTs metadata method name named notes object
  objectId objectType objects onForget op operation operations order overwrite owner parent path pigeonholeId
  pigeonhole_id platform posted_grade properties property purpose query raw read record records recordId registration
  remove replay request response result results revision row rows score sequence session sessionId session_id shared
  since sinceMs sink sobject stage startedFor state statement statements status step steps subject sub_id success
  table tellsOfMs text text_fields thread_ts timestamp title to ts type types unsure update updated url user userId
  value values verb version view visibility votes workspace write written writtenAtMs`.split(/\s+/),
);
