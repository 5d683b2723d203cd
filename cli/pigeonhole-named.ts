import { shownWord } from '../operations/command-words.js';
import { CommandError, ExitCode } from './exit-code.js';

/** The pigeonhole that a person means: ID, WORKSPACE/ID, or either after "pigeonhole:". @throws {CommandError} */
export function pigeonholeNamed(word: string): { readonly id: string; readonly workspace?: string } {
  const [, workspace, id] = /^(?:pigeonhole:)?(?:([a-z0-9][a-z0-9-]{0,62})\/)?(\d{1,15})$/.exec(word) ?? [];
  if (id === undefined) {
    throw new CommandError(ExitCode.WrongUse, `"${shownWord(word)}" is no pigeonhole: write its ID, or WORKSPACE/ID`);
  }
  return workspace === undefined ? { id } : { id, workspace };
}
