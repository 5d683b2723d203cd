import { AsyncLocalStorage } from 'node:async_hooks';
import type { Dispatcher } from 'undici';

/**
 * Confirms that this process still holds a lease. It runs before each call that only the holder may make. If it returns
 * undefined, the call may start immediately. Otherwise the call waits for the promise, and does not start if it
 * rejects.
 */
export type ConfirmHeld = () => Promise<void> | undefined;

/** Confirms the lease of the current call. A request that waited for a connection is started outside that call. */
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

/** The two clocks of a process. Tests pass their own. */
export interface Clocks {
  /** Unix time in ms. A person or NTP may set it. */
  wallNow(): number;
  /** Milliseconds since an arbitrary start. Never jumps, but on many machines stops while the machine is suspended. */
  monotonicNow(): number;
}

export const systemClocks: Clocks = { wallNow: () => Date.now(), monotonicNow: () => performance.now() };

/**
 * Measures elapsed time with both clocks and returns the longer time. The holder of a lease must not rely on one clock:
 * the monotonic clock may stop while the machine is suspended, and the wall clock can be set.
 */
export class Stopwatch {
  readonly #wallMs: number;
  readonly #monotonicMs: number;

  constructor(private readonly clocks: Clocks = systemClocks) {
    this.#wallMs = clocks.wallNow();
    this.#monotonicMs = clocks.monotonicNow();
  }

  /**
   * Returns the elapsed time in ms. If the wall clock was set back, the difference counts as elapsed time, because the
   * real duration is unknown.
   */
  elapsedMs(): number {
    return Math.max(this.monotonicMs(), Math.abs(this.clocks.wallNow() - this.#wallMs));
  }

  /** Returns the elapsed time in ms by the monotonic clock, which timers use as well. */
  monotonicMs(): number {
    return this.clocks.monotonicNow() - this.#monotonicMs;
  }
}

/** If a lease was confirmed less than this time ago, a call does not confirm it again. */
export const confirmAfterMs = 6000;

/**
 * Confirms a lease before each call that only its holder may make. If the last confirmation is recent according to both
 * clocks (`Stopwatch`), this costs nothing. After the process or the machine was suspended, the store is queried
 * first, because another process may hold the lease by then.
 */
export class LeaseWatch {
  #confirmedAt: Stopwatch | null;
  #confirming: Promise<void> | undefined;

  /**
   * @param renew extends the lease, or confirms that it is still held; rejects if it was lost
   * @param takenAt a stopwatch that was started before the lease was requested, because the store may count the lease's
   *   time from the request; null if the lease was never confirmed
   */
  constructor(
    private readonly renew: () => Promise<void>,
    private readonly clocks: Clocks = systemClocks,
    takenAt: Stopwatch | null = null,
  ) {
    this.#confirmedAt = takenAt;
  }

  elapsedMs(): number {
    return this.#confirmedAt?.elapsedMs() ?? Infinity;
  }

  /** Milliseconds since the last confirmation, by the monotonic clock that timers use. */
  monotonicMs(): number {
    return this.#confirmedAt?.monotonicMs() ?? Infinity;
  }

  /**
   * Confirms the lease unless the last confirmation is recent enough. @returns undefined if the last confirmation is
   * recent enough
   */
  confirm(): Promise<void> | undefined {
    return this.elapsedMs() < confirmAfterMs ? undefined : this.confirmNow();
  }

  /** Confirms the lease now. Concurrent calls share one query. @throws {LeaseNotConfirmed} if the store took too long */
  confirmNow(): Promise<void> {
    this.#confirming ??= this.#confirm().finally(() => {
      this.#confirming = undefined;
    });
    return this.#confirming;
  }

  async #confirm(): Promise<void> {
    const startedAt = new Stopwatch(this.clocks);
    await this.renew();
    // The process may have been suspended while the response was on its way.
    if (startedAt.elapsedMs() >= confirmAfterMs) throw new LeaseNotConfirmed();
    this.#confirmedAt = startedAt;
  }
}

/** Thrown if the store took so long to confirm the lease that the lease may have expired meanwhile. */
class LeaseNotConfirmed extends Error {
  override readonly name = 'LeaseNotConfirmed';

  constructor() {
    super('the lease could not be confirmed in time');
  }
}

/**
 * Prevents requests under a lease that this process no longer holds. The lease is confirmed when a request starts. It
 * is confirmed again directly before the request is written, because the request may have waited for a connection, and
 * the machine may have been suspended meanwhile.
 */
export const onlyWhileHeld: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (request, handler) => {
  const confirm = current.getStore();
  if (confirm === undefined) return dispatch(request, handler);
  const refuse = (error: Error): void => {
    refusals.add(error);
    handler.onResponseError?.(null as never, error); // there is no controller yet
  };
  let starts = 0;
  const start = (): boolean => {
    const confirming = confirm();
    if (confirming === undefined) return dispatch(request, startedWhileHeld(handler, confirm, start));
    starts += 1;
    if (starts > maxStarts) {
      confirming.catch(() => undefined);
      refuse(new Error(`the lease was confirmed ${maxStarts} times, and the request could still not start`));
    } else confirming.then(start, refuse);
    return true;
  };
  return start();
};

/**
 * Maximum number of confirmations for one request. A confirmation lasts for seconds, so more of them mean that it never
 * counts, or that the machine is suspended again and again.
 */
const maxStarts = 20;

/** The errors that `confirm` rejected with. */
const refusals = new WeakSet<Error>();

/** Returns true if a request failed because its lease was not confirmed. No byte of such a request was written. */
export function isNotConfirmed(error: unknown): boolean {
  return refusals.has(error as Error);
}

/** Aborts a request before its first byte is written. The caller never sees this error. */
const notWritten = new Error('the lease has to be confirmed before this request is written');

/**
 * Wraps the handler of a request so that the request is aborted if the lease has to be confirmed first.
 * @param startAgain confirms the lease, and starts the request again if this process still holds it
 */
function startedWhileHeld(
  handler: Dispatcher.DispatchHandler,
  confirm: ConfirmHeld,
  startAgain: () => void,
): Dispatcher.DispatchHandler {
  return {
    onRequestStart(controller, context) {
      const confirming = confirm();
      if (confirming === undefined) return handler.onRequestStart?.(controller, context);
      confirming.catch(() => undefined); // `startAgain` confirms the lease again, and reports a failure
      controller.abort(notWritten);
    },
    onResponseError(controller, error) {
      if (error === notWritten) startAgain();
      else handler.onResponseError?.(controller, error);
    },
    onRequestUpgrade: (...given) => handler.onRequestUpgrade?.(...given),
    onResponseStart: (...given) => handler.onResponseStart?.(...given),
    onResponseData: (...given) => handler.onResponseData?.(...given),
    onResponseEnd: (...given) => handler.onResponseEnd?.(...given),
  };
}
