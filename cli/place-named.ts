import { CommandError, ExitCode } from './exit-code.js';
import { pigeonholeNamed } from './pigeonhole-named.js';

/** As `pigeonholeNamed`; the workspace may be left out where the configuration has one. @throws {CommandError} */
export function placeNamed(
  word: string,
  workspaces: readonly string[],
): { readonly workspace: string; readonly id: string } {
  const { id, workspace = workspaces.length === 1 ? workspaces[0] : undefined } = pigeonholeNamed(word);
  if (workspace !== undefined) return { workspace, id };
  const known = workspaces.length === 0 ? '' : `: there are workspaces ${workspaces.join(', ')}`;
  throw new CommandError(ExitCode.WrongUse, `write WORKSPACE/${id}${known}`);
}
