import type { Status } from '../../api/status-view.js';
import type { AlertsConfig } from '../../config/config.js';
import type { AlertFacts, Occasion } from '../../ledger/queries/alerts/looks.js';
import type { Pause } from '../../ledger/queries/pauses.js';
import type { LaneState } from '../../ledger/queries/read-lanes.js';
import type { Found } from './judge-alert.js';

/** Something that is so, or of which it cannot be said just now; what is not among them is not so. */
export interface Condition {
  readonly occasion: Exclude<Occasion, 'import-ended'>;
  readonly subject: string;
  readonly found: Exclude<Found, 'over'>;
  /** Counts, codes and instants alone: what a person or a vendor wrote stays where it is. */
  readonly facts: AlertFacts;
}

export interface LookedAt {
  readonly status: Status;
  readonly pauses: readonly Pause[];
  /** Of what sinks are sent; lanes that nothing is sent on any more are no backlog. */
  readonly lanes: readonly LaneState[];
  readonly now: Date;
}

/** What is worth telling at this moment, of the occasions that are wanted. Pure. */
export function findConditions(looked: LookedAt, when: AlertsConfig['when']): Condition[] {
  const { workspaces, sinks } = looked.status;
  return [
    ...(when.workspacePaused ? pausedOnes(looked, 'workspace', workspaces) : []),
    ...(when.sinkPaused ? pausedOnes(looked, 'sink', sinks) : []),
    ...sinks.flatMap((sink) => [...behind(sink, looked, when), ...deadLetters(sink, when)]),
    ...workspaces.flatMap((workspace) => [...held(workspace, when), ...quotaShort(workspace, when)]),
  ];
}

function pausedOnes(
  { pauses }: LookedAt,
  scope: 'workspace' | 'sink',
  configured: readonly { readonly name: string }[],
): Condition[] {
  const occasion = scope === 'sink' ? 'sink-paused' : 'workspace-paused';
  return configured.flatMap(({ name }): Condition[] => {
    const own = pauses.filter((pause) => pause.scope === scope && pause.name === name);
    // A cause is the worse news: it ends only when somebody mends something.
    const pause = own.find(({ pausedBy }) => pausedBy === 'cause') ?? own[0];
    if (pause === undefined) return [];
    const { pausedBy, cause, since } = pause;
    return [{ occasion, subject: name, found: 'holds', facts: { pausedBy, cause, pausedAt: since.toISOString() } }];
  });
}

function behind(
  { name, state, backlog, observation, approval }: Status['sinks'][number],
  { lanes, now }: LookedAt,
  { behindMs, sinkPaused }: AlertsConfig['when'],
): Condition[] {
  if (behindMs === undefined || (observation !== null && approval === null)) return [];
  const waiting = lanes.filter((lane) => lane.sink === name).flatMap(({ undeliveredSince }) => undeliveredSince ?? []);
  if (waiting.length === 0) return [];
  const oldestAt = new Date(Math.min(...waiting.map((each) => each.getTime())));
  if (now.getTime() - oldestAt.getTime() <= behindMs) return [];
  // That it is paused is told, and that it is behind then goes without saying; but it is not over either.
  const found = state === 'paused' && sinkPaused ? 'unknown' : 'holds';
  return [{ occasion: 'behind', subject: name, found, facts: { oldestAt: oldestAt.toISOString(), backlog } }];
}

function deadLetters(
  { name, dead }: Status['sinks'][number],
  { deadLetters: most }: AlertsConfig['when'],
): Condition[] {
  const letters = Object.values(dead).reduce((sum, n) => sum + n, 0);
  if (most === undefined || letters < most) return [];
  return [{ occasion: 'dead-letters', subject: name, found: 'holds', facts: { letters } }];
}

function held(
  { name, pigeonholes }: Status['workspaces'][number],
  { deletionsHeld }: AlertsConfig['when'],
): Condition[] {
  if (!deletionsHeld) return [];
  return pigeonholes
    .filter(({ heldDeletions }) => heldDeletions > 0)
    .map(({ id, heldDeletions }) => ({
      occasion: 'deletions-held',
      subject: `${name}/${id}`,
      found: 'holds',
      facts: { items: heldDeletions },
    }));
}

function quotaShort(
  { name, quota, reason, state }: Status['workspaces'][number],
  { quotaShort: isWanted }: AlertsConfig['when'],
): Condition[] {
  if (!isWanted) return [];
  const waits = state === 'waiting' && reason === 'quota';
  // A quota that is used up lasts until no instant: `lastsUntil` alone would say that all is well again.
  const isUsedUp = quota !== null && quota.left !== null && quota.left <= quota.reserved && quota.nextHour.all > 0;
  if (!waits && !isUsedUp && (quota === null || quota.lastsUntil === null)) return [];
  const { left = null, limit = null, lastsUntil = null, resetAt = null } = quota ?? {};
  return [{ occasion: 'quota-short', subject: name, found: 'holds', facts: { left, limit, lastsUntil, resetAt } }];
}
