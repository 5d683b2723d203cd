import type { Operation, Planned, Subject } from '../sink.js';
import { MappingError } from './mapping-error.js';

/** Plans changes one after another. A change whose mapping fails becomes a dead letter. */
export async function planEach<Op extends Operation>(
  subjects: readonly Subject[],
  plan: (subject: Subject) => Promise<Planned<Op>>,
): Promise<Planned<Op>[]> {
  const planned: Planned<Op>[] = [];
  for (const subject of subjects) {
    try {
      planned.push(await plan(subject));
    } catch (error) {
      if (!(error instanceof MappingError)) throw error;
      planned.push({ kind: 'unplannable', cause: error.causeCode, detail: error.message });
    }
  }
  return planned;
}
