import type { Planned, Subject } from '../sink.js';
import { markOf } from './conflict.js';
import {
  cleared,
  possiblyValid,
  readState,
  planStatements,
  type StatementState,
  planVoiding,
  type PlanContext,
  type XapiOperation,
} from './plan.js';
import { secretOf } from './config.js';
import { joinedId, type Statement } from './statement.js';
import { type Said, toStatement } from './to-statement.js';

/** One of the answers of an attendee to a question, with its state. */
interface Answer {
  readonly subject: Subject;
  readonly said: Said;
  readonly state: StatementState | null;
}

/**
 * Whether an attendee has given several answers to the question of a change, or an earlier statement joined several.
 */
export function isJoined({ siblings = [], object }: Subject): boolean {
  return siblings.length > 0 || readState(object)?.members !== undefined;
}

/**
 * Groups the changes of a batch that belong to the same answers, which is the case if their keys or the keys of their
 * siblings overlap. Returns indexes into `subjects`.
 */
export function groupsOf(subjects: readonly Subject[]): number[][] {
  let groups: { readonly keys: ReadonlySet<string>; readonly indexes: readonly number[] }[] = [];
  for (const [index, { change, siblings = [] }] of subjects.entries()) {
    const keys = [change.key, ...siblings.map((sibling) => sibling.change.key)].map((key) => `${change.list}:${key}`);
    const near = groups.filter((group) => keys.some((key) => group.keys.has(key)));
    groups = [
      ...groups.filter((group) => !near.includes(group)),
      {
        keys: new Set([...near.flatMap((group) => [...group.keys]), ...keys]),
        indexes: [...near.flatMap((group) => group.indexes), index],
      },
    ];
  }
  return groups.map(({ indexes }) => [...indexes]);
}

/**
 * Plans the statement that joins all answers of an attendee to a question (decision 0086). Each change of the group
 * sends the same statements, which an LRS stores only once. The answers share one state, which contains their keys as
 * `members`.
 * @param subjects the changes of one group
 */
export async function planJoined(
  subjects: readonly Subject[],
  context: PlanContext,
): Promise<Planned<XapiOperation>[]> {
  const all = new Map<string, Subject>();
  for (const { siblings = [] } of subjects) for (const sibling of siblings) all.set(sibling.change.key, sibling);
  for (const subject of subjects) all.set(subject.change.key, subject);
  const { config, activities, environment } = context;
  const answers = await Promise.all(
    [...all.values()].map(async (subject): Promise<Answer> => {
      const said = await toStatement(subject, config, activities, environment.name);
      return { subject, said, state: readState(subject.object) };
    }),
  );
  const known = newestOf(answers);
  const changed = answers.filter(({ subject }) => subjects.includes(subject));
  const joined = joinedFrom(answers, changed, known);
  const voidable = [...new Set(answers.flatMap(({ state }) => (state === null ? [] : possiblyValid(state))))];
  if (joined === undefined) {
    // The group contains only removals. If a newer statement joins other answers without these, it stays valid.
    const isCurrent = known?.members?.some((key) => changed.some(({ subject }) => subject.change.key === key)) === true;
    const kept = new Set(known === undefined || isCurrent ? [] : possiblyValid(known));
    return subjects.map((subject) => {
      const { said } = answers.find((answer) => answer.subject === subject)!;
      const reason = said.kind === 'nothing' ? said.reason : 'deleted';
      const voided = voidable.filter((id) => !kept.has(id));
      const gone = { ...cleared(readState(subject.object) ?? known ?? none), issue: known?.issue ?? 0, members: [] };
      return planVoiding(subject, { voided, gone, reason }, context);
    });
  }
  const { statement, members } = joined;
  const secret = secretOf(config);
  const mark = markOf(statement, secret);
  const isDoubtful = answers.some(({ state }) => state !== null && state.unsure.length > 0);
  if (known !== undefined && known.statement !== null && known.mark === mark && !isDoubtful) {
    const again = { ...statement, id: known.statement };
    return subjects.map((subject) => {
      const isKnown = readState(subject.object)?.statement === known.statement;
      if (isKnown && subject.change.replay === undefined && subject.again !== true)
        return { kind: 'nothing', reason: 'unchanged' };
      return planStatements(subject, { issued: [again], voided: [], after: known, unsure: known }, context);
    });
  }
  const isRepeat = known?.issuing === true && known.mark === mark;
  const issue = known === undefined ? 0 : isRepeat ? known.issue : known.issue + 1;
  const id = joinedId(subjects[0]!.change, members, issue);
  const voided = voidable.filter((each) => each !== id);
  const after: StatementState = { statement: id, mark, revision: 1, issue, unsure: [], issuing: false, members };
  const unsure = { ...after, statement: null, unsure: [...voided, id], issuing: true };
  const left = { ...cleared(after), members: [] };
  return subjects.map((subject) => {
    const isMember = members.includes(subject.change.key);
    const others = members.filter((key) => key !== subject.change.key);
    const operation = {
      issued: [{ ...statement, id }],
      voided,
      after: isMember ? after : left,
      unsure: isMember ? unsure : { ...left, unsure: voided },
      siblings: others,
      shared: { after, unsure },
    };
    return planStatements(subject, operation, context);
  });
}

