import { CommandError, ExitCode } from '../exit-code.js';

/** What `demo` was asked for, checked. */
export interface DemoOptions {
  readonly once: boolean;
  readonly folder: string;
  readonly attendees: number;
  /** Live events a second. */
  readonly rate: number;
  readonly seed: number;
}

/** As it stands on the command line. */
export interface DemoArguments {
  readonly once: boolean;
  readonly folder: string;
  readonly attendees: string;
  readonly rate: string;
  readonly seed: string;
}

/** @throws {CommandError} exit code 2, for the first number outside its range */
export function readDemoOptions(given: DemoArguments): DemoOptions {
  return {
    once: given.once,
    folder: given.folder,
    attendees: wholeNumber('--attendees', given.attendees, 1, 1_000_000),
    rate: wholeNumber('--rate', given.rate, 1, 1000),
    seed: wholeNumber('--seed', given.seed, 0, 2 ** 31 - 1),
  };
}

function wholeNumber(option: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= most) return value;
  throw new CommandError(ExitCode.WrongUse, `${option} is "${text}": give a whole number from ${least} to ${most}`);
}
