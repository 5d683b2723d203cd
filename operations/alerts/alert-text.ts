import type { NewAlertMessage } from './alert-store.js';
import { formatInstant, grouped } from '../../base/words.js';
import {
  type AlertCode,
  alertOf,
  eventTraits,
  isEvent,
  messageTraits,
  pageOf,
  type ProblemCode,
  problemCodes,
  traitsOf,
} from '../problems.js';

/** Text of an alert. pigeonpost writes all of it: it never quotes the service, a destination or a person. */
export interface AlertText {
  readonly title: string;
  readonly says: string;
  /** The action that helps; null: none is needed. */
  readonly todo: string | null;
  /** Link to the page; null: the public address of this installation is not known. */
  readonly link: string | null;
  /** Code of the problem, as the status and `pigeonpost_problems` name it; null: the message is not about a problem. */
  readonly problem: ProblemCode | null;
}

type Told = Pick<NewAlertMessage, 'code' | 'subjects' | 'kind' | 'since' | 'facts'>;
type Words = Omit<AlertText, 'link' | 'problem'>;

/** @param publicUrl without a slash at its end. Pure. */
export function alertText(message: Told, publicUrl: string | null): AlertText {
  const [subject = '', ...more] = message.subjects;
  const isOne = more.length === 0;
  const page = isOne ? pageOfOne(message.code, subject) : commonPage(message.code);
  return {
    ...(isOne ? wordsOfOne(message, subject) : wordsOfSeveral(message)),
    link: publicUrl === null ? null : `${publicUrl}/#${page}`,
    problem: problemOf(message),
  };
}

/** Returns the text that `alerts test` sends. */
export function testText(publicUrl: string | null): AlertText {
  return {
    title: 'This is a test of pigeonpost',
    says: 'An operator requested a test of the alert receivers. This message shows that alerts arrive here.',
    todo: null,
    link: publicUrl === null ? null : `${publicUrl}/#/`,
    problem: null,
  };
}

function commonPage(code: AlertCode): string {
  return isEvent(code) ? eventTraits(code).page.several : '/';
}

/** Returns the page of the subject, which shows all its problems. Those of a workspace are on the first page. */
function pageOfOne(code: AlertCode, subject: string): string {
  if (isEvent(code)) return eventTraits(code).page.one(subject);
  const { kind } = traitsOf(code);
  return kind === 'workspace' ? '/' : (pageOf('subject', kind, subject) ?? '/');
}

/** Returns the problem that the status shows: the one that raises the alert, or the fact `problem` that explains it. */
function problemOf({ code, facts }: Told): ProblemCode | null {
  return isEvent(code) ? null : (problemCodes.find((each) => each === facts['problem']) ?? code);
}

/** Returns the sentences of the catalogue of problems: the page and `pigeonpost status` show the same. */
function wordsOfOne({ code, kind, since, facts }: Told, subject: string): Words {
  if (kind === 'recovered' && !isEvent(code)) {
    return { title: alertOf(code).over.one(subject), says: `Since ${formatInstant(since.toISOString())}.`, todo: null };
  }
  const { title, says, todo } = (isEvent(code) ? eventTraits(code) : traitsOf(code)).words(subject, facts);
  return { title, says: says ?? '', todo };
}

/** Names in one message; the page and the command line show all. */
const maxNames = 10;

/** Returns the text of a message about several subjects: their number, a common cause, the first names. Pure. */
function wordsOfSeveral({ code, kind, subjects, facts }: Told): Words {
  const n = grouped(subjects.length);
  const names = namesSentence(subjects);
  if (kind === 'recovered' && !isEvent(code)) return { title: alertOf(code).over.several(n), says: names, todo: null };
  const { several, common, listedBy } = messageTraits(code);
  const cause = common(facts);
  return {
    title: several(n, facts),
    says: cause === null ? names : `${cause} ${names}`,
    todo: `"${listedBy}" lists them and what to do about each.`,
  };
}

function namesSentence(subjects: readonly string[]): string {
  const more = subjects.length - maxNames;
  const names = subjects.slice(0, maxNames).join(', ');
  return more > 0 ? `They are ${names} and ${grouped(more)} more.` : `They are ${names}.`;
}
