import { ExitCode } from './exit-code.js';

/** npm passes a Ctrl-C on that its child has had already: within this time, two are one. */
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

/** As if nobody had listened. */
function dieOf(signal: NodeJS.Signals): void {
  for (const each of signals) process.off(each, onSignal);
  process.kill(process.pid, signal);
}

/**
 * From now on a signal is kept for whoever asks by `untilStopped`, instead of ending this process at once: loading a
 * command takes a moment, in which a supervisor may change its mind. Call it first of all.
 */
export function holdSignals(): void {
  for (const signal of signals) process.on(signal, onSignal);
}

/**
 * This command ends by itself, and a signal ends it at once: also one that came while it was loaded. The listener
 * stays: a signal that has come and was not told to us yet would be lost with it.
 */
export function releaseSignals(): void {
  released = true;
  if (first !== undefined) dieOf(first.signal);
}

/**
 * Resolves when a person or a supervisor asks this process to end (Ctrl-C, SIGTERM, a closed terminal), or has asked
 * since `holdSignals`. From then on the command ends in order; whoever asks once more, later, has it end at once: what
 * it started has guards, and the store loses nothing.
 */
export function untilStopped(): Promise<void> {
  return stopped;
}

/** Somebody has asked already: what has not been started need not be. */
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
