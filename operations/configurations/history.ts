import { readFile } from 'node:fs/promises';
import { z } from '@hono/zod-openapi';
import { messageOf } from '../../base/errors.js';
import { diffLines } from '../../base/line-diff.js';
import { instant } from '../../base/printable.js';
import { ConfigError } from '../../config/config-error.js';
import type { Environment } from '../../config/environment.js';
import type { Collaborators } from '../../cycles/collaborators.js';
import { isCurrentConfiguration, storedConfigurations, type StoredConfiguration } from '../../ledger/configurations.js';
import { LedgerError } from '../../ledger/ledger-error.js';
import { type AppliedConfiguration, configurationChangeSchema } from '../configuration-plan.js';
import { isStillCurrent } from '../drafts/drafts.js';
import { isReplaceable, replaceFile, replacingInTurn } from '../drafts/replace-file.js';
import { documentOf } from '../editions.js';
import { reloadProcessConfig } from '../load-process-config.js';
import { compareConfigurations } from '../plan-configuration.js';
import { lacksSecrets, shownText } from './shown-text.js';

type Current = Pick<Collaborators, 'config' | 'configuration' | 'ledger'>;

const editionSchema = z.object({
  number: z.int(),
  appliedAt: instant(),
  by: z.string().nullable().describe('Name of the token that applied it; null: the start of a process.'),
  isCurrent: z.boolean(),
  changes: z
    .array(configurationChangeSchema.pick({ kind: true, what: true, name: true }))
    .describe('Changes from the configuration before it.'),
  undo: z.string().nullable().describe('Why it cannot become current again on request; null: it can.'),
});
export type EditionView = z.infer<typeof editionSchema>;

export const historySchema = z
  .object({
    current: z.int(),
    file: z.object({
      path: z.string(),
      differs: z.boolean().describe('Whether the file has changes that were not applied.'),
      problem: z.string().nullable().describe('Why the file cannot be used; null: it can.'),
      writable: z.boolean().describe('Whether pigeonpost can write the file.'),
    }),
    items: z.array(editionSchema).describe('Newest first.'),
    next: z.int().nullable().describe('Value of `before` for older ones; null: there are none.'),
  })
  .openapi('ConfigurationHistory');
export type ConfigurationHistory = z.infer<typeof historySchema>;

/** Returns the configurations that were current, newest first, and whether the file equals the running one. */
export async function configurationHistory(
  current: Current,
  { before, limit }: { readonly before: number | null; readonly limit: number },
  environment?: Environment,
): Promise<ConfigurationHistory> {
  const [rows, file] = await Promise.all([
    storedConfigurations(current.ledger, { number: null, before, limit: limit + 1 }), // one more, to compare with
    fileState(current, environment),
  ]);
  const shown = rows.slice(0, limit);
  return {
    current: current.configuration,
    file: { ...file, path: current.config.file, writable: await isReplaceable(current.config.file) },
    items: shown.map((row, at) => ({
      number: row.number,
      appliedAt: row.appliedAt.toISOString(),
      by: row.by,
      isCurrent: row.number === current.configuration,
      changes: rows[at + 1] === undefined ? [] : withoutKeys(row, rows[at + 1]!),
      undo: row.number === current.configuration ? 'it is the current configuration' : whyNotAgain(row),
    })),
    next: rows.length > limit ? shown.at(-1)!.number : null,
  };
}

function withoutKeys(now: StoredConfiguration, before: StoredConfiguration): EditionView['changes'] {
  return compareConfigurations(before.document, now.document).map(({ kind, what, name }) => ({ kind, what, name }));
}

async function fileState(
  current: Current,
  environment?: Environment,
): Promise<{ readonly differs: boolean; readonly problem: string | null }> {
  try {
    return { differs: await hasUnapplied(current, environment), problem: null };
  } catch (error) {
    if (error instanceof ConfigError) return { differs: true, problem: error.message };
    throw error;
  }
}

/** Whether the file of this process has changes that were not applied. @throws {ConfigError} if it cannot be used */
async function hasUnapplied(current: Current, environment?: Environment): Promise<boolean> {
  const { config, configuration, ledger } = current;
  const [own] = await storedConfigurations(ledger, { number: configuration, before: null, limit: 1 });
  const file = await reloadProcessConfig(config.file, environment);
  if (shownText(file) !== own?.text) return true;
  return (await isCurrentConfiguration(ledger, documentOf(file, ledger))) !== configuration;
}

/** Returns the reason, as a part of a sentence; null: it can become current again. */
function whyNotAgain({ text }: StoredConfiguration): string | null {
  if (text === null) return 'its file was not kept';
  return lacksSecrets(text) ? 'its file contained a secret, which is not kept' : null;
}

