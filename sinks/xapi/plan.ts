import type { Secret } from '../../config/secret.js';
import {
  forgetsPerson,
  type Operation,
  type Planned,
  type SinkEnvironment,
  type Subject,
  type Fields,
} from '../sink.js';
import { type Activities, type IssuedKind, type Statement, statementId } from './statement.js';
import { type XapiConfig, engagementList, kindOf, secretOf, statementKinds } from './config.js';
import type { Change } from '../change.js';
import { evidenceOf, toStatement, voidingStatement } from './to-statement.js';
import { markOf } from './conflict.js';
import type { XapiReason } from './reasons.js';

/**
 * The statements of one change. They are sent in one request, which an LRS stores completely or not at all. At any
 * time, exactly one of the old and the new statement is therefore valid.
 */
export interface XapiOperation extends Operation {
  /** `<list>:<key>`, for messages. */
  readonly item: string;
  /** First the new statement, then those that void earlier ones. */
  readonly statements: readonly Statement[];
  /** The item's state once they are stored. */
  readonly after: StatementState;
  /** The item's state while it is unknown whether they were stored. */
  readonly unsure: StatementState;
  /** The same for the answers that were joined with the item. */
  readonly siblings?: {
    readonly after: Readonly<Record<string, StatementState>>;
    readonly unsure: Readonly<Record<string, StatementState>>;
  };
}

/** The inputs of a plan, except the change. */
export interface PlanContext {
  readonly config: XapiConfig;
  readonly activities: Activities;
  readonly environment: Pick<SinkEnvironment, 'name' | 'onForget'>;
}

/**
 * Plans the operation of a change, from the statement that the item should have and the one that it has. Pure.
 *
 * | should have | has | operation |
 * |---|---|---|
 * | none | none | nothing is sent |
 * | none | S | S is voided |
 * | T | none | T is issued |
 * | T | S with the same meaning | nothing is sent; a replay or a repair sends S again |
 * | T | S with another meaning | T is issued and S voided |
 *
 * If the LRS's response was lost, the statements of that request may be valid: they are sent again under their ids, or voided with the others.
 */
export async function planChange(subject: Subject, context: PlanContext): Promise<Planned<XapiOperation>> {
  const { change } = subject;
  const { config, activities, environment } = context;
  const wanted = await toStatement(subject, config, activities, environment.name);
  const state = readState(subject.object);
  if (wanted.kind === 'nothing') {
    if (state?.lost === true && forgetsPerson(subject.removal)) {
      const known = possiblyValid(state).join(', ');
      const detail = `the attendee of this item has to be forgotten, and the LRS may have stored a statement without answering: look for the statements of this attendee and void them by hand (of this item: ${known})`;
      return { kind: 'unplannable', cause: 'xapi:forget-by-hand', detail };
    }
    if (state === null) return { kind: 'nothing', reason: wanted.reason };
    const last = subject.again === true && subject.removal !== null ? lastIssued(change, state, config) : [];
    const voided = [...new Set([...possiblyValid(state), ...last])];
    return planVoiding(subject, { voided, gone: cleared(state), reason: wanted.reason }, context);
  }
  const evidence = change.list === engagementList ? { evidence: evidenceOf(change.data ?? {}) } : {};
  if (state !== null && hasSameMeaning(state, wanted.withId(0), evidence.evidence ?? [], secretOf(config))) {
    if (change.replay === undefined && subject.again !== true) return { kind: 'nothing', reason: 'unchanged' };
    const again = { ...wanted.withId(0), id: state.statement! };
    // The statement is valid already, so its state does not depend on the answer.
    return planStatements(subject, { issued: [again], voided: [], after: state, unsure: state }, context);
  }
  const mark = markOf(wanted.withId(0), secretOf(config));
  const issue = issueOf(state, change.revision, mark);
  const statement = wanted.withId(issue);
  const voided = (state === null ? [] : possiblyValid(state)).filter((id) => id !== statement.id);
  const after: StatementState = {
    statement: statement.id,
    mark,
    revision: change.revision,
    issue,
    unsure: [],
    issuing: false,
    ...evidence,
  };
  const unsure = { ...after, statement: null, unsure: [...voided, statement.id], issuing: true };
  return planStatements(subject, { issued: [statement], voided, after, unsure }, context);
}

/**
 * Returns the id of the last statement of an item whose statements were voided, unless it joined several answers. An
 * audit checks that the LRS still has it as voided, and a repair voids it again.
 */
function lastIssued(
  change: Change,
  { statement, revision, issue, members }: StatementState,
  config: XapiConfig,
): string[] {
  if (statement !== null || members !== undefined) return [];
  const kind = issuedKind(change.list, config);
  return kind === undefined ? [] : [statementId(kind, { ...change, revision }, issue)];
}

/** Returns the kind in the ids of the statements about a list's items; undefined if there are none. */
export function issuedKind(list: string, { credit }: Pick<XapiConfig, 'credit'>): IssuedKind | undefined {
  if (list !== engagementList) return kindOf(list);
  return credit === undefined ? undefined : `credit:${credit.version}`;
}

/**
 * Plans an operation for a change that an earlier attempt may have sent, although nothing of it is planned now. It is never
 * sent: `recover` stores which statements the LRS may have, so that they are voided. Pure.
 */
