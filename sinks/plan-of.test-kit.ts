import type { Change } from './change.js';
import type { Fields, Operation, Sink, Subject } from './sink.js';

/** Returns a change with only the context that a test adds. */
export function subjectOf(change: Change, around: Partial<Subject> = {}): Subject {
  const removal = change.data === null ? 'deleted' : null;
  return { change, previous: null, attendee: null, session: null, pigeonhole: null, object: null, removal, ...around };
}

/** Returns the operations that a sink plans for these changes. @throws if it would not send one of them */
export async function operationsFor<Op extends Operation>(
  sink: Sink<Op>,
  changes: readonly Change[],
  objectOf: (change: Change) => Fields | null = () => null,
): Promise<Op[]> {
  const planned = await sink.plan(changes.map((change) => subjectOf(change, { object: objectOf(change) })));
  return planned.map((each) => {
    if (each.kind !== 'send')
      throw new Error(`nothing is sent: ${each.kind === 'nothing' ? each.reason : each.detail}`);
    return each.operation;
  });
}
