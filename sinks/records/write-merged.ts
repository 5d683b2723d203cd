import type { Job } from './job.js';
import {
  decideValues,
  type PresentValue,
  type PresentValues,
  type Value,
  type ValueRules,
  type ValueWrite,
} from './decide-values.js';
import type { WriteReply } from './reply.js';

/** A job that writes values to a record. */
export interface WriteJob extends Job {
  /** Event time of the values, Unix time in ms. */
  readonly happenedAtMs: number;
}

/** A record, and the jobs that write it. Several items can be about one record. */
export interface Group<J extends WriteJob> {
  /** The record's id; null if the record does not exist. Set when it is created. */
  id: string | null;
  readonly members: readonly J[];
}

/** One write of a group's record. */
export interface Draft<J extends WriteJob, G extends Group<J>> {
  readonly group: G;
  /** The jobs whose values are written: all of the group, or one. */
  readonly members: readonly J[];
  /** The merged values, by the vendor's name of the field. */
  readonly values: ReadonlyMap<string, Value>;
  /** The values of each job. */
  readonly valuesOf: (job: J) => ReadonlyMap<string, Value>;
}

/** The knowledge of a vendor about records that are written. */
export interface MergeVendor<J extends WriteJob, G extends Group<J>> {
  readonly rules: ValueRules;
  /** Returns the values that the job writes to its record. */
  writesOf(job: J, group: G): readonly ValueWrite[];
  /** Returns the record's values as far as they are known; null if it does not exist yet. */
  presentOf(job: J, group: G): PresentValues | null;
  /** Reads what the decisions about these groups need to know, such as the types of fields. */
  prepare?(groups: readonly G[]): Promise<void>;
  /** Whether the job can be written together with `members`. If it cannot, ends the job. */
  fits?(job: J, group: G, members: readonly J[]): boolean;
  /** Converts a decided value into the form of its field. Undefined: it is not written. */
  conform?(name: string, value: Value, job: J, group: G): readonly [name: string, value: Value] | undefined;
  /** Writes records, each of them once. Returns one reply per draft, in their order. */
  write(drafts: readonly Draft<J, G>[]): Promise<readonly WriteReply[]>;
  /** Stores what was written. `null`: nothing had to be written. */
  wrote(draft: Draft<J, G>, reply: Extract<WriteReply, { kind: 'written' }> | null): void;
  /**
   * Stores what the vendor may have without having answered the write: a new record, or values of the present one. A
   * person who is forgotten before the write is repeated must not stay there unnoticed.
   */
  unanswered(draft: Draft<J, G>): void;
}

/** Some or all jobs of a group, which are written together. */
interface Part<J extends WriteJob, G extends Group<J>> {
  readonly group: G;
  readonly members: readonly J[];
}

/**
 * Writes the record of each group. The values of several items become one write; if two items set the same field, the
 * policy decides as if they were written one after another. If the vendor refuses a merged write, the items are tried one
 * at a time, so that only the faulty one is refused.
 * @returns the jobs whose record no longer exists
 */
export async function writeMerged<J extends WriteJob, G extends Group<J>>(
  groups: readonly G[],
  vendor: MergeVendor<J, G>,
): Promise<J[]> {
  return await new Merging(vendor).write(groups);
}

class Merging<J extends WriteJob, G extends Group<J>> {
  /** The jobs that are written. */
  readonly #done = new Set<J>();
  readonly #lost: J[] = [];
  /** The values of a group's record that were written here, by field name in lower case. */
  readonly #written = new Map<G, Map<string, PresentValue>>();

  constructor(private readonly vendor: MergeVendor<J, G>) {}