export function planLookUp({ change, object }: Subject, { config }: PlanContext): Planned<XapiOperation> {
  const kind = issuedKind(change.list, config);
  if (kind === undefined) return { kind: 'nothing', reason: 'not-said' };
  const state = readState(object);
  // The attempt used the next issue, or repeated the present one.
  const issues = state?.revision === change.revision ? [state.issue, state.issue + 1] : [0];
  const ids = issues.map((issue) => statementId(kind, change, issue));
  const known = state ?? { statement: null, mark: '', revision: change.revision, issue: 0, unsure: [], issuing: false };
  const unsure: StatementState = {
    ...known,
    statement: null,
    revision: change.revision,
    issue: issues.at(-1)!,
    unsure: [...new Set([...possiblyValid(known), ...ids])],
    issuing: false,
    ...((statementKinds.answered as readonly string[]).includes(change.list) && { lost: true }),
  };
  const item = `${change.list}:${change.key}`;
  return { kind: 'send', operation: { changeId: change.id, item, statements: [], after: unsure, unsure } };
}

/** Plans the removal of an item's statements. `gone`: its state once they are voided. */
export function planVoiding(
  subject: Subject,
  {
    voided,
    gone,
    reason,
  }: { readonly voided: readonly string[]; readonly gone: StatementState; readonly reason: XapiReason },
  context: PlanContext,
): Planned<XapiOperation> {
  if (voided.length === 0) return { kind: 'nothing', reason };
  const { onForget } = context.environment;
  if (forgetsPerson(subject.removal) && onForget === 'manual') {
    const detail = `the attendee of this item has to be forgotten: void these statements in the LRS by hand (${voided.join(', ')})`;
    return { kind: 'unplannable', cause: 'xapi:forget-by-hand', detail };
  }
  return planStatements(subject, { issued: [], voided, after: gone, unsure: { ...gone, unsure: voided } }, context);
}

/**
 * Returns the issue number, which distinguishes the statement ids of one revision. A voided id is never valid again, so
 * another statement of the same revision needs another number. If the same statement may already be stored, returns its
 * number, so that it is sent again under the same id.
 */
function issueOf(state: StatementState | null, revision: number, mark: string): number {
  if (state === null || state.revision !== revision) return 0;
  return state.issuing && state.mark === mark ? state.issue : state.issue + 1;
}

function hasSameMeaning(
  state: StatementState,
  statement: Statement,
  evidence: readonly string[],
  password: Secret,
): boolean {
  if (state.statement === null || state.unsure.length > 0) return false;
  const counts = new Set(evidence);
  return state.mark === markOf(statement, password) && (state.evidence ?? []).every((each) => counts.has(each));
}

/** Returns the state of an item whose statements were all voided. */
export function cleared({ revision, issue }: StatementState): StatementState {
  return { statement: null, mark: '', revision, issue, unsure: [], issuing: false };
}

interface Statements {
  readonly issued: readonly Statement[];
  readonly voided: readonly string[];
  readonly after: StatementState;
  readonly unsure: StatementState;
  /** Keys of the answers that were joined with the item, and the state that they share. */
  readonly siblings?: readonly string[];
  readonly shared?: { readonly after: StatementState; readonly unsure: StatementState };
}

export function planStatements(
  { change }: Subject,
  { issued, voided, after, unsure, siblings = [], shared }: Statements,
  { config: { actor, activities } }: PlanContext,
): Planned<XapiOperation> {
  const statements = [...issued, ...voided.map((id) => voidingStatement(id, (actor.homePage ?? activities)!))];
  const forSiblings = (state: StatementState) => Object.fromEntries(siblings.map((key) => [key, state]));
  return {
    kind: 'send',
    operation: {
      changeId: change.id,
      item: `${change.list}:${change.key}`,
      statements,
      after,
      unsure,
      ...(shared !== undefined && {
        siblings: { after: forSiblings(shared.after), unsure: forSiblings(shared.unsure) },
      }),
    },
  };
}

/**
 * The state of an item's statement, which the engine keeps as `object`: ids and marks, no personal data.
 *
 * | state | |
 * |---|---|
 * | valid | `statement` is valid at the LRS, and `mark` is the hash of its meaning |
 * | voided | `statement` is null and `unsure` empty: all statements were voided |
 * | in doubt | the LRS's response was lost: any of `unsure` may be valid; `issuing` if the last of them was a new statement that may be sent again |
 *
 * A type, not an interface, so that it is assignable to the contract's `Fields`.
 */
export type StatementState = {
  readonly statement: string | null;
  readonly mark: string;
  /** Revision and issue number of the last statement. */
  readonly revision: number;
  readonly issue: number;
  readonly unsure: readonly string[];
  readonly issuing: boolean;
  /** The interactions for which a credit was issued. If one of them no longer counts, the credit is issued again. */
  readonly evidence?: readonly string[];
  /**
   * Set if a process died while it sent a statement whose id is not known, because it may join several answers. An operator
   * then has to look for it if the attendee must be forgotten.
   */
  readonly lost?: true;
  /** Keys of the answers that the statement joins. `issue` then counts the statements of all of them. */
  readonly members?: readonly string[];
};

/** Reads the state of an item; null if there is none. Only this sink writes it, so any other form counts as none. */
export function readState(object: Fields | null): StatementState | null {
  if (object === null || typeof object['revision'] !== 'number' || !Array.isArray(object['unsure'])) return null;
  return object as unknown as StatementState;
}

export function possiblyValid({ statement, unsure }: StatementState): string[] {
  return [...new Set([...(statement === null ? [] : [statement]), ...unsure])];
}
