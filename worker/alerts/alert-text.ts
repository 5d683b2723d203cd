import type { AlertFacts, NewAlertMessage, Occasion } from '../../ledger/queries/alerts/looks.js';
import { count, grouped } from './alert-numbers.js';
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
      return `/sink/${subject}`;
    case 'deletions-held':
      return `/sync/${subject}`;
    case 'import-ended':
      return `/imports/${subject}`;
    default:
      return '/';
  }
}

function raisedWords({ occasion, subject, facts }: ToldOfOne): Words {
  switch (occasion) {
    case 'sink-paused':
      return { title: `Sink ${subject} is paused`, ...pauseWords('sink', subject, facts) };
    case 'workspace-paused':
      return { title: `Workspace ${subject} is paused`, ...pauseWords('workspace', subject, facts) };
    case 'behind':
      return {
        title: `Sink ${subject} is behind`,
        says: `Its oldest change waits since ${instant(facts['oldestAt'])}; ${count(facts['backlog'], 'change')} ${facts['backlog'] === 1 ? 'waits' : 'wait'}.`,
        todo: 'See on its page whether the destination answers, and that a worker runs; nothing is lost meanwhile.',
      };
    case 'dead-letters':
      return {
        title: `Sink ${subject} has refused ${count(facts['letters'], 'change')}`,
        says: 'They are parked as dead letters, by cause. All others go on.',
        todo: `Look at the causes ("pigeonpost dead-letters list --sink ${subject}"), mend what they name, then redrive them.`,
      };
    case 'deletions-held':
      return {
        title: `${count(facts['items'], 'deletion')} in pigeonhole ${subject} ${facts['items'] === 1 ? 'waits' : 'wait'} for a person`,
        says: 'So much of a list is gone at once at the service that it may be a mistake. No sink is told until somebody decides.',
        todo: 'Look at what is missing ("pigeonpost deletions list"), then confirm or reject it.',
      };
    case 'quota-short':
      return {
        title: `The request quota of workspace ${subject} will not last`,
        says: `${quotaWords(facts)} Reading slows down, and stops when nothing is left; imports keep their reserve.`,
        todo: 'Read less often ("every" of its syncs), or ask for a larger quota; "pigeonpost check --estimate" counts what the calendar needs.',
      };
    case 'import-ended':
      return importWords(subject, facts);
    default:
      return occasion satisfies never;
  }
}

function overWords({ occasion, subject, since }: ToldOfOne): Words {
  const at = `Since ${instant(since.toISOString())}.`;
  const titles: Readonly<Record<Exclude<Occasion, 'import-ended'>, string>> = {
    'sink-paused': `Sink ${subject} is no longer paused`,
    'workspace-paused': `Workspace ${subject} is no longer paused`,
    behind: `Sink ${subject} is no longer behind`,
    'dead-letters': `Sink ${subject} has fewer dead letters again`,
    'deletions-held': `No deletions of pigeonhole ${subject} wait any more`,
    'quota-short': `The request quota of workspace ${subject} lasts again`,
  };
  return { title: titles[occasion as keyof typeof titles], says: at, todo: null };
}

function pauseWords(kind: 'sink' | 'workspace', name: string, facts: AlertFacts): Omit<Words, 'title'> {
  const since = `since ${instant(facts['pausedAt'])}`;
  const kept = kind === 'sink' ? 'It keeps its backlog.' : 'Nothing of it is read.';
  const resume = `"pigeonpost resume ${kind}:${name}"`;
  if (facts['pausedBy'] === 'person') {
    return {
      says: `A person has paused it ${since}. ${kept}`,
      todo: `"pigeonpost status" says who and why; ${resume} when it may go on.`,
    };
  }
  switch (facts['cause']) {
    case 'credential':
      return {
        says: `Its credentials are refused ${since}. ${kept}`,
        todo: `Renew them and restart, or mend their rights and ${resume}; with others it goes on by itself.`,
      };
    case 'gone':
      return {
        says: `The destination has asked to be sent nothing more ${since}. ${kept}`,
        todo: `See that the address is still wanted, or change it; then ${resume}.`,
      };
    case 'destination':
      return {
        says: `The destination is not what it was ${since}. ${kept}`,
        todo: `Its page says what is different; mend it, then ${resume}.`,
      };
    case 'restored':
      return {
        says: `The ledger was restored from a backup ${since}, and what was delivered after that backup would be again. ${kept}`,
        todo: `See what a repeat does there (docs/deployment.md, "Backup and restore"), then ${resume}.`,
      };
    default:
      return {
        says: `It was paused by a cause ${since}. ${kept}`,
        todo: `Its page says which; mend it, then ${resume}.`,
      };
  }
}

function quotaWords({ left, limit, lastsUntil, resetAt }: AlertFacts): string {
  const of = limit == null ? '' : ` of ${grouped(limit)}`;
  const has = left == null ? 'Nobody knows how much is left.' : `${grouped(left)}${of} requests are left.`;
  const lasts = lastsUntil == null ? '' : ` At this rate they last until ${instant(lastsUntil)}.`;
  return `${has}${lasts}${resetAt == null ? '' : ` The window ends at ${instant(resetAt)}.`}`;
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

/** `2026-11-21 09:30 UTC`: receivers sit anywhere. */
function instant(iso: AlertFacts[string] | undefined): string {
  return `${String(iso).slice(0, 16).replace('T', ' ')} UTC`;
}
