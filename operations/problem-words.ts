import type { AlertFacts } from './alerts/alert-store.js';
import type { ProblemCode, ProblemWords } from './problems.js';

/** Returns the sentences of a problem, built from its name and its facts only. Pure. */
export function problemWords(code: ProblemCode, name: string, facts: AlertFacts): ProblemWords {
  switch (code) {
    case 'process-failing':
      return {
        title: 'pigeonpost makes no progress',
        says: 'Nothing is read and nothing is delivered until the cause is gone; nothing is lost.',
        todo: 'Fix the cause. "pigeonpost check" tests the store and Temporal.',
      };
    case 'service-down':
      return {
        title: serviceDownTitle(name, facts['unansweredAt'], facts['lists']),
        says: 'pigeonpost keeps trying and continues where it stopped when the service answers.',
        todo: `Check the service and the network to it. To try now, run "pigeonpost try-now workspace:${name}".`,
      };
    case 'workspace-paused':
      return workspacePaused(name, facts);
    case 'workspace-waiting':
      return {
        title: `The service asked workspace ${name} to wait until ${formatInstant(facts['waitUntil'])}`,
        says: 'pigeonpost reads nothing of the workspace until then.',
        todo: `To try now, run "pigeonpost try-now workspace:${name}".`,
      };
    case 'quota-short':
      return quotaShort(name, facts);
    case 'pigeonhole-paused':
      return {
        title: capital(`${pigeonhole(name)} is paused`),
        says: 'Nothing of it is read.',
        todo: `To continue, run "pigeonpost resume pigeonhole:${name}".`,
      };
    case 'pigeonhole-failing':
      return {
        title: `pigeonpost cannot read ${count(facts['failing'], 'list')} of ${pigeonhole(name)}`,
        says: 'The other lists continue. Each failing list is tried again.',
        todo: `To try now, run "pigeonpost poll-now pigeonhole:${name}".`,
      };
    case 'pigeonhole-gone':
      return {
        title: capital(`${pigeonhole(name)} was deleted in the service`),
        says: 'The ledger keeps what was read of it.',
        todo: null,
      };
    case 'reading-late':
      return {
        title: `${count(facts['streams'], 'list')} of ${pigeonhole(name)} should have been read at ${formatInstant(facts['dueAt'])}`,
        says: null,
        todo: `Check that a worker runs. To read now, run "pigeonpost poll-now pigeonhole:${name}".`,
      };
    case 'deletions-held':
      return {
        title: `${count(facts['items'], 'deletion')} in ${pigeonhole(name)} ${facts['items'] === 1 ? 'waits' : 'wait'} for an operator`,
        says: 'An unusually large number of items disappeared from the service at the same time, which may be a mistake. No sink receives the deletions until an operator decides.',
        todo: 'Run "pigeonpost deletions list", then confirm or reject them.',
      };
    case 'filters-ignored':
      return {
        title: `The service ignores filter[sessionId] in ${pigeonhole(name)}`,
        says: `${count(facts['rows'], 'row')} of other sessions ${facts['rows'] === 1 ? 'was' : 'were'} set aside. pigeonpost deletes nothing from these lists.`,
        todo: null,
      };
    case 'sink-paused':
      return sinkPaused(name, facts);
    case 'sink-failing':
      return {
        title: `Sink ${name} accepts nothing`,
        says: `${changesWait(facts)} ${facts['retryAt'] == null ? 'pigeonpost tries again.' : `pigeonpost tries again at ${formatInstant(facts['retryAt'])}.`}`,
        todo: `Check the destination. To try now, run "pigeonpost try-now sink:${name}".`,
      };
    case 'sink-behind':
      return {
        title: `Sink ${name} is behind`,
        says: `Its oldest change waits since ${formatInstant(facts['oldestAt'])}. ${changesWait(facts)}`,
        todo: 'Check on its page whether the destination answers, and that a worker runs.',
      };
    case 'sink-observing':
      return {
        title: `Sink ${name} observes and sends nothing`,
        says: null,
        todo: `Compare what it would send ("pigeonpost preview --sink ${name}"), then run "pigeonpost sink approve ${name}".`,
      };
    case 'sink-withholding':
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
    case 'dead-letters':
      return deadLetters(name, facts);
    default:
      return code satisfies never;
  }
}

