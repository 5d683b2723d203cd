import { z } from 'zod';
import { ConfigError, formatProblem, type Problem } from './config-error.js';
import { type KeyPath, type ConfigDocument, readDocument } from './read-document.js';
import { parseTree, problemAt } from './parse-tree.js';
import { dayIn, instantsOf, isTimezone } from '../base/zoned-instant.js';
import { day, identifier, ifNotGroup, name, nonEmptyText, text } from './values.js';

/**
 * The schema of event files for `pigeonpost apply`. Fields have the service's own names (event-engagement-api.md,
 * "Pigeonhole" and "Session"); docs/provisioning.md explains them. `id` names an object in the file and is never sent.
 */

const words = () => z.string({ error: 'allowed: a text' });
const flag = () => z.boolean({ error: 'allowed: true or false' });

/** Further fields, which are sent as written. The service ignores fields that it does not know. */
const more = () => z.record(z.string(), z.unknown(), { error: 'allowed: a group of further fields' }).prefault({});

/** The form of a time: local in the pigeonhole's time zone, or with `Z` or an offset. */
const momentForm = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(:\d{2})?(Z|[+-]\d{2}:\d{2})?$/;

const moment = () =>
  text('a time such as 2026-11-21T09:00, or with an offset such as 2026-11-21T09:00+08:00', (found) => {
    const [, date, minutes, seconds = ':00', offset = 'Z'] = momentForm.exec(found) ?? [];
    const read = Date.parse(`${date}T${minutes}${seconds}Z`);
    // JavaScript reads 30 February as 2 March, and 24:00 as the next day
    if (Number.isNaN(read) || new Date(read).toISOString().slice(0, 16) !== `${date}T${minutes}`) return undefined;
    return Number.isNaN(Date.parse(`${date}T${minutes}${seconds}${offset}`)) ? undefined : found;
  });

const pigeonholeFileSchema = z.strictObject(
  {
    name: nonEmptyText(),
    startDate: day(),
    endDate: day(),
    timezone: text('an IANA time zone such as Europe/Berlin', (found) => (isTimezone(found) ? found : undefined)),
    subscription: z
      .union([identifier(), nonEmptyText('the name or the id of a subscription')], {
        error: 'allowed: the name or the id of a subscription',
      })
      .optional(),
    description: words().optional(),
    attendeeProfiles: flag().optional(),
    registrants: flag().optional(),
    attendeeCodeRequired: flag().optional(),
    more: more(),
  },
  { error: ifNotGroup('a group with name, startDate, endDate, timezone') },
);

const sessionFileSchema = z.strictObject(
  {
    id: name().refine((id) => id !== 'pigeonhole', {
      error: '"pigeonhole" is what the pigeonhole itself is called; choose another id',
    }),
    name: nonEmptyText(),
    type: text('the type of a session such as qna or poll_word_cloud', (found) =>
      /^[a-z][a-z0-9_]*$/.test(found) ? found : undefined,
    ),
    startDate: moment().optional(),
    endDate: moment().optional(),
    description: words().optional(),
    location: words().optional(),
    sessionLabel: words().optional(),
    buttonText: words().optional(),
    tags: words().optional(),
    redirectAttendeesTo: words().optional(),
    logoPosition: words().optional(),
    displayQuestionsBy: words().optional(),
    anonymousResponses: flag().optional(),
    questionFiltering: flag().optional(),
    comments: flag().optional(),
    commentFiltering: flag().optional(),
    answers: flag().optional(),
    answerRatings: flag().optional(),
    adminCollaboration: flag().optional(),
    hideOtherAttendeesQuestions: flag().optional(),
    questionVotes: flag().optional(),
    questionsAvailableAfterEnd: flag().optional(),
    tagsRequired: flag().optional(),
    externalVideoReactions: flag().optional(),
    more: more(),
  },
  { error: ifNotGroup('a group with id, name, type') },
);

const eventFileSchema = z.strictObject(
  {
    id: name(),
    workspace: name().optional(),
    pigeonhole: pigeonholeFileSchema,
    sessions: z.array(sessionFileSchema, { error: 'allowed: a list of sessions' }).prefault([]),
  },
  { error: ifNotGroup('a group of keys such as id, pigeonhole, sessions') },
);

