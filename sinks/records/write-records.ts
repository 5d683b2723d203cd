import { type Group, type MergeVendor, type WriteJob, writeMerged } from './write-merged.js';

/** A job that writes a record which is known by its id, or is searched for. */
export interface RecordJob extends WriteJob {
  /** The record's id; null if it is not known or does not exist. */
  id: string | null;
}

/** The knowledge of a vendor about records that are searched for before they are written. */
export interface RecordVendor<J extends RecordJob, G extends Group<J>> extends MergeVendor<J, G> {
  /**
   * Reads the records of known ids, as far as decisions need their present values. Sets the id of a job to null if its
   * record does not exist any more.
   */
  readKnown(jobs: readonly J[]): Promise<void>;
  /**
   * Searches for the records of jobs without an id, and sets the ids. Ends the jobs of which it is not clear which record
   * is theirs.
   */
  find(jobs: readonly J[]): Promise<void>;
  /**
   * Continues with the successors of records that were lost, such as the contact of a converted lead. Returns the jobs
   * that have one, with its id.
   */
  follow?(lost: readonly J[]): Promise<readonly J[]>;
  /** Whether the job creates the record that was not found. If it does not, the vendor stores its result here. */
  mayCreate(job: J): boolean;
  /** Returns what names the record that the job would create. Jobs that share a name would create the same record. */
  newNamesOf(job: J): readonly string[];
  groupOf(id: string | null, members: readonly J[]): G;
  /**
   * Runs the search and the creation of records. A vendor without an upsert runs one at a time: two lanes that search for
   * the same new record together would find none, and create two.
   */
  alone?(work: () => Promise<void>): Promise<void>;
}

/**
 * Writes records of one kind. A record with a known id is updated. Any other is searched for, and created if it does not
 * exist. Jobs for the same record become one write. If a known record does not exist any more (because it was merged or
 * deleted at the vendor), it is searched for again.
 */
export async function writeRecords<J extends RecordJob, G extends Group<J>>(
  jobs: readonly J[],
  vendor: RecordVendor<J, G>,
): Promise<void> {
  const known = jobs.filter(({ isOpen, id }) => isOpen && id !== null);
  const lost = new Set(known.length === 0 ? [] : await writeKnown(known, vendor));
  if (lost.size > 0 && vendor.follow !== undefined) {
    const moved = await vendor.follow([...lost]);
    for (const job of moved) lost.delete(job);
    for (const job of await writeMerged(groupsOf(moved, vendor), vendor)) lost.add(job);
  }
  for (const job of lost) job.id = null;
  const unknown = jobs.filter(({ isOpen, id }) => isOpen && id === null);
  if (unknown.length === 0) return;
  const search = async (): Promise<void> => {
    await vendor.find(unknown);
    const writing = unknown.filter((job) => job.isOpen && (job.id !== null || vendor.mayCreate(job)));
    for (const job of await writeMerged(groupsOf(writing, vendor), vendor)) {
      job.end({ kind: 'retry', detail: 'the record that was found has been removed in the meantime' });
    }
  };
  await (vendor.alone === undefined ? search() : vendor.alone(search));
}

/** @returns the jobs whose record no longer exists */
async function writeKnown<J extends RecordJob, G extends Group<J>>(
  jobs: readonly J[],
  vendor: RecordVendor<J, G>,
): Promise<readonly J[]> {
  await vendor.readKnown(jobs);
  const gone = jobs.filter(({ isOpen, id }) => isOpen && id === null);
  const standing = jobs.filter(({ id }) => id !== null);
  return [...gone, ...(await writeMerged(groupsOf(standing, vendor), vendor))];
}

/** Groups open jobs by the record that they write. */
function groupsOf<J extends RecordJob, G extends Group<J>>(jobs: readonly J[], vendor: RecordVendor<J, G>): G[] {
  const groups: J[][] = [];
  const byName = new Map<string, J[]>();
  for (const job of jobs.filter(({ isOpen }) => isOpen)) {
    const names = job.id === null ? vendor.newNamesOf(job).map((name) => `new ${name}`) : [`id ${job.id}`];
    let group = names.map((name) => byName.get(name)).find((each) => each !== undefined);
    if (group === undefined) groups.push((group = []));
    group.push(job);
    for (const name of names) if (!byName.has(name)) byName.set(name, group);
  }
  return groups.map((members) => vendor.groupOf(members[0]!.id, members));
}