/** Returns the sentence about a service that does not answer, one for all lists of the workspace. Pure. */
export function serviceDownTitle(
  workspace: string,
  since: AlertFacts[string] | undefined,
  lists: AlertFacts[string] | undefined,
): string {
  return `${serviceSilent(workspace, since)}; ${waitingLists({ lists: lists ?? 0 })}`;
}

/** Returns the same sentence for the log, which does not know how many lists wait. Pure. */
export function serviceSilent(workspace: string, since: AlertFacts[string] | undefined): string {
  return `The service has not answered workspace ${workspace} since ${formatInstant(since)}`;
}

/** Reasons for which a whole workspace is not read. */
interface WorkspaceHindrance {
  readonly pause: { readonly pausedBy: string; readonly cause: string } | null;
  readonly unanswered: object | null;
  readonly waits: string | null;
}

/** Returns the reason why a pigeonhole waits although nothing is wrong with the pigeonhole itself; null: it does not. Pure. */
export function waitWords(workspace: string, { pause, unanswered, waits }: WorkspaceHindrance): string | null {
  if (pause?.pausedBy === 'person') return `workspace ${workspace} is paused`;
  if (pause?.cause === 'credential' || waits === 'credential') {
    return `waits for the key of workspace ${workspace}, which the service refuses`;
  }
  if (pause !== null) return `workspace ${workspace} is paused`;
  if (unanswered !== null) return 'waits for the service, which does not answer';
  if (waits === 'quota') return `waits for the request quota of workspace ${workspace}`;
  return waits === null ? null : 'waits because the service asked for it';
}

/** Returns `pigeonhole acme/101`; the lists of the workspace itself have the workspace's name. */
function pigeonhole(name: string): string {
  const [workspace, id] = name.split('/');
  return id === '0' ? `workspace ${workspace}` : `pigeonhole ${name}`;
}

function capital(title: string): string {
  return title.charAt(0).toUpperCase() + title.slice(1);
}

function waitingLists({ lists }: AlertFacts): string {
  return `${count(lists, 'list')} ${lists === 1 ? 'waits' : 'wait'}`;
}

function changesWait({ backlog }: AlertFacts): string {
  return `${count(backlog, 'change')} ${backlog === 1 ? 'waits' : 'wait'}; nothing is lost.`;
}

function workspacePaused(name: string, facts: AlertFacts): ProblemWords {
  const since = formatInstant(facts['pausedAt']);
  const resume = `"pigeonpost resume workspace:${name}"`;
  if (facts['pausedBy'] === 'person') {
    return {
      title: `Workspace ${name} is paused`,
      says: `An operator paused it at ${since}. Nothing of it is read.`,
      todo: `To continue, run ${resume}.`,
    };
  }
  if (facts['cause'] === 'credential') {
    return {
      title: `The service refuses the key of workspace ${name}`,
      says: `Since ${since}, nothing of the workspace is read; ${waitingLists(facts)} for the key.`,
      todo: `Set another key and restart pigeonpost. If this key is valid again, run "pigeonpost try-now workspace:${name}".`,
    };
  }
  return {
    title: `Workspace ${name} is paused`,
    says: `pigeonpost paused it at ${since}. Nothing of it is read.`,
    todo: `Fix the cause, then run ${resume}.`,
  };
}

