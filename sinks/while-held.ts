import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Asked before each call to a destination. Undefined: the caller may go on at once; else it waits, and makes no call when
 * the promise rejects.
 */
export type ConfirmHeld = () => Promise<void> | undefined;

const current = new AsyncLocalStorage<ConfirmHeld>();

/** Runs a sink's work under a lease: every call that it makes asks `confirm` first. */
export function whileHeld<Result>(confirm: ConfirmHeld, work: () => Promise<Result>): Promise<Result> {
  return current.run(confirm, work);
}

/**
 * Confirms that this process still holds the lane. Connections of `createDispatcher` ask by themselves; a sink that
 * reaches its destination in another way (files, a database) asks before each write.
 * @returns undefined when there is nothing to wait for; else a promise that rejects when the lane was lost
 */
export function confirmHeld(): Promise<void> | undefined {
  return current.getStore()?.();
}
