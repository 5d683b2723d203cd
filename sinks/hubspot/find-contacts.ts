import { groupBy } from '../../base/grouping.js';
import { type Sending, writeRecords } from './batch.js';
import { type Task, type ContactReference, newContacts } from './operation.js';
import { Search, find } from './find-records.js';
import { upsertOf } from './send-records.js';

/** A contact that a step of another kind needs. */
interface WantedContact {
  readonly task: Task;
  /** The step's entry of `records`. */
  readonly record: string;
  readonly contact: ContactReference;
}

/**
 * Returns the id of each step's contact, and creates missing contacts if the mapping allows it. Null: there is no
 * contact. Undefined: the contact could not be determined, and the task has ended.
 */
export async function findContacts(
  wanted: readonly WantedContact[],
  sending: Sending,
): Promise<(string | null | undefined)[]> {
  const searches = wanted.map(({ task, record, contact }) => {
    const step = { record, objectType: 'contacts', match: contact.match, write: [], contact };
    return new Search(task, step);
  });
  await find(searches, sending);
  for (const { task, id, step } of searches) {
    if (id !== null && step.contact.create && task.has(newContacts).mayExist === true) task.mayHaveCreated(id);
  }
  const creating = searches.filter(({ isOpen, id, step }) => isOpen && id === null && step.contact.create);
  for (const groups of byFirstMatch(creating)) {
    const inputs = groups.map(([first]) => upsertOf(first!.step.match[0]!, first!.step.contact.properties));
    const replies = await writeRecords(sending, 'contacts', 'upsert', inputs);
    groups.forEach((group, index) => {
      const reply = replies[index]!;
      for (const search of group) {
        const { task, step } = search;
        const mayExist = task.has(newContacts).mayExist === true;
        if (reply.kind === 'done') {
          search.id = String(reply.result.id);
          if (reply.result.new !== false) task.mayHaveCreated(search.id, mayExist);
        } else if (reply.kind !== 'missing') {
          if (reply.kind === 'failed' && reply.processed === 'maybe') task.mayHaveCreated(null);
          task.endBy(reply, step.record);
        }
      }
    });
  }
  return searches.map(({ isOpen, id }) => (isOpen ? id : undefined));
}

/**
 * Groups searches for one call each, because HubSpot accepts only one match property in a call, and within it by the
 * property's value.
 */
function byFirstMatch<S extends Search>(searches: readonly S[]): S[][][] {
  const alike = groupBy(searches, ({ step }) => step.match[0]!.property);
  return [...alike.values()].map((group) => [
    ...groupBy(group, ({ step }) => step.match[0]!.value.toLowerCase()).values(),
  ]);
}
