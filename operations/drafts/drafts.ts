import { readFile } from 'node:fs/promises';
import type { Config } from '../../config/config.js';
import type { Environment } from '../../config/environment.js';
import type { Collaborators } from '../../cycles/collaborators.js';
import { currentConfiguration } from '../../ledger/configurations.js';
import type { AppliedConfiguration } from '../configuration-plan.js';
import { loadCandidateConfig } from '../load-process-config.js';
import {
  allDrafts,
  type Draft,
  type DraftContent,
  findDraft,
  removeDraft,
  saveDraft,
} from '../../ledger/configuration-drafts.js';
import type { TriedProblem } from './check-mapping-text.js';
import { loadMapping } from './load-mapping.js';
import { type DraftedFile, fileWithDraft } from './draft-file.js';
import { isReplaceable, replaceFile, replacingInTurn } from './replace-file.js';

export type Current = Pick<Collaborators, 'config' | 'ledger'>;

/** A draft with its relation to the present file. */
export interface ComparedDraft extends Draft {
  /** Why it cannot be applied; null: it can. */
  readonly conflict: string | null;
}

/** A draft that cannot be used as it is. The message is a sentence for people. */
export class DraftError extends Error {
  override readonly name = 'DraftError';

  constructor(
    readonly kind: 'unknown' | 'conflict' | 'unusable',
    message: string,
  ) {
    super(message);
  }
}

/** Returns the drafts that the file does not contain, and whether this process can write the file. */
export async function listDrafts(current: Current): Promise<{ drafts: ComparedDraft[]; writable: boolean }> {
  const stored = await allDrafts(current.ledger);
  const writable = await isReplaceable(current.config.file);
  if (stored.length === 0) return { drafts: [], writable };
  const file = await ownText(current.config);
  const drafts = stored.flatMap((draft) => {
    const found = fileWithDraft(file, draft);
    return found.kind === 'contained' ? [] : [{ ...draft, conflict: found.kind === 'conflict' ? found.says : null }];
  });
  return { drafts, writable };
}

/**
 * Saves a mapping as a draft. The file stays as it is.
 * @throws {DraftError} if the mapping has a mistake, or if the file or the draft has changed since the author read it
 */
export async function saveMappingDraft(
  current: Current,
  {
    sink,
    text,
    base,
    replaces,
    by,
  }: {
    readonly sink: string;
    readonly text: string;
    readonly base: string;
    readonly replaces: number | null;
    readonly by: string;
  },
  environment?: Environment,
): Promise<ComparedDraft> {
  const loaded = await loadMapping(current.config, sink, text, environment);
  if ('unknown' in loaded) throw new DraftError('unknown', loaded.unknown);
  if ('problems' in loaded) throw new DraftError('unusable', loaded.problems.map(sentenceOf).join('; '));
  const body = `${text.trimEnd()}\n`;
  const draft: DraftContent = { sink, kind: 'mapping', body, base, sync: null };
  const found = fileWithDraft(await ownText(current.config), draft);
  if (found.kind === 'conflict') throw new DraftError('conflict', found.says);
  if (found.kind === 'contained')
    throw new DraftError('conflict', 'the file already contains this mapping: nothing to save');
  return { ...(await storeDraft(current, draft, { by, replaces })), conflict: null };
}

function sentenceOf({ line, message }: TriedProblem): string {
  return line === null ? message : `line ${line}: ${message}`;
}

/**
 * Stores a draft. It takes the place of one that the file contains by now, which nobody sees any more.
 * @throws {DraftError} if another draft of the sink was saved meanwhile
 */
export async function storeDraft(
  { config, ledger }: Current,
  draft: DraftContent,
  given: { readonly by: string; readonly replaces: number | null },
): Promise<Draft> {
  const saved = await saveDraft(ledger, draft, given);
  if (saved !== undefined) return saved;
  const other = await findDraft(ledger, draft.sink);
  if (other !== undefined && given.replaces === null) {
    const isDone = fileWithDraft(await ownText(config), other).kind === 'contained';
    const replacing = isDone ? await saveDraft(ledger, draft, { ...given, replaces: other.version }) : undefined;
    if (replacing !== undefined) return replacing;
  }
  throw new DraftError(
    'conflict',
    other === undefined
      ? `the draft of sink ${draft.sink} was applied or discarded meanwhile: load it again`
      : `${other.savedBy} has saved another draft of sink ${draft.sink} meanwhile: load it again, and compare`,
  );
}

