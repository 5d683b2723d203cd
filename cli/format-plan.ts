import type {
  CausedDeliveries,
  ConfigurationChange,
  ConfigurationPlan,
  KeptItems,
  SelectionChange,
} from '../operations/configuration-plan.js';
import { grouped } from './grouped.js';
import { reasonWords } from './reason-words.js';

/** What a configuration changes and causes, for a person. Pure. */
export function formatPlan(plan: ConfigurationPlan): string[] {
  const lines = [
    ...plan.changes.flatMap(changeLines),
    ...plan.pigeonholes.map(selectionLine),
    ...plan.deliveries.map(deliveryLine),
    ...plan.kept.map(keptLine),
    ...(plan.atNextStart.length === 0 ? [] : [`at the next start: ${plan.atNextStart.join(', ')}`]),
  ];
  const changed = lines.length === 0 ? [`nothing changes: this is configuration ${plan.current}`] : lines;
  return [...changed, ...plan.warnings.map((warning) => `note: ${warning}`)];
}

/** The number of changes that sinks are sent because of it, and whether that is an estimate. Pure. */
export function deliveriesOf({ deliveries }: ConfigurationPlan): {
  readonly changes: number;
  readonly estimated: boolean;
} {
  const sent = deliveries.filter(({ observed }) => !observed);
  return {
    changes: sent.reduce((sum, { changes }) => sum + changes, 0),
    estimated: sent.some(({ estimated }) => estimated),
  };
}

function changeLines({ kind, what, name, keys, note }: ConfigurationChange): string[] {
  const head = `${kind}: ${what} ${name}${note === null ? '' : ` (${note})`}`;
  return [
    head,
    ...keys.map(({ key, from, to }) => `  ${key}${from === undefined ? ' is another' : `: ${from} becomes ${to}`}`),
  ];
}

/** More ids than these are only counted. */
const mostIds = 10;

function selectionLine({ sync, workspace, added, removed, unread }: SelectionChange): string {
  const parts = [
    ...(added.length === 0 ? [] : [`begins to read ${pigeonholes(added)}`]),
    ...(removed.length === 0 ? [] : [`reads ${pigeonholes(removed)} no more`]),
    ...(unread === 0 ? [] : [`what ${unread} of them hold is not known yet`]),
  ];
  return `sync ${sync} (${workspace}): ${parts.join('; ')}`;
}

function pigeonholes(ids: readonly number[]): string {
  if (ids.length > mostIds) return `${ids.length} pigeonholes`;
  return `${ids.length === 1 ? 'pigeonhole' : 'pigeonholes'} ${ids.join(', ')}`;
}

function deliveryLine(caused: CausedDeliveries): string {
  const { sink, list, changes, withheld, observed, estimated } = caused;
  const kept = Object.entries(withheld).map(([reason, n]) => `${grouped(n)} withheld: ${reasonWords(reason)}`);
  const verb = observed ? 'counts, and does not send,' : 'is sent';
  return `sink ${sink} ${verb} ${[`${estimated ? 'about ' : ''}${grouped(changes)} ${list}`, ...kept].join(', ')} (${causeWords(caused)})`;
}

function keptLine({ sink, list, reason, items }: KeptItems): string {
  return `sink ${sink} keeps ${items} ${list} that it was sent, and is told no more of them (${reasonWords(reason)})`;
}

function causeWords({ cause, reason }: CausedDeliveries): string {
  switch (cause) {
    case 'history':
      return 'what is there already: the sink is new there';
    case 'list-added':
      return 'what is there already: the list is new to it';
    case 'released':
      return `withheld until now: ${reasonWords(reason ?? '')}`;
    case 'cured':
      return 'withheld until now: the changed mapping sends it';
    case 'redriven':
      return `dead letters: ${reason ?? ''}`;
    case 'since-watermark':
      return 'what it missed while it was left out';
  }
}
