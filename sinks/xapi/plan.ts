import type { Secret } from '../../config/secret.js';
import {
  forgetsPerson,
  type Operation,
  type Planned,
  type SinkEnvironment,
  type Subject,
  type Fields,
} from '../sink.js';
import type { Activities } from './activities.js';
import { secretOf } from './authorization.js';
import { type XapiConfig, engagementList } from './config.js';
import { evidenceOf } from './credit.js';
import { markOf } from './conflict.js';
import type { Statement } from './statement.js';
import { toStatement, voidingStatement } from './to-statement.js';

/**
 * What one change makes the LRS be told. All of it goes in one request, which an LRS stores whole or not at all: at no
 * moment do an old and a new statement stand side by side, and at none neither of them.
 */
export interface XapiOperation extends Operation {
  /** `<list>:<key>`, for messages. */
  readonly item: string;
  /** What is issued comes first, then what voids what was said before. */
  readonly statements: readonly Statement[];
  /** What the item's object is once that is stored. */
  readonly after: Standing;
  /** And what it is while nobody knows whether it is. */
  readonly unsure: Standing;
}

/**
 * The operation of a change, from what the item should make the LRS know and what it knows. Pure.
 *
 * | should stand | stands | |
 * |---|---|---|
 * | nothing | nothing | nothing is sent |
 * | nothing | S | S is voided |
 * | T | nothing | T is issued |
 * | T | S, which says the same | nothing is sent; in a replay S is sent again |
 * | T | S, which says something else | T is issued and S voided |
 *
 * An answer that was lost leaves what may stand: it is sent again under its id, or voided with the rest.
 */
export async function planChange(
  subject: Subject,
  config: XapiConfig,
  activities: Activities,
  { name, onForget }: Pick<SinkEnvironment, 'name' | 'onForget'>,
): Promise<Planned<XapiOperation>> {
  const { change } = subject;
  const said = await toStatement(subject, config, activities, name);
  const standing = standingOf(subject.object);
  if (said.kind === 'nothing') {
    const voided = standing === null ? [] : mayStand(standing);
    if (standing === null || voided.length === 0) return { kind: 'nothing', reason: said.reason };
    if (forgetsPerson(subject.removal) && onForget === 'manual' && subject.canary === undefined) {
      const detail = `someone is to be forgotten: void by hand at the LRS what was said of them (${voided.join(', ')})`;
      return { kind: 'unplannable', cause: 'xapi:forget-by-hand', detail };
    }
    const gone: Standing = { ...cleared(standing), unsure: [] };
    return send(subject, [], voided, gone, { ...gone, unsure: voided }, config);
  }
  const evidence = change.list === engagementList ? { evidence: evidenceOf(change.data ?? {}) } : {};
  if (standing !== null && saysTheSame(standing, said.withId(0), evidence.evidence ?? [], secretOf(config))) {
    if (change.replay === undefined) return { kind: 'nothing', reason: 'unchanged' };
    const again = { ...said.withId(0), id: standing.statement! };
    return send(subject, [again], [], standing, standing, config); // it stands, whatever becomes of the answer
  }
  const mark = markOf(said.withId(0), secretOf(config));
  const issue = issueOf(standing, change.revision, mark);
  const statement = said.withId(issue);
  const voided = (standing === null ? [] : mayStand(standing)).filter((id) => id !== statement.id);
  const after: Standing = {
    statement: statement.id,
    mark,
    revision: change.revision,
    issue,
    unsure: [],
    issuing: false,
    ...evidence,
  };
  const unsure = { ...after, statement: null, unsure: [...voided, statement.id], issuing: true };
  return send(subject, [statement], voided, after, unsure, config);
}

/**
 * An id that was voided says nothing ever again, and one says one thing alone, so what follows for the same revision
 * needs another one. Not so when it is uncertain whether the same was issued: then it is that which is sent again.
 */
function issueOf(standing: Standing | null, revision: number, mark: string): number {
  if (standing === null || standing.revision !== revision) return 0;
  return standing.issuing && standing.mark === mark ? standing.issue : standing.issue + 1;
}

function saysTheSame(standing: Standing, statement: Statement, evidence: readonly string[], password: Secret): boolean {
  if (standing.statement === null || standing.unsure.length > 0) return false;
  const counts = new Set(evidence);
  return standing.mark === markOf(statement, password) && (standing.evidence ?? []).every((each) => counts.has(each));
}

function cleared({ revision, issue }: Standing): Standing {
  return { statement: null, mark: '', revision, issue, unsure: [], issuing: false };
}

function send(
  { change }: Subject,
  issued: readonly Statement[],
  voided: readonly string[],
  after: Standing,
  unsure: Standing,
  { actor, activities }: XapiConfig,
): Planned<XapiOperation> {
  const statements = [...issued, ...voided.map((id) => voidingStatement(id, (actor.homePage ?? activities)!))];
  return {
    kind: 'send',
    operation: { changeId: change.id, item: `${change.list}:${change.key}`, statements, after, unsure },
  };
}

/**
 * What this sink has made of an item: the `object` that the engine keeps. Ids and marks alone, nothing of a person.
 *
 * | state | |
 * |---|---|
 * | standing | `statement` stands at the LRS and says what `mark` marks |
 * | gone | `statement` is null, `unsure` empty: everything that was said has been voided |
 * | open | an answer was lost: any of `unsure` may stand; `issuing` when the last of them was to be issued, so that it may be sent again |
 *
 * A type and not an interface, so that it is what the contract calls fields.
 */
type Standing = {
  readonly statement: string | null;
  readonly mark: string;
  /** The revision and the issue that the last statement was made of. */
  readonly revision: number;
  readonly issue: number;
  readonly unsure: readonly string[];
  readonly issuing: boolean;
  /** What a credit names as evidence: when one of these no longer counts, it is issued anew. */
  readonly evidence?: readonly string[];
};

/** Null: nothing yet. What is not in this form counts as nothing, since only this sink writes it. */
function standingOf(object: Fields | null): Standing | null {
  if (object === null || typeof object['revision'] !== 'number' || !Array.isArray(object['unsure'])) return null;
  return object as unknown as Standing;
}

/** Every statement of the item that stands, or may stand. */
function mayStand({ statement, unsure }: Standing): string[] {
  return [...new Set([...(statement === null ? [] : [statement]), ...unsure])];
}
