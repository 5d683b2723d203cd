import type { AlertFacts, NewAlertMessage, Occasion } from './looks.js';
import { grouped, instantInWords } from '../numbers-in-words.js';
import { problemWords } from '../problem-words.js';
import type { ProblemCode } from '../problems.js';
import { severalWords } from './several-words.js';

/** What a person is told, in sentences of our own; nothing that anybody else wrote stands in it. */
export interface AlertText {
  readonly title: string;
  readonly says: string;
  /** What to do; null: nothing. */
  readonly todo: string | null;
  /** Where to look; null: it is not known by which address people reach this installation. */
  readonly link: string | null;
}

type Told = Pick<NewAlertMessage, 'occasion' | 'subjects' | 'kind' | 'since' | 'facts'>;
/** Of one subject alone. */
type ToldOfOne = Omit<Told, 'subjects'> & { readonly subject: string };
type Words = Omit<AlertText, 'link'>;

/** @param publicUrl without a slash at its end. Pure. */
export function alertText(message: Told, publicUrl: string | null): AlertText {
  const { subjects } = message;
  const one = subjects.length === 1 ? { ...message, subject: subjects[0]! } : null;
  const link = publicUrl === null ? null : `${publicUrl}/#${one === null ? commonPlaceOf(message) : placeOf(one)}`;
  if (one === null) return { ...severalWords(message), link };
  return { ...(one.kind === 'recovered' ? overWords(one) : raisedWords(one)), link };
}

/** What `alerts test` sends. */
export function testText(publicUrl: string | null): AlertText {
  return {
    title: 'This is a test of pigeonpost',
    says: 'Somebody has asked whether alerts arrive here. They do.',
    todo: null,
    link: publicUrl === null ? null : `${publicUrl}/#/`,
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
  const { title, says, todo } = problemWords(codeOf[occasion], subject, facts);
  return { title, says: says ?? '', todo };
}

const codeOf: Readonly<Record<Exclude<Occasion, 'import-ended'>, ProblemCode>> = {
  'service-down': 'service-down',
  'sink-paused': 'sink-paused',
  'workspace-paused': 'workspace-paused',
  behind: 'sink-behind',
  'dead-letters': 'dead-letters',
  withholding: 'sink-withholding',
  'reading-late': 'reading-late',
  'deletions-held': 'deletions-held',
  'quota-short': 'quota-short',
};

function overWords({ occasion, subject, since }: ToldOfOne): Words {
  const at = `Since ${instantInWords(since.toISOString())}.`;
  const titles: Readonly<Record<Exclude<Occasion, 'import-ended'>, string>> = {
    'service-down': `The service answers workspace ${subject} again`,
    'sink-paused': `Sink ${subject} is no longer paused`,
    'workspace-paused': `Workspace ${subject} is no longer paused`,
    behind: `Sink ${subject} is no longer behind`,
    'dead-letters': `Sink ${subject} has fewer dead letters again`,
    withholding: `Sink ${subject} no longer withholds what it should send`,
    'reading-late': `Every list of pigeonhole ${subject} is read in time again`,
    'deletions-held': `No deletions of pigeonhole ${subject} wait any longer`,
    'quota-short': `The request quota of workspace ${subject} lasts again`,
  };
  return { title: titles[occasion as keyof typeof titles], says: at, todo: null };
}

/** Rows that somebody has to look at. */
const unsettled = ['rejected', 'invalid', 'conflict', 'unknown', 'cancelled'] as const;

function importWords(id: string, facts: AlertFacts): Words {
  const made = Number(facts['created'] ?? 0) + Number(facts['confirmed'] ?? 0);
  const left = unsettled.flatMap((outcome) => (facts[outcome] ? [`${grouped(facts[outcome])} ${outcome}`] : []));
  const there = facts['existing'] ? [`${grouped(facts['existing'])} were there before`] : [];
  const how = facts['state'] === 'cancelled' ? 'was cancelled' : 'has ended';
  return {
    title: `An import into pigeonhole ${String(facts['pigeonhole'])} ${how}`,
    says: `${[`${grouped(made)} registrants created`, ...there, ...left].join(', ')}.`,
    todo:
      left.length === 0
        ? null
        : `Its report says why, row by row ("pigeonpost import report ${id}"): correct the rows and import it again.`,
  };
}
