import { findInOrder } from '../records/find-in-order.js';
import type { RecordJob } from '../records/write-records.js';
import type { Result } from '../sink.js';
import { readRecords, type RecordReply, type Sending } from './batch.js';
import type { Task, RecordStep, UniqueValue } from './operation.js';
import { needsHistory, neededProperties } from './present-values.js';

type Searched = Pick<RecordStep, 'record' | 'objectType' | 'match' | 'write'>;

/** A search for the record of a step. */
export class Search<S extends Searched = Searched> implements RecordJob {
  /** The record's id, once it is known. */
  id: string | null = null;
  /** The value that found the record. The record already has it, so it need not be written. */
  foundBy: UniqueValue | null = null;
  /** The record as read; undefined if it was not read or does not exist. */
  record: Readonly<Record<string, unknown>> | undefined;
  /** True if the known id leads to another record, into which the record was merged. */
  isMerged = false;

  constructor(
    readonly task: Task,
    readonly step: S,
    readonly happenedAtMs = 0,
  ) {}

  get isOpen(): boolean {
    return this.task.isOpen(this.step.record);
  }

  end(result: Result): void {
    this.task.end(result, this.step.record);
  }
}

/** Searches for the records by their match properties, one property after another. */
export async function find(searches: readonly Search[], sending: Sending): Promise<void> {
  await findInOrder(
    searches,
    ({ step }) => step.match.map((value) => ({ kind: value.property, value })),
    ({ isOpen, id }) => isOpen && id === null,
    async (group, property) => {
      const values = new Map(group.map(({ search, look }) => [search, look.value]));
      const found = group.map(({ search }) => search);
      const replies = await read(found, (search) => values.get(search)!.value, property, sending);
      found.forEach((search, index) => {
        const reply = replies[index]!;
        if (reply.kind === 'done') {
          search.id = String(reply.result.id);
          search.foundBy = values.get(search)!;
          search.record = reply.result;
        } else if (reply.kind !== 'missing') search.task.endBy(reply, search.step.record);
      });
    },
  );
}

/** Reads the record of each search, in their order, with the properties that the decisions need. */
export async function read<S extends Search>(
  searches: readonly S[],
  keyOf: (search: S) => string,
  idProperty: string | undefined,
  sending: Sending,
): Promise<RecordReply[]> {
  if (searches.length === 0) return [];
  const properties = searches.flatMap(({ step }) => neededProperties(step));
  const dated = searches.flatMap(({ step }) => step.write.filter(needsHistory).map(({ name }) => name));
  const wanted = { properties, withHistory: [...new Set(dated)], idProperty };
  return await readRecords(sending, searches[0]!.step.objectType, searches.map(keyOf), wanted);
}
