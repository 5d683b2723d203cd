import { groupBy } from '../../base/grouping.js';
import { mergedDetail } from '../mapping/crm-records.js';
import type { Value } from './decide-values.js';
import type { Job } from './job.js';
import type { WriteReply } from './reply.js';

/** The state of a record whose person must be forgotten, with the write that this requires. */
export type Forgetting =
  /** The record does not exist any more. */
  | { readonly kind: 'gone' }
  /** The record was merged into another one, which may contain the person's values. */
  | { readonly kind: 'merged'; readonly into: string }
  /** These values are written to the record, most of them null. */
  | { readonly kind: 'clear'; readonly id: string; readonly values: Readonly<Record<string, Value>> }
  | { readonly kind: 'delete'; readonly id: string };

/** A record to clear, and the jobs that have written it. */
export interface Clearing<J> {
  readonly id: string;
  readonly values: Readonly<Record<string, Value>>;
  readonly jobs: readonly J[];
}

export interface ForgetVendor<J extends Job> {
  /** The beginning of the causes of dead letters, such as `hubspot`. */
  readonly causes: string;
  /** The type and the id of the record that the job wrote, such as `Lead 00Q…`. */
  nameOf(job: J): string;
  /** Finds out where the records are now. Ends the jobs for which that is not clear, and leaves them out. */
  look(jobs: readonly J[]): Promise<ReadonlyMap<J, Forgetting>>;
  clear(records: readonly Clearing<J>[]): Promise<readonly WriteReply[]>;
  /** Absent if the vendor's steps of another kind delete records. */
  remove?(records: readonly Omit<Clearing<J>, 'values'>[]): Promise<readonly WriteReply[]>;
  /** Stores that the job is done. @param id null: the record does not exist any more */
  forgot(job: J, how: 'cleared' | 'deleted', id: string | null): void;
}

/**
 * Removes what was sent about people who must be forgotten: clears the values that this sink wrote, or deletes the
 * records. Several items can have the same record, which is written once. If a record was merged into another one, the
 * vendor does not say which of the values there were the sink's, so the operator has to decide.
 */
export async function forgetRecords<J extends Job>(jobs: readonly J[], vendor: ForgetVendor<J>): Promise<void> {
  const due = jobs.filter(({ isOpen }) => isOpen);
  if (due.length === 0) return;
  const standing = await vendor.look(due);
  const clearing: { readonly job: J; readonly id: string; readonly values: Readonly<Record<string, Value>> }[] = [];
  const deleting: { readonly job: J; readonly id: string }[] = [];
  for (const [job, state] of standing) {
    if (!job.isOpen) continue;
    switch (state.kind) {
      case 'gone':
        vendor.forgot(job, 'cleared', null);
        break;
      case 'merged':
        job.end({
          kind: 'rejected',
          cause: `${vendor.causes}:merged`,
          about: 'record',
          detail: mergedDetail(vendor.nameOf(job), state.into),
        });
        break;
      case 'clear':
        clearing.push({ job, ...state });
        break;
      case 'delete':
        deleting.push({ job, ...state });
    }
  }
  for (const { job, id, values } of clearing) if (isEmpty(values)) vendor.forgot(job, 'cleared', id);
  const cleared = [...groupBy(clearing, ({ id }) => id)].flatMap(([id, same]): Clearing<J>[] => {
    const values = Object.assign({}, ...same.map((each) => each.values)) as Clearing<J>['values'];
    return isEmpty(values)
      ? []
      : [{ id, values, jobs: same.flatMap((each) => (isEmpty(each.values) ? [] : [each.job])) }];
  });
  const deleted = [...groupBy(deleting, ({ id }) => id)].map(([id, same]) => ({
    id,
    jobs: same.map(({ job }) => job),
  }));
  if (cleared.length > 0) settle(cleared, await vendor.clear(cleared), 'cleared', vendor);
  if (deleted.length > 0) settle(deleted, (await vendor.remove?.(deleted)) ?? [], 'deleted', vendor);
}

function isEmpty(values: object): boolean {
  return Object.keys(values).length === 0;
}

function settle<J extends Job>(
  records: readonly Omit<Clearing<J>, 'values'>[],
  replies: readonly WriteReply[],
  how: 'cleared' | 'deleted',
  vendor: ForgetVendor<J>,
): void {
  records.forEach(({ id, jobs }, index) => {
    const reply = replies[index];
    for (const job of jobs) {
      if (reply === undefined) job.end({ kind: 'unsent' });
      else if (reply.kind === 'written') vendor.forgot(job, how, id);
      else if (reply.kind === 'missing') vendor.forgot(job, how, null);
      else job.end(reply.result);
    }
  });
}
