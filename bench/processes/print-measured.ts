/**
 * Prints the result of a program that measures itself, as JSON after the word `measured`, for `Program.measured`. If the
 * work fails, prints the error to stderr, and the program exits with 1.
 * @param name the program's name, for the error
 */
export function printMeasured(name: string, work: Promise<object>): void {
  work.then(
    (measurement) => process.stdout.write(`measured ${JSON.stringify(measurement)}\n`),
    (error: unknown) => {
      process.stderr.write(`${name}: ${error instanceof Error ? error.message : String(error)}\n`);
      process.exitCode = 1;
    },
  );
}
