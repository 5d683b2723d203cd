import { mappingView } from '../mapping/expression.js';
import type { Fields, Subject } from '../sink.js';
import {
  type Activities,
  type Activity,
  type Agent,
  type Context,
  creditExtension,
  type Statement,
  statementId,
  verbs,
  voidingId,
  wellFormed,
} from './statement.js';
import { type CreditKeys, engagementList, kindOf, type XapiConfig } from './config.js';
import { type Interaction, interactionOf, timeOf } from './interaction.js';
import type { XapiReason } from './reasons.js';
import { createHash } from 'node:crypto';
import { cleanEmailAddress, withoutInvisible } from '../../base/email-address.js';

/** The statement of an item, or the reason why it has none. */
export type Said = { readonly kind: 'statement'; readonly withId: (issue: number) => Statement } | Nothing;

interface Nothing {
  readonly kind: 'nothing';
  readonly reason: XapiReason;
}

/**
 * Returns the statement that should be valid after a change. Pure.
 * @param sink the sink's name, for messages
 * @throws {MappingError} if an expression fails for this item
 */
export async function toStatement(
  subject: Subject,
  config: XapiConfig,
  activities: Activities,
  sink: string,
): Promise<Said> {
  const { change, removal } = subject;
  if (removal !== null || change.data === null) return nothing(removal ?? 'deleted');
  const actor = await actorOf(subject, config, sink);
  if (actor === undefined) return nothing('no-actor');
  if (change.list === engagementList) return await credit(subject, actor, config, { activities, sink });
  const kind = kindOf(change.list);
  if (kind === undefined || !config.statements.includes(kind)) return nothing('not-said');
  const interaction = interactionOf(kind, subject, activities);
  if (typeof interaction === 'string') return nothing(interaction);
  const statement = {
    actor,
    verb: verbs[kind],
    ...interaction,
    context: contextOf(interaction.object, subject, activities),
    timestamp: timeOf(subject),
  };
  return { kind: 'statement', withId: (issue) => ({ id: statementId(kind, change, issue), ...statement }) };
}

async function credit(
  subject: Subject,
  actor: Agent,
  config: XapiConfig,
  { activities, sink }: { readonly activities: Activities; readonly sink: string },
): Promise<Said> {
  if (config.credit === undefined) return nothing('not-said');
  const due = await creditOf(subject, config.credit, activities, `${sink}.credit`);
  if (typeof due === 'string') return nothing(due);
  const { version } = config.credit;
  const statement = {
    actor,
    verb: verbs.completed,
    ...due,
    context: contextOf(due.object, subject, activities),
    timestamp: subject.change.timestamp,
  };
  return {
    kind: 'statement',
    withId: (issue) => ({ id: statementId(`credit:${version}`, subject.change, issue), ...statement }),
  };
}

/**
 * Returns the attendee as an agent; undefined if the attendee is not known or not visible. It never returns an
 * anonymous account, because the statements of several people could then be joined.
 */
async function actorOf(subject: Subject, { actor }: XapiConfig, sink: string): Promise<Agent | undefined> {
  const view = mappingView(subject);
  if (view.attendee === null) return undefined;
  for (const key of ['name', 'mbox', 'mboxSha1sum'] as const) {
    const value = await actor[key]?.evaluate(view, `${sink}.actor.${key}`);
    const text = typeof value === 'number' ? String(value) : value;
    if (typeof text === 'string' && text.trim() !== '') return agentOf(key, text, actor.homePage);
  }
  return undefined;
}

function contextOf(object: Activity, subject: Subject, activities: Activities): Context {
  const session = activities.session(subject);
  return {
    platform: 'Event Engagement Service',
    contextActivities: {
      ...(session !== undefined && session.id !== object.id && { parent: [session] }),
      grouping: [activities.pigeonhole(subject)],
    },
  };
}

function nothing(reason: XapiReason): Nothing {
  return { kind: 'nothing', reason };
}

/**
 * Returns the agent that an expression of `actor` identifies; undefined if the text is not a valid identifier. Case is
 * kept, because the hash of an address depends on it. Source: xAPI 1.0.3, Data, 2.4.2.3: `mbox` is a mailto IRI,
 * `mbox_sha1sum` the hex SHA-1 hash of one.
 */
function agentOf(key: 'name' | 'mbox' | 'mboxSha1sum', text: string, homePage: string | undefined) {
  if (key === 'name') return agent({ account: { homePage: homePage!, name: wellFormed(text) } });
  const found = withoutInvisible(text);
  if (key === 'mboxSha1sum' && /^[0-9a-f]{40}$/i.test(found)) return agent({ mbox_sha1sum: found.toLowerCase() });
  const mbox = `mailto:${cleanEmailAddress(found) ?? ''}`;
  if (!isMailbox.test(mbox)) return undefined;
  return agent(key === 'mbox' ? { mbox } : { mbox_sha1sum: createHash('sha1').update(mbox).digest('hex') });
}

/** Matches an address that an IRI can contain without escapes: it has no spaces, quotes or brackets. */
const isMailbox = /^mailto:[^\s@<>()[\]\\,;:"|^`{}%?#]+@[^\s@<>()[\]\\,;:"|^`{}%?#]+\.[^\s@<>()[\]\\,;:"|^`{}%?#.]+$/;

function agent(
  identifier: { account: { homePage: string; name: string } } | { mbox: string } | { mbox_sha1sum: string },
): Agent {
  return { objectType: 'Agent', ...identifier };
}

/**
 * Returns the statement that voids another. Its actor is pigeonpost, so that it names no attendee. It has no timestamp,
 * so that it is the same for every change. Source: xAPI 1.0.3, Data, 2.3.2 "Voiding".
 */
export function voidingStatement(id: string, homePage: string): Statement {
  return {
    id: voidingId(id),
    actor: { objectType: 'Agent', account: { homePage, name: 'pigeonpost' } },
    verb: verbs.voided,
    object: { objectType: 'StatementRef', id },
  };
}

const counts = ['interactions', 'asked', 'answered', 'responded', 'voted', 'rated', 'offered'] as const;

/**
 * Returns the credit that an item of `engagement` earns, or the reason if it earns none. Pure.
 * @param place the sink and key of `credit`, for messages
 * @throws {MappingError} if an expression fails for this item
 */
async function creditOf(
  subject: Subject,
  keys: CreditKeys,
  activities: Activities,
  place: string,
): Promise<Interaction | XapiReason> {
  const view = mappingView(subject);
  if (!(await keys.when.holds(view, `${place}.when`))) return 'condition';
  const name = await keys.activity.evaluate(view, `${place}.activity`);
  const text = typeof name === 'number' ? String(name) : name;
  if (typeof text !== 'string' || text.trim() === '') return 'no-activity';
  const item = subject.change.data ?? {};
  return {
    object: activities.credited(wellFormed(text.trim())),
    result: {
      completion: true,
      extensions: {
        [creditExtension]: {
          version: keys.version,
          scope: item['scope'],
          rule: item['rule'],
          ...Object.fromEntries(counts.map((count) => [count, item[count]])),
          evidence: evidenceOf(item),
        },
      },
    },
  };
}

/** Returns the interactions that an item of `engagement` names, as `<list>:<key>`. */
export function evidenceOf(item: Fields): string[] {
  const { evidence } = item;
  return Array.isArray(evidence) ? evidence.filter((each) => typeof each === 'string') : [];
}