/**
 * Loads the file of this process with a draft, as a candidate: secrets are stand-ins.
 * @throws {DraftError} if there is none, or if the file no longer fits; {ConfigError} if the result cannot be used
 */
export async function loadDraft({ config, ledger }: Current, sink: string, environment?: Environment): Promise<Config> {
  const file = await ownText(config);
  return await loadText(config, textOf(fileWithDraft(file, await wantedDraft(ledger, sink)), file), environment);
}

/**
 * Writes a draft into the file of this process, and makes the file the current configuration. If that fails before it is
 * current, the file gets its earlier text.
 * @param apply makes the file the current configuration
 * @throws as `loadDraft` and `apply`; {DraftError} if the file cannot be written. Then nothing has changed
 */
export async function applyDraft(
  current: Current & Pick<Collaborators, 'configuration'>,
  wanted: { readonly sink: string; readonly version: number },
  given: { readonly apply: () => Promise<AppliedConfiguration>; readonly environment?: Environment },
): Promise<AppliedConfiguration> {
  return await replacingInTurn(() => applyInTurn(current, wanted, given));
}

async function applyInTurn(
  current: Parameters<typeof applyDraft>[0],
  { sink, version }: Parameters<typeof applyDraft>[1],
  { apply, environment }: Parameters<typeof applyDraft>[2],
): Promise<AppliedConfiguration> {
  const { config, configuration, ledger } = current;
  const draft = await wantedDraft(ledger, sink);
  if (draft.version !== version) {
    throw new DraftError(
      'conflict',
      `${draft.savedBy} has saved another draft of sink ${sink} meanwhile: compare it first`,
    );
  }
  const before = await ownText(config);
  const text = textOf(fileWithDraft(before, draft), before);
  await loadText(config, text, environment);
  await write(config.file, before, text);
  let applied: AppliedConfiguration;
  try {
    applied = await apply();
  } catch (error) {
    if (text !== before && (await isStillCurrent(ledger, configuration))) await replaceFile(config.file, text, before);
    throw error;
  }
  await removeDraft(ledger, sink, draft.version);
  return applied;
}

/**
 * Whether a configuration is surely the current one. If the file had become the current one before its application failed, the
 * earlier text would stop all work, also after a restart: an outdated file is refused.
 */
export async function isStillCurrent(ledger: Current['ledger'], configuration: number): Promise<boolean> {
  return await currentConfiguration(ledger).then(
    (number) => number === configuration,
    () => false,
  );
}

async function write(file: string, before: string, text: string): Promise<void> {
  if (text === before) return;
  const refused = await replaceFile(file, before, text);
  if (refused === null) return;
  throw new DraftError(
    'conflict',
    refused.kind === 'changed'
      ? `${file} has changed just now: compare again, then apply`
      : `${file} cannot be written by pigeonpost (${refused.code}): copy the text of the draft to the place where the file is kept, then run "pigeonpost config apply"`,
  );
}

async function wantedDraft(ledger: Current['ledger'], sink: string): Promise<Draft> {
  const draft = await findDraft(ledger, sink);
  if (draft !== undefined) return draft;
  throw new DraftError('unknown', `there is no draft of sink ${sink}: it was applied or discarded`);
}

/** @throws {DraftError} for a conflict */
function textOf(found: DraftedFile, file: string): string {
  if (found.kind === 'conflict') throw new DraftError('conflict', found.says);
  return found.kind === 'changed' ? found.text : file;
}

/** The text is compared with itself: the draft was checked against the file when it was saved. */
async function loadText(config: Config, text: string, environment?: Environment): Promise<Config> {
  return await loadCandidateConfig(text, { shownFile: config.file, absoluteFile: config.file }, environment, text);
}

/** Returns the text of the file of this process; empty if it cannot be read. */
export async function ownText({ file }: Pick<Config, 'file'>): Promise<string> {
  return await readFile(file, 'utf8').catch(() => '');
}
