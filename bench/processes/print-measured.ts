import { messageOf } from '../../base/errors.js';
/** Time, CPU time and memory of a program that measures itself. */
export interface Measurement {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly peakRssMb: number;
}

/** Measures the time, the CPU time and the peak memory of this process during some work, and adds them to its result. */
export async function measured<Result extends object>(work: () => Promise<Result>): Promise<Result & Measurement> {
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  const result = await work();
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  const peakRssMb = process.resourceUsage().maxRSS / 1024;
  return { ...result, seconds, cpuSeconds: (user + system) / 1e6, peakRssMb };
}
/**
 * Prints the result of a program that measures itself, as JSON after the word `measured`, for `Program.measured`. If the
 * work fails, prints the error to stderr, and the program exits with 1.
 * @param name the program's name, for the error
 */
export function printMeasured(name: string, work: Promise<object>): void {
  work.then(
    (measurement) => process.stdout.write(`measured ${JSON.stringify(measurement)}\n`),
    (error: unknown) => {
      process.stderr.write(`${name}: ${messageOf(error)}\n`);
      process.exitCode = 1;
    },
  );
}
