import type { Queryable } from './drivers/database.js';
import { type ListName, listsWhere, listTraits, type PersonRule } from '../base/lists.js';

/**
 * Whether sinks may see the identity of the person who created an item. `unknown` is treated as anonymous, but may
 * still become named.
 */
export type Visibility = 'named' | 'anonymous' | 'unknown';

/** The visibility that sinks see. It is part of the item's content. `unknown` counts as `anonymous`. */
export type EffectiveVisibility = 'named' | 'anonymous';

/**
 * Returns the rule of a list. A list that this version does not know is `judged`, so that it is sent without the
 * identity.
 */
export function personRuleOf(list: string): PersonRule {
  return Object.hasOwn(listTraits, list) ? listTraits[list as ListName].person : 'judged';
}

export const judgedLists: ReadonlySet<string> = new Set(listsWhere(({ person }) => person === 'judged'));
export const ownRecords: ReadonlySet<string> = new Set(listsWhere(({ person }) => person === 'own-record'));

interface VisibilityFacts {
  /** The session's `anonymousResponses`; undefined if the session or its setting is not known yet. */
  readonly anonymousResponses: boolean | undefined;
  /**
   * For `questions`: the flag of the `qna-questions` item with the same id and session; undefined if it is not known
   * yet.
   */
  readonly questionIsAnonymous: boolean | undefined;
}

/**
 * Decides the visibility of an interaction. It is `named` only if its session is known not to accept anonymous
 * responses or, for a question, if its own flag says so. A question's flag takes precedence over its session. A
 * question without a flag is `unknown`, because the flag may still arrive; any other interaction in a session with
 * anonymous responses is `anonymous`. Pure.
 */
export function judgeVisibility(list: string, facts: VisibilityFacts): Visibility {
  if (list === 'questions' && facts.questionIsAnonymous !== undefined) {
    return facts.questionIsAnonymous ? 'anonymous' : 'named';
  }
  if (facts.anonymousResponses === false) return 'named';
  if (facts.anonymousResponses === undefined || list === 'questions') return 'unknown';
  return 'anonymous';
}

/** An interaction whose visibility its session and question decide. */
interface Interaction {
  readonly list: string;
  readonly key: string;
  readonly sessionId: number | null;
  /** `SeenItem.origin`. */
  readonly origin?: Buffer | null | undefined;
}

/** A visibility, and how recent the knowledge behind it is. */
interface Judgement {
  readonly visibility: Visibility;
  /**
   * Instant of the latest request that showed the setting which decides. Null if none is known. For an `unknown`
   * question: of the last complete read that lacked its flag.
   */
  readonly asOf: Date | null;
}

/** Whether the deciding setting was read by a request at or after an instant. */
export function isKnownSince({ asOf }: Judgement, since: Date): boolean {
  return asOf !== null && asOf >= since;
}

/**
 * Reads what the ledger knows now about the sessions and questions of these interactions, and returns the function that
 * judges the visibility of each.
 */
export async function loadJudge(
  tx: Queryable,
  pigeonholeNumber: number,
  interactions: readonly Interaction[],
): Promise<(interaction: Interaction) => Judgement> {
  const judged = interactions.filter(({ list }) => judgedLists.has(list));
  const sessions = await sessionSettings(tx, pigeonholeNumber, [...new Set(judged.map(({ sessionId }) => sessionId))]);
  const questions = judged.filter(({ list }) => list === 'questions').map(({ key }) => key);
  const flags = await questionFlags(tx, pigeonholeNumber, questions);
  return (interaction) => {
    const session = sessions.get(interaction.sessionId);
    const flag = interaction.list === 'questions' ? flags(interaction) : undefined;
    const visibility = judgeVisibility(interaction.list, {
      anonymousResponses: session?.value,
      questionIsAnonymous: flag?.value,
    });
    const isByFlag = flag !== undefined && (flag.value !== undefined || visibility === 'unknown');
    return { visibility, asOf: (isByFlag ? flag : session)?.asOf ?? null };
  };
}

/** A setting, and the instant of the latest request that showed it. */
interface Setting<Value> {
  readonly value: Value;
  readonly asOf: Date | null;
}

/**
 * SQL expression for the instant of the latest request that showed the item `i`: the one that last wrote its row, or the
 * first one of the last complete walk, unless that walk did not show the item.
 */
const shownAt = `greatest(i.seen_at, (select s.swept_from from streams s where s.id = i.stream_id and not exists
  (select 1 from missing m where m.pigeonhole_number = i.pigeonhole_number and m.list = i.list and m.key = i.key)))`;