export const configurationTextSchema = z
  .object({
    number: z.int(),
    text: z
      .string()
      .nullable()
      .describe('The file. Secrets that are written in it are replaced by `[secret]`; null: it was not kept.'),
  })
  .openapi('ConfigurationText');

/** Returns the file of a configuration; undefined if there is none with this number. */
export async function configurationText(
  { ledger }: Pick<Current, 'ledger'>,
  number: number,
): Promise<z.infer<typeof configurationTextSchema> | undefined> {
  const [row] = await storedConfigurations(ledger, { number, before: null, limit: 1 });
  return row === undefined ? undefined : { number, text: row.text };
}

export const comparisonSchema = z
  .object({
    changes: z.array(
      configurationChangeSchema.pick({ kind: true, what: true, name: true }).extend({ keys: z.array(z.string()) }),
    ),
    lines: z
      .array(z.object({ kind: z.enum(['same', 'added', 'removed', 'skipped']), text: z.string() }))
      .nullable()
      .describe(
        'Lines of the two files that differ, with equal lines around them; null: one of the files was not kept.',
      ),
  })
  .openapi('ConfigurationComparison');
export type ConfigurationComparison = z.infer<typeof comparisonSchema>;

/**
 * Compares two configurations, or one with the present content of the file.
 * @param to null: the file
 * @returns undefined if one of them does not exist
 * @throws {ConfigError} if the file cannot be used
 */
export async function compareEditions(
  current: Current,
  { from, to }: { readonly from: number; readonly to: number | null },
  environment?: Environment,
): Promise<ConfigurationComparison | undefined> {
  const [before, now] = await Promise.all([
    storedConfigurations(current.ledger, { number: from, before: null, limit: 1 }).then(([row]) => row),
    to === null
      ? presentFile(current, environment)
      : storedConfigurations(current.ledger, { number: to, before: null, limit: 1 }).then(([row]) => row),
  ]);
  if (before === undefined || now === undefined) return undefined;
  return {
    changes: compareConfigurations(before.document, now.document).map(({ kind, what, name, keys }) => ({
      kind,
      what,
      name,
      keys: keys.map(({ key }) => key),
    })),
    lines: before.text === null || now.text === null ? null : diffLines(before.text, now.text),
  };
}

async function presentFile(
  { config, ledger }: Current,
  environment?: Environment,
): Promise<Pick<StoredConfiguration, 'document' | 'text'>> {
  const found = await reloadProcessConfig(config.file, environment);
  return { document: documentOf(found, ledger), text: shownText(found) };
}

/**
 * Writes the file of an earlier configuration into the file of this process, and makes it current as a new
 * configuration, so that the file stays the source of truth. If that fails before it is current, the file gets its
 * present text again.
 * @param apply makes the file the current configuration
 * @throws {LedgerError} kind `configuration` if that is not possible; {ConfigError} if one of the two files cannot be
 *   used. Then nothing has changed
 */
export async function restoreConfiguration(
  current: Current,
  number: number,
  given: { readonly apply: () => Promise<AppliedConfiguration>; readonly environment?: Environment },
): Promise<AppliedConfiguration> {
  return await replacingInTurn(() => restoreInTurn(current, number, given));
}

async function restoreInTurn(
  current: Current,
  number: number,
  { apply, environment }: Parameters<typeof restoreConfiguration>[2],
): Promise<AppliedConfiguration> {
  const { config, configuration, ledger } = current;
  const { file } = config;
  const refuse = (message: string): LedgerError => new LedgerError('configuration', message);
  const [wanted] = await storedConfigurations(current.ledger, { number, before: null, limit: 1 });
  const hindrance = wanted === undefined ? 'it does not exist' : whyNotAgain(wanted);
  if (hindrance !== null) throw refuse(`configuration ${number} cannot become current again: ${hindrance}`);
  const before = await readFile(file, 'utf8');
  if (await hasUnapplied(current, environment)) {
    throw refuse(`${file} has changes that were not applied, and would be lost: apply or remove them first`);
  }
  const text = wanted!.text!;
  if (text !== before) {
    const refused = await replaceFile(file, before, text);
    if (refused?.kind === 'changed') throw refuse(`${file} has changed just now: compare again`);
    if (refused !== null) {
      throw refuse(
        `${file} cannot be written by pigeonpost (${refused.code}): copy the text of configuration ${number} to the place where the file is kept, then run "pigeonpost config apply"`,
      );
    }
  }
  try {
    return await apply();
  } catch (error) {
    if (await isStillCurrent(ledger, configuration)) await replaceFile(file, text, before);
    throw error instanceof ConfigError
      ? refuse(`configuration ${number} cannot become current again: ${messageOf(error)}`)
      : error;
  }
}
