import type { AlertFacts, LastingOccasion } from './alerts/alert-store.js';
import { counted, formatInstant, grouped } from '../base/words.js';
import { failureWords } from '../sinks/network/failure-sentence.js';
import { serviceSilent } from '../requests/outages.js';
import type { Action } from './action.js';
import type { FoundProblem, Problem, ProblemCode, ProblemWords } from './problem.js';

/** All texts and properties of one kind of problem. The page, `status`, alerts and the log use them. */
interface CatalogueEntry {
  readonly severity: Problem['severity'];
  /** By default false. */
  readonly stops?: boolean;
  /** Key of `alerts.when`. Absent: only the page, `status` and the metrics show the problem. */
  readonly occasion?: LastingOccasion;
  /** Builds the sentences from the name and the facts only. */
  readonly words: (name: string, facts: AlertFacts) => ProblemWords;
  readonly help: (found: FoundProblem) => Problem['help'];
}

const catalogue: Readonly<Record<ProblemCode, CatalogueEntry>> = {
  'process-failing': {
    severity: 'error',
    stops: true,
    words: () => ({
      title: 'pigeonpost makes no progress',
      says: 'pigeonpost reads and delivers nothing until the cause is fixed. Nothing is lost.',
      todo: 'Fix the cause. "pigeonpost check" tests the store and Temporal.',
    }),
    help: () => null,
  },
  'file-unusable': {
    severity: 'warning',
    words: (_, facts) => ({
      title: `The configuration file can no longer be used${facts['line'] == null ? '' : ` (line ${facts['line']})`}`,
      says: 'pigeonpost continues with the configuration that it loaded, but its next start would fail.',
      todo: 'Correct the file, then run "pigeonpost check".',
    }),
    help: () => null,
  },
  'service-down': {
    severity: 'error',
    stops: true,
    occasion: 'service-down',
    words: (name, facts) => ({
      title: serviceDownTitle(name, facts['unansweredAt'], facts['lists']),
      says: 'pigeonpost keeps trying and continues where it stopped when the service answers.',
      todo: `Check the service and the network to it. To try now, run "pigeonpost try-now workspace:${name}".`,
    }),
    help: (found) => button('Try now', 'try-now', found),
  },
  'workspace-paused': {
    severity: 'error',
    stops: true,
    occasion: 'workspace-paused',
    words: workspacePaused,
    help: liftPause,
  },
  'workspace-waiting': {
    severity: 'warning',
    words: (name, facts) => ({
      title: `The service asked workspace ${name} to wait until ${formatInstant(facts['waitUntil'])}`,
      says: 'pigeonpost reads nothing of the workspace until then.',
      todo: `To try now, run "pigeonpost try-now workspace:${name}".`,
    }),
    help: (found) => button('Try now', 'try-now', found),
  },
  'quota-used-up': {
    severity: 'error',
    stops: true,
    occasion: 'quota-used-up',
    words: (name, facts) => ({
      title: `The request quota of workspace ${name} is used up`,
      says: `pigeonpost reads nothing of the workspace ${quotaReturns(facts)}, then tries again and continues where it stopped.`,
      todo: `If the quota was raised, run "pigeonpost try-now workspace:${name}". ${needLess}`,
    }),
    help: (found) => button('Try now', 'try-now', found),
  },
  'quota-short': {
    severity: 'warning',
    occasion: 'quota-short',
    words: (name, facts) => ({
      title: `The request quota of workspace ${name} is too small for the configured intervals`,
      says: `${quotaLeft(facts)} ${lengthened(facts)}Reading stops when only the requests reserved for imports are left.`,
      todo: needLess,
    }),
    help: () => link('Show the quota', '/api/quota'),
  },
  'drop-folder-unreadable': {
    severity: 'warning',
    words: (name, facts) => ({
      title: `Workspace ${name} has ${counted(facts['folders'], 'drop folder')} that cannot be read`,
      says: 'pigeonpost imports no files from there. Everything else continues.',
      todo: 'Create the folder or mount its volume, and check its permissions. pigeonpost tries again every few seconds.',
    }),
    help: () => null,
  },
  'pigeonhole-paused': {
    severity: 'error',
    stops: true,
    words: (name, facts) => ({
      title: capital(`${pigeonhole(name)} is paused`),
      says: readsNothing(facts),
      todo: `To continue, run "pigeonpost resume pigeonhole:${name}".`,
    }),
    help: liftPause,
  },
  'pigeonhole-failing': {
    severity: 'warning',
    words: (name, facts) => ({
      title: `pigeonpost cannot read ${counted(facts['failing'], 'list')} of ${pigeonhole(name)}`,
      says: 'The other lists continue. Each failing list is tried again.',
      todo: `To try now, run "pigeonpost poll-now pigeonhole:${name}".`,
    }),
    help: readNow,
  },
  'pigeonhole-gone': {
    severity: 'notice',
    words: (name) => ({
      title: capital(`${pigeonhole(name)} was deleted in the service`),
      says: 'The ledger keeps what was already read.',
      todo: null,
    }),
    help: () => null,
  },
  'reading-late': {
    severity: 'warning',
    occasion: 'reading-late',
    words: (name, facts) => ({
      title: `${counted(facts['streams'], 'list')} of ${pigeonhole(name)} should have been read at ${formatInstant(facts['dueAt'])}`,
      says: null,
      todo: `If more lists become late, start another worker, use a faster machine or set longer intervals ("every"). To read now, run "pigeonpost poll-now pigeonhole:${name}".`,
    }),
    help: readNow,
  },
  'deletions-held': {
    severity: 'warning',
    occasion: 'deletions-held',
    words: (name, facts) => ({
      title: `${counted(facts['items'], 'deletion')} in ${pigeonhole(name)} ${facts['items'] === 1 ? 'waits' : 'wait'} for an operator`,
      says: 'Unusually many items disappeared, which may be a mistake. No sink receives the deletions until an operator decides.',
      todo: 'Run "pigeonpost deletions list", then confirm or reject them.',
    }),
    help: () => link('Show the deletions', '/api/deletions'),
  },
  'filters-ignored': {
    severity: 'warning',
    words: (name, facts) => ({
      title: `The service ignores filter[sessionId] in ${pigeonhole(name)}`,
      says: `${counted(facts['rows'], 'row')} of other sessions ${facts['rows'] === 1 ? 'was' : 'were'} set aside. pigeonpost records no deletions in these lists.`,
      todo: null,
    }),
    help: (found) => link('Show the streams', `${placeOf(found)}/streams`),
  },
  'unknown-sessions': {
    severity: 'warning',
    words: (name, facts) => ({
      title: `The service shows ${counted(facts['rows'], 'row')} of unknown sessions in ${pigeonhole(name)}`,
      says: `The service does not list these sessions for the pigeonhole, so the rows may belong to another one. pigeonpost ignores them, and records no deletions in these lists.`,
      todo: null,
    }),
    help: (found) => link('Show the streams', `${placeOf(found)}/streams`),
  },
  'rows-set-aside': {
    severity: 'warning',
    words: (name, facts) => ({
      title: `The service shows ${counted(facts['rows'], 'row')} without a usable id in ${pigeonhole(name)}`,
      says: `pigeonpost cannot tell which ${facts['rows'] === 1 ? 'item this is' : 'items these are'}. Until the service shows usable ids, it ignores these rows, and reports no item of these lists as deleted only because a read lacks it.`,
      todo: null,
    }),
    help: (found) => link('Show the streams', `${placeOf(found)}/streams`),
  },
  'sink-paused': {
    severity: 'error',
    stops: true,
    occasion: 'sink-paused',
    words: sinkPaused,
    help: liftPause,
  },
  'sink-failing': {
    severity: 'error',
    stops: true,
    words: sinkFailing,
    help: (found) => button('Try now', 'try-now', found),
  },
  'sink-behind': {
    severity: 'warning',
    occasion: 'behind',
    words: sinkBehind,
    help: (found) => link('Show its backlog', placeOf(found)),
  },
  'sink-withholding': {
    severity: 'error',
    occasion: 'withholding',
    words: sinkWithholding,
    help: (found) => link('Preview what it would send', placeOf(found)),
  },
  'event-withheld': {
    severity: 'notice',
    words: (name, facts) => ({
      title: `Sink ${name} receives none of a list of one event: ${String(facts['text'])}`,
      says: 'Other events are not affected.',
      todo: 'If the event should have these values, add them in the service, or let the mapping read the field that the event has.',
    }),
    help: (found) => link('Preview what it would send', placeOf(found)),
  },
  'sink-observing': {
    severity: 'notice',
    words: (name) => ({
      title: `Sink ${name} observes and sends nothing`,
      says: null,
      todo: `Check what it would send ("pigeonpost preview --sink ${name}"), then run "pigeonpost sink approve ${name}".`,
    }),
    help: (found) => button('Start sending…', 'approve', found),
  },
  'dead-letters': {
    severity: 'warning',
    occasion: 'dead-letters',
    words: deadLetters,
    help: ({ name }) => link('Show the dead letters', `/api/dead-letters?sink=${name}`),
  },
};

