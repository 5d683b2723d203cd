import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Called before each call that only the holder of a lease may make. Undefined: the call may start immediately. Otherwise
 * it waits for the promise, and does not start if the promise rejects.
 */
export type ConfirmHeld = () => Promise<void> | undefined;

const current = new AsyncLocalStorage<ConfirmHeld>();

/** Runs work under a lease: every call calls `confirm` first. */
export function whileHeld<Result>(confirm: ConfirmHeld, work: () => Promise<Result>): Promise<Result> {
  return current.run(confirm, work);
}

/**
 * Confirms that this process still holds the lease. Connections with `onlyWhileHeld` do this automatically; a sink that
 * reaches its destination another way (files, a database) calls it before each write.
 * @returns undefined if there is nothing to wait for; otherwise a promise that rejects if the lease was lost
 */
export function confirmHeld(): Promise<void> | undefined {
  return current.getStore()?.();
}

/**
 * Returns the function that confirms the present lease, for code that runs later and outside this call: a request that
 * waits for a connection starts when another one ends. Undefined if there is no lease.
 */
export function presentConfirm(): ConfirmHeld | undefined {
  return current.getStore();
}
