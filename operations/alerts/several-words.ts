import type { NewAlertMessage, Occasion } from './looks.js';
import { count, grouped } from '../numbers-in-words.js';
import type { AlertText } from './alert-text.js';

/** A message names so many; the page and the command line have all of them. */
const mostNames = 10;

type Several = Pick<NewAlertMessage, 'occasion' | 'subjects' | 'kind' | 'facts'>;

/** What is told of many at once: how many, what they have in common, the first of their names. Pure. */
export function severalWords(message: Several): Omit<AlertText, 'link'> {
  const { occasion, kind, subjects } = message;
  const title = kind === 'recovered' ? overTitle(message) : raisedTitle(message);
  const common = kind === 'raised' ? commonReason(message) : [];
  return {
    title,
    says: [...common, namesSentence(subjects)].join(' '),
    todo: kind === 'recovered' ? null : `"${commands[occasion]}" lists them, each with what it needs.`,
  };
}

const commands: Readonly<Record<Occasion, string>> = {
  'service-down': 'pigeonpost status',
  'sink-paused': 'pigeonpost status',
  'workspace-paused': 'pigeonpost status',
  behind: 'pigeonpost status',
  'dead-letters': 'pigeonpost dead-letters list',
  withholding: 'pigeonpost status',
  'reading-late': 'pigeonpost status',
  'deletions-held': 'pigeonpost deletions list',
  'quota-short': 'pigeonpost status',
  'import-ended': 'pigeonpost import list',
};

function raisedTitle({ occasion, subjects: { length: n }, facts }: Several): string {
  switch (occasion) {
    case 'service-down':
      return `The service does not answer ${grouped(n)} workspaces`;
    case 'sink-paused':
      return `${grouped(n)} sinks are paused`;
    case 'workspace-paused':
      return `${grouped(n)} workspaces are paused`;
    case 'behind':
      return `${grouped(n)} sinks are behind`;
    case 'dead-letters':
      return `${grouped(n)} sinks have refused ${count(facts['letters'], 'change')}`;
    case 'withholding':
      return `${grouped(n)} sinks withhold what they should probably send`;
    case 'reading-late':
      return `Lists of ${grouped(n)} pigeonholes are not read in time`;
    case 'deletions-held':
      return `${count(facts['items'], 'deletion')} in ${grouped(n)} pigeonholes wait for a person`;
    case 'quota-short':
      return `The request quotas of ${grouped(n)} workspaces will not last`;
    case 'import-ended':
      return `${grouped(n)} imports have ended`;
    default:
      return occasion satisfies never;
  }
}

function overTitle({ occasion, subjects: { length: n } }: Several): string {
  const titles: Readonly<Record<Exclude<Occasion, 'import-ended'>, string>> = {
    'service-down': `The service answers ${grouped(n)} workspaces again`,
    'sink-paused': `${grouped(n)} sinks are no longer paused`,
    'workspace-paused': `${grouped(n)} workspaces are no longer paused`,
    behind: `${grouped(n)} sinks are no longer behind`,
    'dead-letters': `${grouped(n)} sinks have fewer dead letters again`,
    withholding: `${grouped(n)} sinks no longer withhold what they should send`,
    'reading-late': `Every list of ${grouped(n)} pigeonholes is read in time again`,
    'deletions-held': `No deletions of ${grouped(n)} pigeonholes wait any more`,
    'quota-short': `The request quotas of ${grouped(n)} workspaces last again`,
  };
  return titles[occasion as keyof typeof titles]; // an import that has ended is never over
}

/** Of pauses that all have one reason: mending one thing may mend all. */
function commonReason({ occasion, facts: { pausedBy, cause } }: Several): string[] {
  if (occasion !== 'sink-paused' && occasion !== 'workspace-paused') return [];
  if (pausedBy === 'person') return ['All by persons.'];
  if (cause === 'credential') return ['The credentials of all of them are refused.'];
  if (cause === 'restored') return ['The ledger was restored from a backup.'];
  return [];
}

function namesSentence(subjects: readonly string[]): string {
  const more = subjects.length - mostNames;
  const names = subjects.slice(0, mostNames).join(', ');
  return more > 0 ? `They are ${names} and ${grouped(more)} more.` : `They are ${names}.`;
}
