import { anyListNamed as findAnyList, listNamed as findList } from '../operations/command-words.js';
import { CommandError, ExitCode } from './exit-code.js';

/** The list that a person has named. @throws {CommandError} when there is none of that name */
export function listNamed(word: string): Extract<ReturnType<typeof findList>, { list: string }>['list'] {
  const found = findList(word);
  if ('list' in found) return found.list;
  throw new CommandError(ExitCode.WrongUse, found.problem);
}

/** As `listNamed`, derived lists included. @throws {CommandError} when there is none of that name */
export function anyListNamed(word: string): Extract<ReturnType<typeof findAnyList>, { list: string }>['list'] {
  const found = findAnyList(word);
  if ('list' in found) return found.list;
  throw new CommandError(ExitCode.WrongUse, found.problem);
}
