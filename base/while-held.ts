import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Confirms that this process still holds a lease. It runs before each call that only the holder may make. If it returns
 * undefined, the call may start immediately. Otherwise the call waits for the promise, and does not start if it
 * rejects.
 */
export type ConfirmHeld = () => Promise<void> | undefined;

const current = new AsyncLocalStorage<ConfirmHeld>();

/** Runs `work` under a lease: `confirm` runs before each call that `work` makes. */
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
 * Returns the function that confirms the lease of the current call, or undefined if the call has no lease. Code that
 * continues outside this call needs it: for example, a request that waited for a connection is started by the request
 * that ended.
 */
export function presentConfirm(): ConfirmHeld | undefined {
  return current.getStore();
}
