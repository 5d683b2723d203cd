import { counted, formatInstant, grouped } from '../base/words.js';
import { failureWords } from '../sinks/network/failure-sentence.js';
import { serviceSilent } from '../requests/outages.js';
import type { ProblemFacts, ProblemWords } from './problem-traits.js';

/** Sentences of the catalogue in `problems.ts` that depend on facts. They contain counts, codes and instants only. */

/** Returns the sentence about a service that does not answer. One sentence covers all lists of the workspace. Pure. */
export function serviceDownTitle(
  workspace: string,
  since: ProblemFacts[string] | undefined,
  lists: ProblemFacts[string] | undefined,
): string {
  return `${serviceSilent(workspace, since)}; ${waitingLists({ lists: lists ?? 0 })}`;
}

/** Returns `pigeonhole acme/101`, or `workspace acme` for id 0, the id of the workspace's own lists. */
export function pigeonhole(name: string): string {
  const [workspace, id] = name.split('/');
  return id === '0' ? `workspace ${workspace}` : `pigeonhole ${name}`;
}

export function capital(title: string): string {
  return title.charAt(0).toUpperCase() + title.slice(1);
}

function waitingLists({ lists }: ProblemFacts): string {
  return `${counted(lists, 'list')} ${lists === 1 ? 'waits' : 'wait'}`;
}

function changesWait({ backlog }: ProblemFacts): string {
  return `${counted(backlog, 'change')} ${backlog === 1 ? 'waits' : 'wait'}; nothing is lost.`;
}

export function readsNothing({ pausedBy, pausedAt }: ProblemFacts): string {
  const who = pausedBy === 'person' ? 'An operator' : 'pigeonpost';
  return `${who} paused it at ${formatInstant(pausedAt)}. pigeonpost reads nothing from it.`;
}

export function workspacePaused(name: string, facts: ProblemFacts): ProblemWords {
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

export const needLess =
  'Set longer intervals ("every" in its syncs), or request a larger quota. "pigeonpost check --estimate" shows how many requests your planned events need.';

/** Returns the end of the wait of a workspace whose quota is used up. */
export function quotaReturns({ waitUntil }: ProblemFacts): string {
  return waitUntil == null ? 'until the service accepts requests again' : `until ${formatInstant(waitUntil)}`;
}

export function quotaLeft({ left, limit, lastsUntil, resetAt }: ProblemFacts): string {
  const of = limit == null ? counted(left, 'request') : `${grouped(left ?? 0)} of ${counted(limit, 'request')}`;
  const has = left == null ? 'The service does not say how much is left.' : `${of} ${left === 1 ? 'is' : 'are'} left.`;
  const lasts = lastsUntil == null ? '' : ` At the present intervals, they last until ${formatInstant(lastsUntil)}.`;
  return `${has}${lasts}${resetAt == null ? '' : ` The window ends at ${formatInstant(resetAt)}.`}`;
}

/** Returns the sentence about lists that are read less often so that the quota lasts; empty if none is. */
export function lengthened(facts: ProblemFacts): string {
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

export function sinkFailing(name: string, facts: ProblemFacts): ProblemWords {
  const again = facts['retryAt'] == null ? '' : ` at ${formatInstant(facts['retryAt'])}`;
  return {
    title: `Sink ${name} accepts nothing`,
    says: `${changesWait(facts)} pigeonpost tries again${again}.`,
    todo: `Check the destination. To try now, run "pigeonpost try-now sink:${name}".`,
  };
}

/** Returns the sentences about a sink that is behind. If it accepts nothing, they are those of `sink-failing`. */
export function sinkBehind(name: string, facts: ProblemFacts): ProblemWords {
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

export function sinkPaused(name: string, facts: ProblemFacts): ProblemWords {
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
export function deadLetters(name: string, { letters, mapping }: ProblemFacts): ProblemWords {
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

export function sinkWithholding(name: string, facts: ProblemFacts): ProblemWords {
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

/** Returns the cause that all paused subjects share. */
export function commonPause({ pausedBy, cause }: ProblemFacts): string | null {
  if (pausedBy === 'person') return 'Operators paused all of them.';
  if (cause === 'credential') return 'The credentials of all of them are refused.';
  return cause === 'restored' ? 'The ledger was restored from a backup.' : null;
}

/** Outcomes of rows that an operator has to check. */
const unsettled = ['rejected', 'invalid', 'conflict', 'unknown', 'cancelled'] as const;

export function importEnded(id: string, facts: ProblemFacts): ProblemWords {
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

export function closingStatement(number: string, facts: ProblemFacts): ProblemWords {
  const event = String(facts['pigeonhole']);
  const open = Number(facts['openPoints'] ?? 0);
  return {
    title: `The closing statement of event ${event} is ready: ${open === 0 ? 'every item is accounted for' : `${counted(open, 'point')} open`}`,
    says: `Statement ${number} says what the event service has, and what each destination received.`,
    todo: `To print it, run "pigeonpost statement ${event} --last --format html --out statement.html".`,
  };
}

export function parityDiffers(name: string, facts: ProblemFacts): ProblemWords {
  const counts = (['missing', 'changed', 'stale', 'extra'] as const).flatMap((each) => {
    const count = facts[each];
    const words = each === 'changed' ? 'changed there' : each;
    return typeof count === 'number' && count > 0 ? [`${grouped(count)} ${words}`] : [];
  });
  return {
    title: `The destination of sink ${name} differs from what was delivered: ${counts.join(', ')}`,
    says: 'pigeonpost delivered these items, and an audit found something else at the destination.',
    todo: `"pigeonpost audit ${name} --results" lists them; "pigeonpost audit ${name} --repair" sends exactly these items again.`,
  };
}
