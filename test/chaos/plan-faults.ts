import { type PigeonholeListName, pigeonholeLists } from '../../base/lists.js';
import { listFacts, listsWith } from '../kit/list-facts.js';
import { between, instants, oneOf, type Random } from './draw.js';
import type { Deed, FaultRule, ListSetting, PlannedDeed } from './plan.js';

/**
 * All codes of the service except two that stop everything: a refused key, and a used-up quota (see `refusal` and
 * `quotaWindow`).
 */
const codes = [4500, 4502, 4503, 4504, 4505, 4506, 4507, 4508, 4509, 4510, 4511, 4512, 5000, 6000, 7001, 9000] as const;
const refusedKey = 4501;

/** Sessions keep their items, because those of other lists depend on them. */
const lists = pigeonholeLists.filter((list) => list !== 'sessions');

/** Requests with a filter: those of a session's list, and those that look up a missing item. */
const filteredRequests: readonly FaultRule[] = [
  ...listsWith(({ needsSession }) => needsSession).map((list) => ({ list })),
  { filtered: true },
];

const orders = ['ascending', 'descending', 'unordered'] as const;
const cursors = ['keyset', 'offset'] as const;

const meanGapMs = 3500;

/** Faults of the service with their times. Periods of different kinds may overlap. */
export function planFaults(random: Random, durationMs: number, deletions: boolean): PlannedDeed[] {
  const refusals = random() < 0.25 ? [refusal(random, durationMs)] : [];
  const other = instants(random, meanGapMs, 500, durationMs).map((atMs) => ({ atMs, deed: drawn(random, deletions) }));
  return [movingLists(random, durationMs, deletions), ...refusals, ...other, ...shortAnswers(random, durationMs)];
}

/** Shorter than `deletions.confirm` of a run (5 s). Longer short answers count as deletions (decision 0020). */
const glitchMs = 3000;

/** Plans to return a list empty or almost empty once in a run, in one answer or in several consecutive ones. */
function shortAnswers(random: Random, durationMs: number): PlannedDeed[] {
  const shown = lists.filter((list) => !listFacts[list].movesBetweenStreams && random() < 0.6);
  return shown.map((list) => {
    const [show, times, pigeonhole] = [oneOf(random, [0, 0, 3]), between(random, 1, 3), between(random, 0, 11)];
    const atMs = between(random, 500, durationMs - 500);
    if (times > 1) return { atMs, deed: { do: 'short', list, pigeonhole, show, times, forMs: glitchMs } };
    return { atMs, deed: { do: 'faults', rules: [{ kind: 'shortList', list, show, next: 1 }], forMs: glitchMs } };
  });
}

/** Plans insertions and deletions between two pages of a walk, about every second, which is difficult for walks. */
function movingLists(random: Random, durationMs: number, deletions: boolean): PlannedDeed {
  const rules = lists.map((list) => ({
    ...changeDuringWalk(random, list, deletions),
    afterPage: between(random, 1, 2),
    ...(deletions ? { remove: between(random, 1, 2), where: 'behind' } : {}),
    rate: 0.15,
  }));
  return { atMs: 0, deed: { do: 'faults', rules, forMs: durationMs - 1 } };
}

function changeDuringWalk(random: Random, list: PigeonholeListName, deletions: boolean): FaultRule {
  return {
    kind: 'changeDuringWalk',
    list,
    afterPage: between(random, 1, 3),
    insert: between(random, deletions ? 0 : 1, 3),
    remove: deletions ? between(random, 0, 3) : 0,
    where: oneOf(random, ['behind', 'behind', 'ahead'] as const),
  };
}

/** Plans a refused key in the first half of the run, because the workspace is then tried at long intervals. */
function refusal(random: Random, durationMs: number): PlannedDeed {
  const rules = [{ kind: 'error', code: refusedKey, next: 1 }];
  return { atMs: between(random, 1000, durationMs / 2), deed: { do: 'faults', rules, forMs: 4000 } };
}

function drawn(random: Random, deletions: boolean): Deed {
  const place = random();
  if (place < 0.55) return { do: 'faults', rules: [rule(random, deletions)], forMs: between(random, 1000, 8000) };
  if (place < 0.65) return quotaWindow(random);
  if (place < 0.75) return { do: 'list', list: oneOf(random, lists), setting: setting(random) };
  if (place < 0.8) return { do: 'page-size', maxPerPage: between(random, 10, 100) };
  if (place < 0.9) return { do: 'burst', count: between(random, 20, 150) };
  return { do: 'poll-now' };
}

function rule(random: Random, deletions: boolean): FaultRule {
  const scope: FaultRule = random() < 0.5 ? { list: oneOf(random, lists) } : {};
  const share = Math.round((0.05 + 0.6 * random() ** 2) * 100) / 100;
  const outage = random() < 0.1; // everything fails for a while
  const rate = outage ? 1 : share;
  switch (between(random, 0, 10)) {
    case 0:
      return { kind: 'error', code: oneOf(random, codes), next: between(random, 1, 3), ...scope };
    case 1:
      return { kind: 'error', code: 5000, rate, ...scope };
    case 2:
      return { kind: 'delay', ms: between(random, 50, 2500), rate: share, ...scope };
    case 3:
      return { kind: oneOf(random, ['dropBefore', 'dropAfter'] as const), rate, ...scope };
    case 4:
      return { kind: 'cutBody', rate: share, ...scope };
    case 5:
      return { kind: 'text503', rate: share, ...(random() < 0.5 ? { retryAfterSeconds: between(random, 1, 3) } : {}) };
    case 6:
      return { kind: oneOf(random, ['htmlBody', 'wrongContentType'] as const), next: between(random, 1, 2), ...scope };
    case 7:
      return {
        kind: oneOf(random, ['repeatCursor', 'moreWithoutCursor', 'emptyPage'] as const),
        next: between(random, 1, 2),
        ...scope,
      };
    case 8:
      return { kind: 'ignoreFilters', rate: share, ...oneOf(random, filteredRequests) };
    default:
      return { ...changeDuringWalk(random, oneOf(random, lists), deletions), next: between(random, 1, 4) };
  }
}

function quotaWindow(random: Random): Deed {
  const headers = random() < 0.6;
  const quota = {
    limit: between(random, 5, 60),
    windowSeconds: between(random, 2, 6),
    headers,
    // Without any information about its end, the quota is probed after a minute, which is too long here.
    retryAfter: !headers || random() < 0.4,
  };
  return { do: 'quota', quota, forMs: between(random, 3000, 9000) };
}

function setting(random: Random): ListSetting {
  const order = oneOf(random, orders);
  const cursor = oneOf(random, cursors);
  return random() < 0.3 ? { order } : random() < 0.3 ? { cursor } : { order, cursor };
}