/** Returns the sentences of a problem, built from its name and its facts only. Pure. */
export function problemWords(code: ProblemCode, name: string, facts: AlertFacts): ProblemWords {
  return catalogue[code].words(name, facts);
}

/** Returns the occasion of the alert that a problem raises; undefined: it raises none. */
export function alertOccasion(code: ProblemCode): LastingOccasion | undefined {
  return catalogue[code].occasion;
}

/** Returns the catalogue's entry for a found problem: severity, sentences and what helps. Pure. */
export function describeProblem(found: FoundProblem): Problem {
  const { severity, stops = false, help } = catalogue[found.code];
  const words = problemWords(found.code, found.name, found.facts);
  // A start that is among the facts is in the sentences. The end of a wait may be in the same minute, but is another
  // instant.
  const saysSince = found.since !== null && Object.values(found.facts).includes(found.since.toISOString());
  return { ...found, ...words, severity, stops, saysSince, help: help(found) };
}

function liftPause(found: FoundProblem): Problem['help'] {
  return found.facts['cause'] === 'credential'
    ? button('Try now', 'try-now', found)
    : button('Resume', 'resume', found);
}

function readNow(found: FoundProblem): Problem['help'] {
  return button('Read now', 'poll-now', found);
}

function button(label: string, verb: Action['do'], found: FoundProblem): Problem['help'] {
  const { kind, name } = found;
  return kind === 'process' ? null : { label, action: { do: verb, kind, name }, see: placeOf(found) };
}

