import type { ChaosPlan, Deed } from './plan.js';

/** Formats a plan for people: the conference, and each action with its time. */
export function describePlan({ seed, store, durationMs, service, deeds, clockAheadMs }: ChaosPlan): string {
  const kills = deeds.filter(({ deed }) => deed.do === 'kill').length;
  return [
    `seed ${seed}: ${durationMs / 1000} s on the ${store} store, ${kills} kills, ${deeds.length - kills} other actions`,
    `clock of the worker ${clockAheadMs / 1000} s ahead at its start`,
    `sandbox ${service.flags.join(' ')}, knobs ${JSON.stringify(service.knobs)}`,
  ].join('\n');
}

export function describeDeed(deed: Deed): string {
  switch (deed.do) {
    case 'kill':
      return `kill -9 ${deed.victim}, restarted after ${deed.restartAfterMs} ms`;
    case 'stop':
      return `${deed.victim} is stopped for ${deed.forMs} ms`;
    case 'clock':
      return `the clock of the worker jumps to ${deed.aheadMs / 1000} s ahead`;
    case 'short':
      return `${deed.list} of pigeonhole ${deed.pigeonhole} shows ${deed.show} items, ${deed.times} times in ${deed.forMs} ms`;
    case 'faults':
      return `faults for ${deed.forMs} ms: ${deed.rules.map((rule) => JSON.stringify(rule)).join(', ')}`;
    case 'quota':
      return `quota for ${deed.forMs} ms: ${JSON.stringify(deed.quota)}`;
    case 'list':
      return `${deed.list} changes its order or cursors: ${JSON.stringify(deed.setting)}`;
    case 'page-size':
      return `at most ${deed.maxPerPage} items per page`;
    case 'receiver':
      return `the failing receiver fails for ${deed.forMs} ms: ${deed.mode}`;
    case 'burst':
      return `${deed.count} events in one burst`;
    case 'poll-now':
      return 'poll-now';
  }
}
