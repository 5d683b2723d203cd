import type { Found } from './find-people.js';
import type { PersonJob } from './job.js';
import type { PersonRow } from './person-row.js';
import type { PersonType } from './config.js';

/** Steps that are about one record: written together, since no record may stand in a call twice. */
export interface PersonGroup {
  readonly type: PersonType;
  /** Null: it is created, by its external id. */
  id: string | null;
  /** As it stands; null: it was not asked for, or does not exist. */
  readonly present: PersonRow | null;
  readonly members: PersonJob[];
}

/**
 * Steps put together by the record that they were found to be about; of those that nobody was found for, the ones with
 * one e-mail or one external id, which would else become two records of one person. Pure.
 */
export function groupPeople(jobs: readonly PersonJob[], found: ReadonlyMap<PersonJob, Found>): PersonGroup[] {
  const groups: PersonGroup[] = [];
  const byName = new Map<string, PersonGroup>();
  for (const job of jobs) {
    const { step, remote } = job;
    const whom = found.get(job);
    const row = whom?.kind === 'record' ? whom.row : null;
    const type = row?.type ?? remote?.type ?? step.objectType;
    const id = row?.id ?? remote?.id ?? null;
    const names = id === null ? newPersonNames(job) : [`id ${id}`];
    let group = names.map((name) => byName.get(name)).find((each) => each !== undefined);
    if (group === undefined) {
      group = { type, id, present: row, members: [] };
      groups.push(group);
    }
    group.members.push(job);
    for (const name of names) if (!byName.has(name)) byName.set(name, group);
  }
  return groups;
}

function newPersonNames({ step }: PersonJob): string[] {
  const byEmail = step.email !== null && step.match.some((by) => by !== 'externalId');
  return [
    ...(step.key === null ? [] : [`key ${step.key.value.toLowerCase()}`]),
    ...(byEmail ? [`email ${step.email}`] : []),
  ];
}
