import type { Canary } from '../../delivering/canaries.js';
import type { Consent } from '../../ledger/seen-item.js';
import type { Fields, Subject } from '../../sinks/sink.js';
import {
  type InventedList,
  inventedAttendee,
  inventedId,
  inventedItem,
  inventedSession,
  type Invention,
} from './invented-item.js';

/** What the subjects of a canary are made from, beside what is noted of it. */
export interface CanaryFacts {
  readonly consent: Consent;
  /** Profile fields that the sink's mapping reads. */
  readonly fields: readonly string[];
  /** The pigeonhole as it was last read: what is said of the event itself is true. */
  readonly pigeonhole: Fields | null;
  /** It goes out as of a pigeonhole of its own: the real one's lane is one line, which has to stay as the ledger knows it. */
  readonly apart: boolean;
}

type Noted = Pick<
  Canary,
  'mark' | 'workspace' | 'pigeonholeId' | 'list' | 'changeId' | 'withdrawalId' | 'begunAt' | 'object'
>;

/** The canary as it is sent. Pure: a repeat gives the same, byte for byte. */
export function sentSubject(canary: Noted, facts: CanaryFacts): Subject {
  const made = madeFrom(canary, facts);
  const list = canary.list as InventedList;
  return {
    change: { ...envelope(canary, facts, 'created'), data: inventedItem(list, made) },
    previous: null,
    attendee: list === 'attendees' || list === 'sessions' ? null : inventedAttendee(made),
    session: belongsToSession(list) ? inventedSession(made) : null,
    pigeonhole: facts.pigeonhole,
    object: canary.object,
    removal: null,
    canary: String(canary.mark),
  };
}

/** The canary as it is taken back: its person is to be forgotten. Pure. */
export function withdrawnSubject(canary: Noted, facts: CanaryFacts): Subject {
  return {
    ...sentSubject(canary, facts),
    change: { ...envelope(canary, facts, 'deleted'), data: null },
    previous: inventedItem(canary.list as InventedList, madeFrom(canary, facts)),
    removal: 'erased',
  };
}

/** The pigeonhole under which it goes out. */
export function placeOf(
  { workspace, pigeonholeId, mark }: Pick<Canary, 'workspace' | 'pigeonholeId' | 'mark'>,
  { apart }: Pick<CanaryFacts, 'apart'>,
): { readonly workspace: string; readonly pigeonholeId: number } {
  return { workspace, pigeonholeId: apart ? mark : pigeonholeId };
}

export function keyOf({ mark }: Pick<Canary, 'mark'>): string {
  return String(inventedId(mark));
}

function madeFrom({ mark, begunAt }: Noted, { consent, fields }: CanaryFacts): Invention {
  return { mark, at: begunAt.toISOString(), consent, fields };
}

function envelope(canary: Noted, facts: CanaryFacts, kind: 'created' | 'deleted'): Subject['change'] {
  const { list, changeId, withdrawalId, begunAt } = canary;
  const step = kind === 'created' ? 1 : 2;
  return {
    id: kind === 'created' ? changeId : withdrawalId,
    type: `${list}.${kind}`,
    timestamp: new Date(begunAt.getTime() + step - 1).toISOString(),
    ...placeOf(canary, facts),
    sessionId: belongsToSession(list as InventedList) ? inventedId(canary.mark) : null,
    list,
    key: keyOf(canary),
    revision: step,
    sequence: step, // lower than all that is sent later: a receiver that goes by the highest it has seen misses nothing
    data: null,
  };
}

function belongsToSession(list: InventedList): boolean {
  return !['attendees', 'registrants', 'engagement'].includes(list);
}
