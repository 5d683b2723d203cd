/**
 * Task queues of one installation. Workflows, discovery and erasures use the configured queue. Other work has queues of
 * its own, so that each kind has its own places in a process, and any process may take the next stay.
 */
export type WorkKind = 'reading' | 'delivering' | 'importing';

/** @param taskQueue the configured task queue */
export function queueFor(kind: WorkKind, taskQueue: string): string {
  return `${taskQueue}-${kind}`;
}
