import type { Action } from '../operations/action.js';
import { shownWord } from '../operations/command-words.js';
import { CommandError, ExitCode } from './exit-code.js';

/** Names that a command may be given without their kind. */
export interface KnownNames {
  readonly workspaces: readonly string[];
  readonly sinks: readonly string[];
}

type Thing = Pick<Action, 'kind' | 'name'>;

/**
 * The workspace, pigeonhole or sink that a word means: `sink:crm`, or `crm` where only one thing has that name; a pigeonhole
 * also as WORKSPACE/ID, or as ID where there is one workspace.
 * @param known called only if the word does not name the kind
 * @throws {CommandError} exit 2
 */
export async function thingNamed(word: string, known: () => Promise<KnownNames>): Promise<Thing> {
  const [, kind, name] = /^(workspace|pigeonhole|sink):(.+)$/.exec(word) ?? [];
  if (kind !== undefined) return { kind: kind as Thing['kind'], name: name! };
  if (/^[a-z0-9][a-z0-9-]{0,62}\/\d{1,15}$/.test(word)) return { kind: 'pigeonhole', name: word };
  const { workspaces, sinks } = await known();
  const found: Thing[] = [
    ...(workspaces.includes(word) ? [{ kind: 'workspace' as const, name: word }] : []),
    ...(sinks.includes(word) ? [{ kind: 'sink' as const, name: word }] : []),
    ...(/^\d{1,15}$/.test(word) && workspaces.length === 1
      ? [{ kind: 'pigeonhole' as const, name: `${workspaces[0]}/${word}` }]
      : []),
  ];
  if (found.length === 1) return found[0]!;
  throw new CommandError(
    ExitCode.WrongUse,
    found.length === 0
      ? `"${shownWord(word)}" names nothing: write workspace:NAME, pigeonhole:WORKSPACE/ID or sink:NAME`
      : `"${shownWord(word)}" names several things: write ${found.map((each) => `${each.kind}:${each.name}`).join(' or ')}`,
  );
}
