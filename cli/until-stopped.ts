import { ExitCode } from './exit-code.js';

/** npm forwards a Ctrl-C that its child has already received: two signals within this time count as one. */
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

/** Ends the process as if there were no listener. */
function dieOf(signal: NodeJS.Signals): void {
  for (const each of signals) process.off(each, onSignal);
  process.kill(process.pid, signal);
}

/**
 * Holds signals for `untilStopped` instead of ending this process immediately: a supervisor may stop it while a command
 * is loaded. Call it first.
 */
export function holdSignals(): void {
  for (const signal of signals) process.on(signal, onSignal);
}

/**
 * Lets a signal end this process immediately, including one that arrived while the command was loaded. The listener
 * stays: without it, a signal that Node has not reported yet would be lost.
 */
export function releaseSignals(): void {
  released = true;
  if (first !== undefined) dieOf(first.signal);
}

/**
 * Resolves when a signal requests the end of this process (Ctrl-C, SIGTERM, a closed terminal), or has done so since
 * `holdSignals`. The command then stops in order. A second signal ends it immediately: its child processes have guards,
 * and the store loses nothing.
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
