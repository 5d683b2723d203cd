import type { AlertFacts, LastingOccasion, NewAlertMessage, Occasion } from './alert-store.js';
import { counted, formatInstant, grouped } from '../../base/words.js';
import { type ProblemCode, problemCodes } from '../problem.js';
import { failureWords } from '../../sinks/network/failure-sentence.js';
import { alertOccasion, problemWords, quotaReturns } from '../problems.js';

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

type Told = Pick<NewAlertMessage, 'occasion' | 'subjects' | 'kind' | 'since' | 'facts'>;
/** A message with a single subject. */
type ToldOfOne = Omit<Told, 'subjects'> & { readonly subject: string };
type Words = Omit<AlertText, 'link' | 'problem'>;

/** @param publicUrl without a slash at its end. Pure. */
export function alertText(message: Told, publicUrl: string | null): AlertText {
  const { subjects } = message;
  const one = subjects.length === 1 ? { ...message, subject: subjects[0]! } : null;
  const link = publicUrl === null ? null : `${publicUrl}/#${one === null ? commonPlaceOf(message) : placeOf(one)}`;
  const about = { link, problem: problemOf(message) };
  if (one === null) return { ...severalWords(message), ...about };
  return { ...(one.kind === 'recovered' ? overWords(one) : raisedWords(one)), ...about };
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

function commonPlaceOf({ occasion }: Told): string {
  return occasion === 'import-ended' ? '/imports' : '/';
}

function placeOf({ occasion, subject }: ToldOfOne): string {
  switch (occasion) {
    case 'sink-paused':
    case 'behind':
    case 'dead-letters':
    case 'withholding':
      return `/sink/${subject}`;
    case 'deletions-held':
    case 'reading-late':
      return `/sync/${subject}`;
    case 'import-ended':
      return `/imports/${subject}`;
    default:
      return '/';
  }
}

/** Returns the sentences of the catalogue of problems: the page and `pigeonpost status` show the same. */
function raisedWords({ occasion, subject, facts }: ToldOfOne): Words {
  if (occasion === 'import-ended') return importWords(subject, facts);
  const { title, says, todo } = problemWords(catalogued(occasion), subject, facts);
  return { title, says: says ?? '', todo };
}

function catalogued(occasion: LastingOccasion): ProblemCode {
  return problemCodes.find((code) => alertOccasion(code) === occasion)!;
}

/** Returns the problem that the status shows: the one that raises the alert, or the fact `problem` that explains it. */
function problemOf({ occasion, facts }: Pick<Told, 'occasion' | 'facts'>): ProblemCode | null {
  if (occasion === 'import-ended') return null;
  return problemCodes.find((code) => code === facts['problem']) ?? catalogued(occasion);
}

function overWords({ occasion, subject, since }: ToldOfOne): Words {
  const at = `Since ${formatInstant(since.toISOString())}.`;
  const titles: Readonly<Record<LastingOccasion, string>> = {
    'service-down': `The service answers workspace ${subject} again`,
    'sink-paused': `Sink ${subject} is no longer paused`,
    'workspace-paused': `Workspace ${subject} is no longer paused`,
    behind: `Sink ${subject} is no longer behind: no change waits longer than the limit`,
    'dead-letters': `Sink ${subject} has fewer dead letters again`,
    withholding: `Sink ${subject} no longer withholds what it should send`,
    'reading-late': `Every list of pigeonhole ${subject} is read in time again`,
    'deletions-held': `No deletions of pigeonhole ${subject} wait any longer`,
    'quota-used-up': `The request quota of workspace ${subject} is no longer used up`,
    'quota-short': `The request quota of workspace ${subject} is sufficient again`,
  };
  return { title: titles[occasion as keyof typeof titles], says: at, todo: null };
}

/** Outcomes of rows that an operator has to check. */
const unsettled = ['rejected', 'invalid', 'conflict', 'unknown', 'cancelled'] as const;

function importWords(id: string, facts: AlertFacts): Words {
  if (facts['state'] === 'unusable') {
    return {
      title: `A file in a drop folder of pigeonhole ${String(facts['pigeonhole'])} cannot be used`,
      says: 'No registrant of it was sent.',
      todo: `"pigeonpost import status ${id}" says why: correct the file and put it into the folder again.`,
    };
  }
  const made = Number(facts['created'] ?? 0) + Number(facts['confirmed'] ?? 0);
  const left = unsettled.flatMap((outcome) => (facts[outcome] ? [`${grouped(facts[outcome])} ${outcome}`] : []));
  const there = facts['existing']
    ? [`${grouped(facts['existing'])} ${facts['existing'] === 1 ? 'was' : 'were'} there before`]
    : [];
  const how = facts['state'] === 'cancelled' ? 'was cancelled' : 'has ended';
  return {
    title: `An import into pigeonhole ${String(facts['pigeonhole'])} ${how}`,
    says: `${[`${counted(made, 'registrant')} created`, ...there, ...left].join(', ')}.`,
    todo:
      left.length === 0
        ? null
        : `Its report says why, row by row ("pigeonpost import report ${id}"): correct the rows and import it again.`,
  };
}

/** Names in one message; the page and the command line show all. */
const maxNames = 10;

/** Returns the text of a message about several subjects: their number, a common cause, the first names. Pure. */
function severalWords(message: Told): Words {
  const { occasion, kind, subjects } = message;
  const title = kind === 'recovered' ? overTitle(message) : raisedTitle(message);
  const common = kind === 'raised' ? commonReason(message) : [];
  return {
    title,
    says: [...common, namesSentence(subjects)].join(' '),
    todo:
      kind === 'recovered'
        ? null
        : `"${commands[occasion] ?? 'pigeonpost status'}" lists them and what to do about each.`,
  };
}

/** Commands that list the subjects of a message; `pigeonpost status` lists those of the other occasions. */
const commands: Partial<Readonly<Record<Occasion, string>>> = {
  'dead-letters': 'pigeonpost dead-letters list',
  'deletions-held': 'pigeonpost deletions list',
  'import-ended': 'pigeonpost import list',
};

function raisedTitle({ occasion, subjects: { length: n }, facts }: Told): string {
  const titles: Readonly<Record<Occasion, string>> = {
    'service-down': `The service does not answer ${grouped(n)} workspaces`,
    'sink-paused': `${grouped(n)} sinks are paused`,
    'workspace-paused': `${grouped(n)} workspaces are paused`,
    behind: `${grouped(n)} sinks ${facts['problem'] === 'sink-failing' ? 'accept nothing' : 'are behind'}`,
    'dead-letters': `${grouped(n)} sinks have refused ${counted(facts['letters'], 'change')}`,
    withholding: `${grouped(n)} sinks withhold what they should probably send`,
    'reading-late': `Lists of ${grouped(n)} pigeonholes are not read in time`,
    'deletions-held': `${counted(facts['items'], 'deletion')} in ${grouped(n)} pigeonholes wait for an operator`,
    'quota-used-up': `The request quotas of ${grouped(n)} workspaces are used up`,
    'quota-short': `The request quotas of ${grouped(n)} workspaces are too small for the configured intervals`,
    'import-ended': `${grouped(n)} imports have ended`,
  };
  return titles[occasion];
}

function overTitle({ occasion, subjects: { length: n } }: Told): string {
  const titles: Readonly<Record<LastingOccasion, string>> = {
    'service-down': `The service answers ${grouped(n)} workspaces again`,
    'sink-paused': `${grouped(n)} sinks are no longer paused`,
    'workspace-paused': `${grouped(n)} workspaces are no longer paused`,
    behind: `${grouped(n)} sinks are no longer behind: no change waits longer than the limit`,
    'dead-letters': `${grouped(n)} sinks have fewer dead letters again`,
    withholding: `${grouped(n)} sinks no longer withhold what they should send`,
    'reading-late': `Every list of ${grouped(n)} pigeonholes is read in time again`,
    'deletions-held': `No deletions of ${grouped(n)} pigeonholes wait any longer`,
    'quota-used-up': `The request quotas of ${grouped(n)} workspaces are no longer used up`,
    'quota-short': `The request quotas of ${grouped(n)} workspaces are sufficient again`,
  };
  return titles[occasion as keyof typeof titles]; // `import-ended` has no title here, because such an alert never recovers
}

/** Returns the cause that all subjects share: one fix may resolve all of them. */
function commonReason({ occasion, facts }: Told): string[] {
  if (occasion === 'quota-used-up') return [`pigeonpost reads nothing of them ${quotaReturns(facts)}.`];
  const { pausedBy, cause } = facts;
  if (occasion === 'behind') return cause == null ? [] : [`The destination of each ${failureWords(String(cause))}.`];
  if (occasion !== 'sink-paused' && occasion !== 'workspace-paused') return [];
  if (pausedBy === 'person') return ['Operators paused all of them.'];
  if (cause === 'credential') return ['The credentials of all of them are refused.'];
  if (cause === 'restored') return ['The ledger was restored from a backup.'];
  return [];
}

function namesSentence(subjects: readonly string[]): string {
  const more = subjects.length - maxNames;
  const names = subjects.slice(0, maxNames).join(', ');
  return more > 0 ? `They are ${names} and ${grouped(more)} more.` : `They are ${names}.`;
}