function quotaShort(name: string, facts: AlertFacts): ProblemWords {
  const less =
    'Read less often ("every" of its syncs) or request a larger quota; "pigeonpost check --estimate" counts what the calendar needs.';
  if (facts['waits'] === 1) {
    const until = facts['waitUntil'] == null ? '' : ` until ${formatInstant(facts['waitUntil'])}`;
    return {
      title: `The request quota of workspace ${name} is used up`,
      says: `pigeonpost reads nothing of the workspace${until}.`,
      todo: `If the quota was raised, run "pigeonpost try-now workspace:${name}". ${less}`,
    };
  }
  return {
    title: `The request quota of workspace ${name} will not last`,
    says: `${quotaLeft(facts)} Reading slows down, and stops when nothing is left; imports keep their reserve.`,
    todo: less,
  };
}

function quotaLeft({ left, limit, lastsUntil, resetAt }: AlertFacts): string {
  const of = limit == null ? '' : ` of ${grouped(limit)}`;
  const has = left == null ? 'The service does not say how much is left.' : `${grouped(left)}${of} requests are left.`;
  const lasts = lastsUntil == null ? '' : ` At this rate they last until ${formatInstant(lastsUntil)}.`;
  return `${has}${lasts}${resetAt == null ? '' : ` The window ends at ${formatInstant(resetAt)}.`}`;
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
        says: `The sink is paused since ${since}. ${kept}`,
        todo: `Set other credentials and restart pigeonpost. If these are valid again, run "pigeonpost try-now sink:${name}".`,
      };
    case 'gone':
      return {
        title,
        says: `Its destination asked at ${since} to be sent nothing more. ${kept}`,
        todo: `Check that the address is still wanted, or change it; then run ${resume}.`,
      };
    case 'destination':
      return {
        title,
        says: `Its destination has been a different one since ${since}. ${kept}`,
        todo: `Read on its page what differs and fix it, then run ${resume}.`,
      };
    case 'restored':
      return {
        title,
        says: `The ledger was restored from a backup at ${since}. Changes delivered after that backup would be delivered again. ${kept}`,
        todo: `Read what a repeat does (docs/deployment.md, "Backup and restore"), then run ${resume}.`,
      };
    default:
      return {
        title,
        says: `pigeonpost paused it at ${since}. ${kept}`,
        todo: `Read the cause on its page and fix it, then run ${resume}.`,
      };
  }
}

/** Letters of a failing mapping never reached the destination, so that redriving them before the mapping changes is useless. */
function deadLetters(name: string, { letters, mapping }: AlertFacts): ProblemWords {
  const list = `"pigeonpost dead-letters list --sink ${name}"`;
  const fix = `Test the expression with "pigeonpost preview --sink ${name}", correct it in pigeonpost.yaml, and run "pigeonpost config apply": that sends them again.`;
  const others = 'All other changes continue.';
  if (mapping === letters && letters !== 0) {
    return {
      title: `The mapping of sink ${name} failed on ${count(letters, 'change')}`,
      says: `They were not sent. ${others}`,
      todo: fix,
    };
  }
  const refused = Number(letters ?? 0) - Number(mapping ?? 0);
  return {
    title: `Sink ${name} has refused ${count(refused, 'change')}`,
    says: `They are parked as dead letters, by cause.${mapping ? ` The mapping failed on ${count(mapping, 'more change')}.` : ''} ${others}`,
    todo: `Read the causes (${list}), fix what they name, then redrive them.${mapping ? ` ${fix}` : ''}`,
  };
}

/** Values of facts as people read them. */
type Fact = string | number | null | undefined;

/** Returns `1,500 deletions` or `1 deletion`. */
export function count(n: Fact, what: string): string {
  return `${grouped(n ?? 0)} ${what}${n === 1 ? '' : 's'}`;
}

/** Returns `1,500`. */
export function grouped(n: string | number): string {
  return Number(n).toLocaleString('en-US');
}

/** Returns `2026-11-21 09:30 UTC`: readers are in any time zone. */
export function formatInstant(iso: Fact): string {
  return `${String(iso).slice(0, 16).replace('T', ' ')} UTC`;
}