function link(label: string, see: string | null): Problem['help'] {
  return { label, action: null, see };
}

function placeOf({ kind, name }: FoundProblem): string | null {
  if (kind === 'sink') return `/api/sinks/${name}`;
  return kind === 'pigeonhole' ? `/api/pigeonholes/${name}` : null;
}

/** Returns the sentence about a service that does not answer. One sentence covers all lists of the workspace. Pure. */
export function serviceDownTitle(
  workspace: string,
  since: AlertFacts[string] | undefined,
  lists: AlertFacts[string] | undefined,
): string {
  return `${serviceSilent(workspace, since)}; ${waitingLists({ lists: lists ?? 0 })}`;
}

/** Returns `pigeonhole acme/101`, or `workspace acme` for id 0, the id of the workspace's own lists. */
function pigeonhole(name: string): string {
  const [workspace, id] = name.split('/');
  return id === '0' ? `workspace ${workspace}` : `pigeonhole ${name}`;
}

function capital(title: string): string {
  return title.charAt(0).toUpperCase() + title.slice(1);
}

function waitingLists({ lists }: AlertFacts): string {
  return `${counted(lists, 'list')} ${lists === 1 ? 'waits' : 'wait'}`;
}

function changesWait({ backlog }: AlertFacts): string {
  return `${counted(backlog, 'change')} ${backlog === 1 ? 'waits' : 'wait'}; nothing is lost.`;
}

