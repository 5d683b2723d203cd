import { subjectOf } from '../../../../sinks/plan-of.test-kit.js';
import { sampleChange } from '../../../../sinks/sample-change.test-kit.js';
import type { Fields, Sink, Subject } from '../../../../sinks/sink.js';

/** An object at a destination: its id, the number of the item whose it is (null: of none), and its content as text. */
export type HeldObject = readonly [id: string, item: number | null, text: string];

/** The text of an item: as it was sent first, as it was sent last, or as a colleague wrote it. */
export type Version = 'first' | 'last' | 'edited';

/**
 * A destination that is read back, and the changes that people make there. Items have the numbers from 1. Every function
 * may return a promise.
 */
export interface HeldDestination {
  readonly sink: Sink;
  item(number: number, version: Version): Subject;
  /** Returns everything that the destination holds. */
  contents(): readonly HeldObject[] | Promise<readonly HeldObject[]>;
  /** Deletes the object of an item. */
  remove(number: number): unknown;
  /** Changes the object of an item to the version `edited`. */
  edit(number: number): unknown;
  /** Returns a function that brings the object of an item back as it is now, like a backup or a recycle bin. */
  backup(number: number): (() => unknown) | Promise<() => unknown>;
  /** Merges the object of an item into another one. Absent: the vendor cannot merge. */
  readonly merge?: (number: number) => unknown;
  /** Copies the object of an item. Absent: the destination cannot hold two. */
  readonly duplicate?: (number: number) => unknown;
  /** True: the copy has the mark of pigeonpost, so it is found. False: it is an object of the colleague. */
  readonly findsCopies: boolean;
  /** True: operators have to remove the objects of erased people, because the sink then has no id of them. */
  readonly leavesErased?: true;
  /** True: each revision is an object of its own, so an earlier one is not compared with the later one's. */
  readonly isOneObjectEachRevision?: true;
  /** Waits for a sink that keeps to a rate of its own. Absent: the sink waits for nothing. */
  readonly pass?: (ms: number) => Promise<void>;
  close(): Promise<void>;
}

/** Starts a destination for this number of items. */
export type StartDestination = (items: number) => Promise<HeldDestination>;

/** Returns the change of an attendee's record. */
export function personOf(number: number, version: Version, more: Fields) {
  const data = { id: number, Email: emailOf(number), Name: `Person ${number}`, ...more };
  return changeOf('attendees', number, version, data);
}

/** Returns the change of an item with its attendee's data. */
export function changeOf(list: string, number: number, version: Version, data: Fields, around: Partial<Subject> = {}) {
  const revision = version === 'first' ? 1 : 2;
  const change = sampleChange({
    id: `00000000-0000-5000-800${revision}-${String(number).padStart(12, '0')}`,
    type: `${list}.${revision === 1 ? 'created' : 'updated'}`,
    list,
    key: String(number),
    sequence: number * 2 + revision,
    revision,
    data,
  });
  return subjectOf(change, {
    session: { id: 5001, name: 'Keynote' },
    pigeonhole: { id: 101, name: 'Summit', startDate: '2026-11-21' },
    ...around,
  });
}

/** Returns the removal of an item whose person was erased. */
export function erased(subject: Subject): Subject {
  const { change, session, pigeonhole } = subject;
  const id = change.id.replace(/-800\d-/, '-8003-');
  const gone = { ...change, id, type: `${change.list}.deleted` as const, data: null, revision: change.revision + 1 };
  return subjectOf(gone, { session, pigeonhole, removal: 'erased' });
}

export const emailOf = (number: number): string => `person-${number}@example.com`;

/** Returns the number of the item whose e-mail address a text contains; null if it contains none. */
export function numberIn(text: string): number | null {
  const found = /person-(\d+)@example\.com/.exec(text)?.[1];
  return found === undefined ? null : Number(found);
}
