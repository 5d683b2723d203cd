import { InvalidArgumentError } from 'commander';

/** Reads an option that counts something. @returns a parser for commander, from 1 to `most` */
export function wholeNumber(most: number): (text: string) => number {
  return (text) => {
    const count = Number(text);
    if (Number.isInteger(count) && count >= 1 && count <= most) return count;
    throw new InvalidArgumentError(`give a whole number from 1 to ${most}`);
  };
}