/** The state of answers before their first statement. */
const none: StatementState = { statement: null, mark: '', revision: 1, issue: 0, unsure: [], issuing: false };

/** Returns the newest state that the answers shared, which has the highest issue number. */
function newestOf(answers: readonly Answer[]): StatementState | undefined {
  const shared = answers.flatMap(({ state }) => (state?.members === undefined ? [] : [state]));
  return shared.toSorted((one, other) => other.issue - one.issue || other.members!.length - one.members!.length)[0];
}

/**
 * Joins the statements of the visible answers: returns the last statement with the chosen options of all answers.
 * Undefined if no statement about the changed answers is needed.
 */
function joinedFrom(
  answers: readonly Answer[],
  changed: readonly Answer[],
  known: StatementState | undefined,
): { readonly statement: Statement; readonly members: string[] } | undefined {
  const keyOf = ({ subject }: Answer): string => subject.change.key;
  const isShown = changed.some(({ said }) => said.kind === 'statement');
  // The siblings of a removal are the answers that were joined with it. The attendee may have given further answers
  // since.
  const isLeft = changed.some((answer) => known?.members?.includes(keyOf(answer)) === true);
  const joinable = isShown ? answers : isLeft ? answers.filter((each) => known?.members?.includes(keyOf(each))) : [];
  const shown = joinable
    .flatMap((each) => (each.said.kind === 'statement' ? [{ key: keyOf(each), statement: each.said.withId(0) }] : []))
    .toSorted((one, other) => order(one.statement.timestamp!, other.statement.timestamp!) || order(one.key, other.key));
  const last = shown.at(-1);
  if (last === undefined) return undefined;
  return {
    statement: withOptionsOf(
      last.statement,
      shown.map(({ statement }) => statement),
    ),
    members: shown.map(({ key }) => key).toSorted(),
  };
}

/**
 * Returns a statement whose response contains the ids of all chosen options, separated by `[,]`. Source: xAPI 1.0.3,
 * Data, appendix C.
 */
function withOptionsOf(last: Statement, all: readonly Statement[]): Statement {
  const responses = [...new Set(all.flatMap(({ result }) => result?.response ?? []))].toSorted(
    (one, other) => Number(one) - Number(other),
  );
  const choices = all.flatMap(({ object }) => ('definition' in object ? (object.definition?.choices ?? []) : []));
  const chosen = [...new Map(choices.map((choice) => [choice.id, choice])).values()].toSorted(
    (one, other) => Number(one.id) - Number(other.id),
  );
  const { object, result } = last;
  return {
    ...last,
    object:
      'definition' in object && object.definition !== undefined && chosen.length > 0
        ? { ...object, definition: { ...object.definition, choices: chosen } }
        : object,
    result: { ...result, response: responses.join('[,]') },
  };
}

function order(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
