import { ExitCode } from './exit-code.js';

/** npm passes a Ctrl-C on that its child has had already: within this time, two are one. */
const sameSignalMs = 1000;

/**
 * Resolves when a person or a supervisor asks this process to end (Ctrl-C, SIGTERM, a closed terminal). From then on
 * the command ends in order; whoever asks once more, later, has it end at once: what it started has guards, and the
 * store loses nothing. Call it once, before anything is started.
 */
export function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    let firstAt: number | undefined;
    const onSignal = (): void => {
      firstAt ??= Date.now();
      if (Date.now() - firstAt > sameSignalMs) process.exit(ExitCode.Failed);
      resolve();
    };
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, onSignal);
  });
}