/** A valid event file for `pigeonpost apply`: a pigeonhole and its sessions. */
export interface EventFile {
  /** The event's name in the file. With the workspace, it identifies the event in the ledger. */
  readonly id: string;
  /** Null: the only configured workspace. */
  readonly workspace: string | null;
  readonly pigeonhole: EventObject<PigeonholeFields>;
  /** Name or ID of the subscription, as in the file; null: the file names none. */
  readonly subscription: string | number | null;
  readonly sessions: readonly EventObject<SessionFields>[];
  /** Lines about settings that are allowed but probably a mistake. */
  readonly warnings: readonly string[];
  /** Formats a problem as one line. @param key a key at the top level of the file */
  problemLine(key: string, message: string): string;
}

type PigeonholeInFile = z.output<typeof pigeonholeFileSchema>;
type SessionInFile = z.output<typeof sessionFileSchema>;

/** Fields of a pigeonhole to send, under the service's names. */
export type PigeonholeFields = Omit<PigeonholeInFile, 'subscription' | 'more'>;

/** Fields of a session to send, under the service's names; times in UTC. */
export type SessionFields = Omit<SessionInFile, 'id' | 'more'>;

/** A pigeonhole or a session of the file. */
export interface EventObject<Fields = PigeonholeFields | SessionFields> {
  /** `pigeonhole`, or the session's `id`. */
  readonly key: string;
  readonly fields: Fields;
  /** Formats a problem as one line, with the position of the field, or of the object if the field is absent. */
  problemLine(field: string, message: string): string;
}

const guide = 'docs/provisioning.md';

/**
 * Reads an event file. References are not resolved, because the text comes from a caller of the API, who must not read
 * the environment or the files of the process.
 * @param file its name in messages
 * @throws {ConfigError} with every problem found, each with its line
 */
export function readEventFile(text: string, file: string): EventFile {
  const document = readDocument(text, file, null, guide);
  const parsed = parseTree(eventFileSchema, document.tree, document);
  if ('problems' in parsed) throw new ConfigError('invalid', file, inOrder([...document.problems, ...parsed.problems]));
  const { id, workspace, pigeonhole, sessions } = parsed.value;
  const problems: Problem[] = [...document.problems];
  const warnings: Problem[] = [];
  const noting: Noting = { file, document, problems, warnings };
  const { subscription, ...rest } = pigeonhole;
  const event: EventFile = {
    id,
    workspace: workspace ?? null,
    subscription: subscription ?? null,
    pigeonhole: toObject(noting, { key: 'pigeonhole', at: ['pigeonhole'] }, rest, pigeonholeFileSchema),
    sessions: sessions.map((session, n) => toSession(noting, session, ['sessions', n], pigeonhole)),
    warnings: inOrder(warnings).map((warning) => formatProblem(file, warning)),
    problemLine: (key, message) => formatProblem(file, problemAt(document, [key], message)),
  };
  if (pigeonhole.endDate < pigeonhole.startDate) {
    problems.push(problemAt(document, ['pigeonhole', 'endDate'], 'is before startDate; correct one of the two'));
  }
  const seen = new Set<string>();
  for (const [n, { id: key }] of sessions.entries()) {
    if (seen.has(key))
      problems.push(problemAt(document, ['sessions', n, 'id'], 'this id is used twice; give each session its own'));
    seen.add(key);
  }
  if (problems.length > 0) throw new ConfigError('invalid', file, inOrder(problems));
  return event;
}

interface Noting {
  readonly file: string;
  readonly document: ConfigDocument;
  readonly problems: Problem[];
  readonly warnings: Problem[];
}