function readsNothing({ pausedBy, pausedAt }: AlertFacts): string {
  const who = pausedBy === 'person' ? 'An operator' : 'pigeonpost';
  return `${who} paused it at ${formatInstant(pausedAt)}. pigeonpost reads nothing from it.`;
}

function workspacePaused(name: string, facts: AlertFacts): ProblemWords {
  if (facts['pausedBy'] !== 'person' && facts['cause'] === 'credential') {
    return {
      title: `The service refuses the key of workspace ${name}`,
      says: `Since ${formatInstant(facts['pausedAt'])}, nothing in the workspace has been read; ${waitingLists(facts)} for the key.`,
      todo: `Set another key and restart pigeonpost, or run "pigeonpost config apply" if the key is in a file. If this key is valid again, run "pigeonpost try-now workspace:${name}".`,
    };
  }
  return {
    title: `Workspace ${name} is paused`,
    says: readsNothing(facts),
    todo: `${facts['pausedBy'] === 'person' ? 'To continue,' : 'Fix the cause, then'} run "pigeonpost resume workspace:${name}".`,
  };
}

const needLess =
  'Set longer intervals ("every" in its syncs), or request a larger quota. "pigeonpost check --estimate" shows how many requests your planned events need.';

/** Returns the end of the wait of a workspace whose quota is used up. */
export function quotaReturns({ waitUntil }: AlertFacts): string {
  return waitUntil == null ? 'until the service accepts requests again' : `until ${formatInstant(waitUntil)}`;
}

function quotaLeft({ left, limit, lastsUntil, resetAt }: AlertFacts): string {
  const of = limit == null ? counted(left, 'request') : `${grouped(left ?? 0)} of ${counted(limit, 'request')}`;
  const has = left == null ? 'The service does not say how much is left.' : `${of} ${left === 1 ? 'is' : 'are'} left.`;
  const lasts = lastsUntil == null ? '' : ` At the present intervals, they last until ${formatInstant(lastsUntil)}.`;
  return `${has}${lasts}${resetAt == null ? '' : ` The window ends at ${formatInstant(resetAt)}.`}`;
}

/** Returns the sentence about lists that are read less often so that the quota lasts; empty if none is. */
function lengthened(facts: AlertFacts): string {
  const kinds = [
    ['live', 'live lists'],
    ['idle', 'other lists'],
    ['sweep', 'complete sweeps'],
  ] as const;
  const parts = kinds.flatMap(([kind, lists]) => {
    const factor = Number(facts[kind] ?? 1);
    return factor > 1 ? [`${lists} ${factor.toFixed(1)} times`] : [];
  });
  if (parts.length === 0) return '';
  return `So that they last, pigeonpost lengthens the intervals of ${parts.join(', ')}. `;
}

function sinkFailing(name: string, facts: AlertFacts): ProblemWords {
  const again = facts['retryAt'] == null ? '' : ` at ${formatInstant(facts['retryAt'])}`;
  return {
    title: `Sink ${name} accepts nothing`,
    says: `${changesWait(facts)} pigeonpost tries again${again}.`,
    todo: `Check the destination. To try now, run "pigeonpost try-now sink:${name}".`,
  };
}

/** Returns the sentences about a sink that is behind. If it accepts nothing, they are those of `sink-failing`. */
function sinkBehind(name: string, facts: AlertFacts): ProblemWords {
  const { cause, oldestAt } = facts;
  const because = cause == null ? '' : ` The destination ${failureWords(String(cause))}.`;
  const waits = `Its oldest change has been waiting since ${formatInstant(oldestAt)}.`;
  if (facts['problem'] === 'sink-failing') {
    const { title, says, todo } = sinkFailing(name, facts);
    return { title, says: `${waits}${because || ' "pigeonpost status" shows why.'} ${says}`, todo };
  }
  return {
    title: `Sink ${name} is behind`,
    says: `${waits}${because} ${changesWait(facts)}`,
    todo: 'Check on its page whether the destination answers. If it does, the sink catches up, or start another worker.',
  };
}