/** Returns the known values of `anonymousResponses`, by session id. */
async function sessionSettings(
  tx: Queryable,
  pigeonholeNumber: number,
  sessionIds: readonly (number | null)[],
): Promise<Map<number | null, Setting<boolean>>> {
  const keys = sessionIds.filter((id) => id !== null).map(String);
  if (keys.length === 0) return new Map();
  const rows = await tx.query<{ key: string; says_anonymous: boolean; shown_at: Date }>(
    `select i.key, i.says_anonymous, ${shownAt} as shown_at from unnest($2::text[]) as n (key)
       cross join lateral (select * from items where pigeonhole_number = $1 and list = 'sessions' and key = n.key
         limit 1) i
     where i.says_anonymous is not null and i.payload is not null`,
    [pigeonholeNumber, keys],
  );
  return new Map(rows.map((row) => [Number(row.key), { value: row.says_anonymous, asOf: row.shown_at }]));
}

/** Returns whether a question is anonymous; the value undefined: not known. */
type QuestionFlags = (question: Omit<Interaction, 'list'>) => Setting<boolean | undefined>;

/**
 * Reads the anonymity flags of the `qna-questions` items with the same keys. A flag shows the author only of the question
 * that it was read with: one of the same session, creation instant and author. The service may use an id again. A flag that says anonymous always applies, because the author asked not to be shown: also after its item was deleted,
 * while `questions` still lists the question, and after the question was moved to another session.
 */
async function questionFlags(
  tx: Queryable,
  pigeonholeNumber: number,
  questionKeys: readonly string[],
): Promise<QuestionFlags> {
  if (questionKeys.length === 0) return () => ({ value: undefined, asOf: null });
  const rows = await tx.query<FlagRow>(
    `select i.key, i.session_id, i.says_anonymous, i.origin, ${shownAt} as shown_at from unnest($2::text[]) as n (key)
       cross join lateral (select * from items where pigeonhole_number = $1 and list = 'qna-questions' and key = n.key
         limit 1) i
     where i.says_anonymous is not null and (i.payload is not null or i.says_anonymous)`,
    [pigeonholeNumber, questionKeys],
  );
  const byKey = new Map(rows.map((row) => [row.key, row]));
  const [list] = await tx.query<{ swept_from: Date | null }>(
    `select swept_from from streams where pigeonhole_number = $1 and list = 'qna-questions' and session_id = 0`,
    [pigeonholeNumber],
  );
  return ({ key, sessionId, origin }) => {
    const row = byKey.get(key);
    if (row?.says_anonymous === true) return { value: true, asOf: row.shown_at };
    const isOfQuestion = row?.session_id === sessionId && row.origin !== null && origin?.equals(row.origin) === true;
    return isOfQuestion ? { value: false, asOf: row.shown_at } : { value: undefined, asOf: list?.swept_from ?? null };
  };
}

interface FlagRow {
  readonly key: string;
  readonly session_id: number | null;
  readonly says_anonymous: boolean;
  readonly origin: Buffer | null;
  readonly shown_at: Date;
}

export function effective(visibility: Visibility): EffectiveVisibility {
  return visibility === 'named' ? 'named' : 'anonymous';
}

/**
 * Names of members that may identify a person, at any depth of an interaction. The pattern is broad on purpose, because
 * the service may add fields: a missing field in an anonymous item is a nuisance, but an identifying one is a leak.
 */
const identifying =
  /attendee|registrant|author|participant|respondent|voter|asker|submitter|sender|creator|createdby|profile|avatar|e-?mail|phone|linkedin|twitter|(first|last|full|display|screen|nick|given|family)[-_ ]?name|user(name|id)?$/i;

/** Whether a member of an interaction may identify the person, so that an anonymous item lacks it. */
export function mayIdentify(name: string): boolean {
  return identifying.test(name);
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Removes the person from an interaction. An `attendee` object becomes `{ anonymous: true }`; every other member that
 * may identify the person is left out, at any depth. Pure; running it twice changes nothing.
 */
export function withoutIdentity(item: Fields): Fields {
  const kept: [name: string, value: unknown][] = [];
  for (const [name, value] of Object.entries(item)) {
    if (name === 'attendee' && value !== null && typeof value === 'object') kept.push([name, { anonymous: true }]);
    else if (!identifying.test(name)) kept.push([name, strip(value)]);
  }
  return Object.fromEntries(kept); // an assignment would lose a member named `__proto__`
}

function strip(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(strip);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !identifying.test(name))
      .map(([name, member]) => [name, strip(member)]),
  );
}