  async write(groups: readonly G[]): Promise<J[]> {
    if (groups.length > 0) await this.vendor.prepare?.(groups);
    let parts: Part<J, G>[] = groups.map((group) => ({ group, members: group.members }));
    while (parts.length > 0) {
      const drafts = parts.flatMap((part) => this.#draftOf(part) ?? []);
      // An update without a value is not sent, because it would still change the record's time of last modification.
      const isUnchanged = ({ group, values }: Draft<J, G>): boolean => group.id !== null && values.size === 0;
      const again: Part<J, G>[] = [];
      for (const draft of drafts.filter(isUnchanged)) again.push(...this.#accept(draft, null));
      const changing = drafts.filter((draft) => !isUnchanged(draft));
      const replies = changing.length === 0 ? [] : await this.vendor.write(changing);
      changing.forEach((draft, index) => again.push(...this.#settle(draft, replies[index]!)));
      parts = again;
    }
    return this.#lost;
  }

  /** Decides the values of the jobs that can be written. Each decision takes the values of earlier jobs into account. */
  #draftOf({ group, members }: Part<J, G>): Draft<J, G> | undefined {
    const { vendor } = this;
    const fit = members.filter((job) => job.isOpen && (vendor.fits?.(job, group, members) ?? true));
    if (fit.length === 0) return undefined;
    const writes = new Map(fit.map((job) => [job, vendor.writesOf(job, group)]));
    const merged = new Map(this.#written.get(group));
    const own = new Map<J, Map<string, Value>>();
    for (const job of fit) {
      const known = vendor.presentOf(job, group);
      const present = known === null && merged.size === 0 ? null : new Map([...(known ?? []), ...merged]);
      const wanted = withoutOthers(job, writes);
      const values = new Map<string, Value>();
      for (const [name, value] of decideValues(wanted, present, job.happenedAtMs, vendor.rules)) {
        const conformed = vendor.conform === undefined ? [name, value] : vendor.conform(name, value, job, group);
        if (conformed === undefined) continue;
        values.set(conformed[0] as string, conformed[1] as Value);
        merged.set(name.toLowerCase(), { value, happenedAtMs: job.happenedAtMs, isOurs: true });
      }
      own.set(job, values);
    }
    const values = new Map([...own.values()].flatMap((each) => [...each]));
    return { group, members: fit, values, valuesOf: (job) => own.get(job)! };
  }

  #settle(draft: Draft<J, G>, reply: WriteReply): Part<J, G>[] {
    const { group, members } = draft;
    switch (reply.kind) {
      case 'written':
        return this.#accept(draft, reply);
      case 'missing':
        this.#lost.push(...group.members.filter((job) => job.isOpen && !this.#done.has(job)));
        return [];
      case 'refused':
        if (members.length > 1 && reply.result.kind === 'rejected') return [{ group, members: [members[0]!] }];
        for (const job of members) job.end(reply.result);
        return this.#laterOf(group);
      case 'failed':
        if (reply.processed === 'maybe') this.vendor.unanswered(draft);
        for (const job of group.members) if (!this.#done.has(job)) job.end(reply.result);
        return [];
    }
  }

  #accept(draft: Draft<J, G>, reply: Extract<WriteReply, { kind: 'written' }> | null): Part<J, G>[] {
    const { group, members } = draft;
    const written = this.#written.get(group) ?? new Map<string, PresentValue>();
    for (const job of members) {
      this.#done.add(job);
      for (const [name, value] of draft.valuesOf(job)) {
        written.set(name.toLowerCase(), { value, happenedAtMs: job.happenedAtMs, isOurs: true });
      }
    }
    this.#written.set(group, written);
    this.vendor.wrote(draft, reply);
    if (reply !== null) group.id = reply.id;
    return this.#laterOf(group);
  }

  /** Returns the next job of a group whose jobs are tried one at a time. */
  #laterOf(group: G): Part<J, G>[] {
    const next = group.members.find((job) => job.isOpen && !this.#done.has(job));
    return next === undefined ? [] : [{ group, members: [next] }];
  }
}

/** Returns the writes of a job without those that clear a field for which another job of the record has a value. */
function withoutOthers<J>(job: J, writes: ReadonlyMap<J, readonly ValueWrite[]>): readonly ValueWrite[] {
  const given = new Set(
    [...writes].flatMap(([other, own]) =>
      other === job ? [] : own.flatMap(({ name, value }) => (value === null ? [] : [name.toLowerCase()])),
    ),
  );
  return writes.get(job)!.filter(({ name, value }) => value !== null || !given.has(name.toLowerCase()));
}