function sinkPaused(name: string, facts: AlertFacts): ProblemWords {
  const title = `Sink ${name} is paused`;
  const since = formatInstant(facts['pausedAt']);
  const kept = 'It keeps its backlog.';
  const resume = `"pigeonpost resume sink:${name}"`;
  if (facts['pausedBy'] === 'person') {
    return { title, says: `An operator paused it at ${since}. ${kept}`, todo: `To continue, run ${resume}.` };
  }
  switch (facts['cause']) {
    case 'credential':
      return {
        title: `The destination of sink ${name} refuses its credentials`,
        says: `The sink has been paused since ${since}. ${kept}`,
        todo: `Set other credentials and restart pigeonpost, or run "pigeonpost config apply" if they are in a file. If these are valid again, run "pigeonpost try-now sink:${name}".`,
      };
    case 'gone':
      return {
        title,
        says: `Its destination answered at ${since} that it accepts no more changes. ${kept}`,
        todo: `Check whether the address is still in use. If it is not, change it. Then run ${resume}.`,
      };
    case 'destination':
      return {
        title,
        says: `Since ${since}, its destination has not been as pigeonpost left it. ${kept}`,
        todo: `Read on its page what differs and fix it, then run ${resume}.`,
      };
    case 'restored':
      return {
        title,
        says: `The ledger was restored from a backup at ${since}. Changes delivered after that backup would be delivered again. ${kept}`,
        todo: `Read what a repeated delivery does in each sink (docs/deployment.md, "Backup and restore"), then run ${resume}.`,
      };
    default:
      return {
        title,
        says: `pigeonpost paused it at ${since}. ${kept}`,
        todo: `Read the cause on its page and fix it, then run ${resume}.`,
      };
  }
}

/**
 * Returns the sentences about dead letters. If the mapping failed on a change, the change never reached the
 * destination, and sending it again is useless until the mapping is corrected.
 */
function deadLetters(name: string, { letters, mapping }: AlertFacts): ProblemWords {
  const list = `"pigeonpost dead-letters list --sink ${name}"`;
  const fix = `Test the expression with "pigeonpost preview --sink ${name}", correct it in pigeonpost.yaml, and run "pigeonpost config apply": that sends them again.`;
  const others = 'All other changes continue.';
  if (mapping === letters && letters !== 0) {
    return {
      title: `The mapping of sink ${name} failed on ${counted(letters, 'change')}`,
      says: `They were not sent. ${others}`,
      todo: fix,
    };
  }
  const refused = Number(letters ?? 0) - Number(mapping ?? 0);
  return {
    title: `Sink ${name} has refused ${counted(refused, 'change')}`,
    says: `They are dead letters now, grouped by cause.${mapping ? ` The mapping failed on ${counted(mapping, 'more change')}.` : ''} ${others}`,
    todo: `Read the causes (${list}), fix them, then redrive the dead letters.${mapping ? ` ${fix}` : ''}`,
  };
}

function sinkWithholding(name: string, facts: AlertFacts): ProblemWords {
  if (facts['observes'] === 1) {
    return {
      title: `Sink ${name} would withhold what it should probably send: ${String(facts['text'])}`,
      says: 'It observes, so nothing is sent yet.',
      todo: `Correct the mapping in pigeonpost.yaml, test it with "pigeonpost preview --sink ${name}", and run "pigeonpost config apply" before you approve the sink.`,
    };
  }
  return {
    title: `Sink ${name} withholds what it should probably send: ${String(facts['text'])}`,
    says: 'Everything else continues.',
    todo: `Correct the mapping in pigeonpost.yaml, test it with "pigeonpost preview --sink ${name}", and run "pigeonpost config apply": that sends what was withheld.`,
  };
}
