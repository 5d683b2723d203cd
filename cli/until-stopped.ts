import { ExitCode } from './exit-code.js';

/** npm passes a Ctrl-C on that its child has had already: within this time, two are one. */
const sameSignalMs = 1000;
const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

let first: { readonly signal: NodeJS.Signals; readonly at: number } | undefined;
let stop: () => void = () => undefined;
const stopped = new Promise<void>((resolve) => {
  stop = resolve;
});

function onSignal(signal: NodeJS.Signals): void {
  first ??= { signal, at: Date.now() };
  if (Date.now() - first.at > sameSignalMs) process.exit(ExitCode.Failed);
  stop();
}

/**
 * From now on a signal is kept for whoever asks by `untilStopped`, instead of ending this process at once: loading a
 * command takes a moment, in which a supervisor may change its mind. Call it first of all.
 */
export function holdSignals(): void {
  for (const signal of signals) process.on(signal, onSignal);
}

/** This command ends by itself, and a signal ends it at once: also one that came while it was loaded. */
export async function releaseSignals(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve)); // what came during a long load has not been told to us yet
  for (const signal of signals) process.off(signal, onSignal);
  if (first !== undefined) process.kill(process.pid, first.signal);
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
