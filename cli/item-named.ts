import { itemNamed as findItem } from '../operations/command-words.js';
import { CommandError, ExitCode } from './exit-code.js';

/** The item that a person means by `list:key`; a list may be named in the singular. @throws {CommandError} */
export function itemNamed(word: string): Exclude<ReturnType<typeof findItem>, { problem: string }> {
  const found = findItem(word);
  if ('list' in found) return found;
  throw new CommandError(found.notFound ? ExitCode.NotFound : ExitCode.WrongUse, found.problem);
}
