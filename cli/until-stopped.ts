import { ExitCode } from './exit-code.js';

/**
 * Two signals within this time count as one, because npm forwards a Ctrl-C that its child process has already received.
 */
const sameSignalMs = 1000;
const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

let first: { readonly signal: NodeJS.Signals; readonly at: number } | undefined;
let stop: () => void = () => undefined;
const stopped = new Promise<void>((resolve) => {
  stop = resolve;
});

let released = false;

function onSignal(signal: NodeJS.Signals): void {
  if (released) return dieOf(signal);
  first ??= { signal, at: Date.now() };
  if (Date.now() - first.at > sameSignalMs) process.exit(ExitCode.Failed);
  stop();
}

/** Ends the process by a signal, as if this module did not listen for signals. */
function dieOf(signal: NodeJS.Signals): void {
  for (const each of signals) process.off(each, onSignal);
  process.kill(process.pid, signal);
}

/**
 * Makes signals wait for `untilStopped` instead of ending this process immediately, because a supervisor may stop the
 * process while a command is being loaded. Must be called first.
 */
export function holdSignals(): void {
  for (const signal of signals) process.on(signal, onSignal);
}

/**
 * Lets a signal end this process immediately, including one that arrived while the command was loaded. The listener is
 * not removed, because a signal that Node has not reported yet would be lost.
 */
export function releaseSignals(): void {
  released = true;
  if (first !== undefined) dieOf(first.signal);
}

/**
 * Resolves when a signal requests the end of this process (Ctrl-C, SIGTERM, a closed terminal), or has done so since
 * `holdSignals`. The command then stops in order. A second signal ends the process immediately. Even then, guard
 * processes end its child processes, and the store loses no data.
 */
export function untilStopped(): Promise<void> {
  return stopped;
}

/** Returns true if a signal has arrived, so that nothing more needs to be started. */
export function isStopping(): boolean {
  return first !== undefined;
}

/** Returns a signal that fires when `untilStopped` resolves. */
export function stopSignal(): AbortSignal {
  const controller = new AbortController();
  untilStopped().then(
    () => controller.abort(),
    () => undefined,
  );
  return controller.signal;
}
