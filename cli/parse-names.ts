import type { Action } from '../operations/action.js';
import { CommandError, ExitCode } from './exit-code.js';

type Words = typeof import('../operations/command-input.js');

/** Parses `list:key`; the list may be in the singular. @throws {CommandError} */
export async function parseItem(word: string): Promise<Exclude<ReturnType<Words['itemNamed']>, { problem: string }>> {
  const { itemNamed } = await import('../operations/command-input.js');
  const found = itemNamed(word);
  if ('list' in found) return found;
  throw new CommandError(found.notFound ? ExitCode.NotFound : ExitCode.WrongUse, found.problem);
}

/** Parses the name of one of these lists. @throws {CommandError} if there is no such list */
export async function parseList<Name extends string>(word: string, names: readonly Name[]): Promise<Name> {
  const { listNamed } = await import('../operations/command-input.js');
  const found = listNamed(word, names);
  if ('list' in found) return found.list;
  throw new CommandError(ExitCode.WrongUse, found.problem);
}

/** Parses ID or WORKSPACE/ID, or either after "pigeonhole:". @throws {CommandError} */
export async function parsePigeonhole(word: string): Promise<{ readonly id: string; readonly workspace?: string }> {
  const [, workspace, id] = /^(?:pigeonhole:)?(?:([a-z0-9][a-z0-9-]{0,62})\/)?(\d{1,15})$/.exec(word) ?? [];
  if (id === undefined) {
    const { shownWord } = await import('../operations/command-input.js');
    throw new CommandError(ExitCode.WrongUse, `"${shownWord(word)}" is not a pigeonhole: give its ID, or WORKSPACE/ID`);
  }
  return workspace === undefined ? { id } : { id, workspace };
}

/**
 * Parses a pigeonhole as `parsePigeonhole` does, and adds the workspace if the configuration has only one.
 * @throws {CommandError}
 */
export async function parseFullPigeonhole(
  word: string,
  workspaces: readonly string[],
): Promise<{ readonly workspace: string; readonly id: string }> {
  const { id, workspace = workspaces.length === 1 ? workspaces[0] : undefined } = await parsePigeonhole(word);
  if (workspace !== undefined) return { workspace, id };
  const known = workspaces.length === 0 ? '' : `; the workspaces are ${workspaces.join(', ')}`;
  throw new CommandError(ExitCode.WrongUse, `"${id}" names no workspace: give WORKSPACE/${id}${known}`);
}

export interface KnownNames {
  readonly workspaces: readonly string[];
  readonly sinks: readonly string[];
}

type Target = Pick<Action, 'kind' | 'name'>;

/**
 * Parses the target of an action: `sink:crm`, or `crm` if only one object has that name; a pigeonhole also as
 * WORKSPACE/ID, or as ID if there is one workspace.
 * @param namesOf called only if the word does not name the kind
 * @throws {CommandError} exit 2
 */
export async function parseTarget(word: string, namesOf: () => Promise<KnownNames>): Promise<Target> {
  const [, kind, name] = /^(workspace|pigeonhole|sink):(.+)$/.exec(word) ?? [];
  if (kind !== undefined) return { kind: kind as Target['kind'], name: name! };
  if (/^[a-z0-9][a-z0-9-]{0,62}\/\d{1,15}$/.test(word)) return { kind: 'pigeonhole', name: word };
  const { workspaces, sinks } = await namesOf();
  const found: Target[] = [
    ...(workspaces.includes(word) ? [{ kind: 'workspace' as const, name: word }] : []),
    ...(sinks.includes(word) ? [{ kind: 'sink' as const, name: word }] : []),
    ...(/^\d{1,15}$/.test(word) && workspaces.length === 1
      ? [{ kind: 'pigeonhole' as const, name: `${workspaces[0]}/${word}` }]
      : []),
  ];
  if (found.length === 1) return found[0]!;
  const { shownWord } = await import('../operations/command-input.js');
  throw new CommandError(
    ExitCode.WrongUse,
    found.length === 0
      ? `"${shownWord(word)}" is unknown: write workspace:NAME, pigeonhole:WORKSPACE/ID or sink:NAME`
      : `"${shownWord(word)}" is ambiguous: write ${found.map((each) => `${each.kind}:${each.name}`).join(' or ')}`,
  );
}