function toSession(
  noting: Noting,
  session: SessionInFile,
  at: KeyPath,
  pigeonhole: PigeonholeInFile,
): EventObject<SessionFields> {
  const { document, problems, warnings } = noting;
  const { id, startDate, endDate, ...rest } = session;
  const instants = Object.entries({ startDate, endDate }).flatMap(([field, moment]) => {
    if (moment === undefined) {
      // the service's own rule: event-engagement-api.md, "Session"
      if (session.type === 'qna')
        problems.push(problemAt(document, [...at, field], 'is missing, and a qna session needs it'));
      return [];
    }
    const instant = toInstant(moment, pigeonhole.timezone);
    if (typeof instant === 'number') return [[field, instant] as const];
    problems.push(problemAt(document, [...at, field], instant.problem));
    return [];
  });
  const { startDate: startsAt, endDate: endsAt } = Object.fromEntries(instants);
  if (startsAt !== undefined && endsAt !== undefined && endsAt < startsAt) {
    problems.push(problemAt(document, [...at, 'endDate'], 'is before startDate; correct one of the two'));
  }
  if (startsAt !== undefined && endsAt === startsAt) {
    warnings.push(problemAt(document, [...at, 'endDate'], 'is the same as startDate, so the session has no length'));
  }
  // A session that ends at midnight ends on the day before.
  const lastMs = endsAt === undefined || endsAt === startsAt ? undefined : endsAt - 1;
  for (const [field, ms] of Object.entries({ startDate: startsAt, endDate: lastMs })) {
    if (ms === undefined) continue;
    const day = dayIn(pigeonhole.timezone, ms);
    if (day >= pigeonhole.startDate && day <= pigeonhole.endDate) continue;
    warnings.push(
      problemAt(document, [...at, field], `is not on a day of the pigeonhole: in ${pigeonhole.timezone}, it is ${day}`),
    );
  }
  const times = Object.fromEntries(
    instants.map(([field, ms]) => [field, new Date(ms).toISOString().replace('.000Z', 'Z')]),
  );
  return toObject(noting, { key: id, at }, { ...rest, ...times }, sessionFileSchema);
}

function toObject<Fields extends { readonly more: Readonly<Record<string, unknown>> }>(
  { file, document, problems }: Noting,
  { key, at }: { readonly key: string; readonly at: KeyPath },
  { more, ...own }: Fields,
  schema: z.ZodObject,
): EventObject<Omit<Fields, 'more'>> {
  for (const field of Object.keys(more)) {
    if (!(field in schema.shape)) continue;
    problems.push(problemAt(document, [...at, 'more', field], 'is a key of its own; write it outside of "more"'));
  }
  return {
    key,
    fields: { ...own, ...more },
    problemLine: (field, message) => {
      const isMore = document.isWritten([...at, 'more', field]);
      return formatProblem(file, problemAt(document, [...at, ...(isMore ? ['more'] : []), field], message));
    },
  };
}

/**
 * Converts a time that the schema accepted into Unix time in ms. If it is not exactly one instant, returns the reason.
 */
function toInstant(moment: string, timezone: string): number | { readonly problem: string } {
  const [, date, minutes, seconds = ':00', offset] = momentForm.exec(moment)!;
  const local = `${date}T${minutes}${seconds}`;
  if (offset !== undefined) return Date.parse(`${local}${offset}`);
  const [first, second] = instantsOf(local, timezone);
  if (first === undefined)
    return { problem: `this time does not exist in ${timezone}: clocks are set forward over it` };
  if (second === undefined) return first;
  return {
    problem: `this time occurs twice in ${timezone}, because clocks are set back; add an offset such as +01:00`,
  };
}

function inOrder(problems: readonly Problem[]): Problem[] {
  return problems.toSorted((one, other) => one.line - other.line || one.column - other.column);
}

/**
 * Returns the configured workspace of an event.
 * @throws {ConfigError} if no workspace has that name, or if the event names none although several are configured
 */
export function workspaceOfEvent(event: EventFile, file: string, configured: readonly string[]): string {
  const [only, ...others] = configured;
  if (event.workspace === null && only !== undefined && others.length === 0) return only;
  if (event.workspace !== null && configured.includes(event.workspace)) return event.workspace;
  const found = event.workspace === null ? 'is missing' : `found "${event.workspace}"`;
  const line = event.problemLine('workspace', `${found}, allowed: one of ${configured.join(', ')} of pigeonpost.yaml`);
  throw new ConfigError('invalid', file, [], { message: line });
}
