import { chooseSubscription } from '../importing/provisioning/plan-event.js';
import { findDropPlaces, findDroppedFiles } from '../importing/drop-folders/folder-files.js';
import type { Config } from '../config/config.js';
import { ApiError } from '../pigeonhole/api-error.js';
import type { PigeonholeClient } from '../pigeonhole/client.js';
import type { Subscription } from '../pigeonhole/wire-types.js';
import { checkBackends, type Checked, type CheckSurroundings } from './check-start.js';
import { failureKindOf } from './failure-kind.js';
import { createWorkspaceClient, createSink } from '../work/open-connections.js';
import { listEvents, type ListedEvents, selectEvents, describeSelection } from '../operations/list-events.js';
import { messageOf } from '../base/errors.js';
import { resolve } from 'node:path';
import { ConfigError } from '../config/config-error.js';
import { type Environment, processEnvironment } from '../config/environment.js';
import { loadCandidateConfig } from '../operations/load-process-config.js';

/**
 * Checks everything that a configuration names, and changes none of it: each API key, each sink, each drop
 * folder, the store and Temporal. Yields one line for each, whatever fails.
 */
export async function* check(
  config: Config,
  surroundings: CheckSurroundings,
  signal: AbortSignal,
): AsyncGenerator<Checked, void, undefined> {
  for (const name of Object.keys(config.workspaces)) yield* checkWorkspace(config, name, signal);
  for (const name of Object.keys(config.sinks)) yield* await checkSink(config, name, signal);
  yield* await checkDropFolders(config);
  yield* await checkBackends(config, surroundings);
}

/** Checks the API key, then lists the pigeonholes that each sync of the workspace selects. */
async function* checkWorkspace(
  config: Config,
  name: string,
  signal: AbortSignal,
): AsyncGenerator<Checked, void, undefined> {
  const what = `workspace ${name}`;
  const { baseUrl } = config.workspaces[name]!;
  let client: PigeonholeClient | undefined;
  try {
    client = createWorkspaceClient(config, name);
    const listed = await listEvents(client, signal);
    yield { what, ...(await checkSubscription(config, name, { client, listed, signal })) };
    for (const selection of selectEvents(config, name, listed)) {
      const isWrong = selection.missing.length > 0 && !listed.hasMore;
      const text = describeSelection(selection, listed);
      yield { what: `sync ${selection.sync}`, result: isWrong ? 'refused' : 'ok', text };
    }
  } catch (error) {
    if (failureKindOf(error) === 'configuration') return yield { what, result: 'refused', text: messageOf(error) };
    if (!(error instanceof ApiError)) throw error;
    const unreachable = error.kind === 'transient' || error.kind === 'throttled';
    yield { what, result: unreachable ? 'unreachable' : 'refused', text: `${baseUrl}: ${error.message}` };
  } finally {
    await client?.close();
  }
}

async function checkSubscription(
  config: Config,
  name: string,
  {
    client,
    listed,
    signal,
  }: { readonly client: PigeonholeClient; readonly listed: ListedEvents; readonly signal: AbortSignal },
): Promise<Pick<Checked, 'result' | 'text'>> {
  const { baseUrl, subscriptionId } = config.workspaces[name]!;
  const some = listed.events.length > 0 ? '' : ', which has no pigeonholes yet';
  const chosen = chooseSubscription(subscriptionId ?? null, await subscriptionsOf(client, signal));
  if (!('problem' in chosen)) return { result: 'ok', text: `${baseUrl} accepts the key${some}` };
  // Only creating pigeonholes needs a subscription, and an event file may name it.
  return subscriptionId === undefined
    ? { result: 'ok', text: `${baseUrl} accepts the key${some}; for "pigeonpost apply": ${chosen.problem}` }
    : { result: 'refused', text: `subscriptionId ${subscriptionId}: ${chosen.problem}` };
}

/** Returns the workspace's subscriptions; none if the service does not support them, as in a Personal workspace. */
async function subscriptionsOf(client: PigeonholeClient, signal: AbortSignal): Promise<Subscription[]> {
  try {
    const { items } = await client.page({ list: 'subscriptions' }, { signal });
    return items.filter(isSubscription);
  } catch (error) {
    if (error instanceof ApiError && ['notFound', 'unsupported'].includes(error.kind)) return [];
    throw error;
  }
}

function isSubscription(item: object): item is Subscription {
  return 'id' in item && typeof item.id === 'number';
}

/** Checks that each folder of `imports` can be read. A missing one is not created: it may be a volume. */
async function checkDropFolders(config: Config): Promise<Checked[]> {
  const results = new Map<string, Checked>();
  for (const { folder } of config.imports) {
    const path = resolve(config.folder, folder);
    results.set(path, { what: `imports ${path}`, result: 'ok', text: 'the folder can be read' });
  }
  const refuse = (path: string, code: string): void => {
    const text =
      code === 'ENOENT'
        ? 'the folder does not exist: create it, or mount its volume'
        : `the folder cannot be read (${code}): check its path and permissions`;
    results.set(path, { what: `imports ${path}`, result: 'refused', text });
  };
  for (const place of await findDropPlaces(config, refuse)) await findDroppedFiles(place, refuse);
  return [...results.values()];
}

async function checkSink(config: Config, name: string, signal: AbortSignal): Promise<Checked[]> {
  const sink = createSink(config, name);
  try {
    const lines = await sink.check(signal);
    return lines.map(({ ok, warning, text }) => ({
      what: `sink ${name}`,
      result: warning === true ? 'warning' : ok ? 'ok' : 'refused',
      text,
    }));
  } finally {
    await sink.close();
  }
}

interface CheckedDraft {
  /** Problems as sentences. If there are none, the configuration can be used once its variables are set. */
  readonly problems: readonly string[];
  /** Variables that the configuration names and that are not set. */
  readonly unset: readonly string[];
}

/**
 * Checks a configuration before it is written to its file. Touches no file.
 * @param standIns a value of the right form for each variable that the configuration names, because it may not be set
 *   yet
 */
export async function checkDraft(
  text: string,
  file: string,
  standIns: Readonly<Record<string, string>>,
  environment: Environment = processEnvironment(),
): Promise<CheckedDraft> {
  const unset = Object.keys(standIns).filter((name) => (environment[name] ?? '') === '');
  const filled = { ...environment, ...Object.fromEntries(unset.map((name) => [name, standIns[name]])) };
  try {
    await loadCandidateConfig(text, { shownFile: file, absoluteFile: resolve(file) }, filled);
    return { problems: [], unset };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { problems: error.problems.map(({ key, message }) => `${key}: ${message}`), unset };
  }
}

/**
 * Checks one sink of a valid configuration that is not written to its file yet.
 * @param standIns values for variables that the sink does not use
 * @returns the problems as a sentence; null if there is none
 */
export async function checkSinkOfDraft(
  text: string,
  file: string,
  name: string,
  standIns: Readonly<Record<string, string>> = {},
): Promise<string | null> {
  const files = { shownFile: file, absoluteFile: resolve(file) };
  const config = await loadCandidateConfig(text, files, { ...processEnvironment(), ...standIns });
  const checked = await checkSink(config, name, AbortSignal.timeout(draftTimeoutMs));
  const problems = checked.filter(({ result }) => result === 'refused').map((each) => each.text);
  return problems.length === 0 ? null : problems.join('; ');
}

const draftTimeoutMs = 30_000;
