import { chooseSubscription } from '../importing/provisioning/plan-event.js';
import { findDropPlaces, findDroppedFiles } from '../importing/drop-folders/folder-files.js';
import type { Config } from '../config/config.js';
import { ApiError } from '../pigeonhole/api-error.js';
import type { PigeonholeClient } from '../pigeonhole/client.js';
import type { Subscription } from '../pigeonhole/wire-types.js';
import { checkBackends, type CheckSurroundings } from './check-start.js';
import { type CheckOf, type CheckResult, type CheckRun, checkOf } from '../operations/checks.js';
import { failureKindOf } from './failure-kind.js';
import { createWorkspaceClient } from '../requests/clients.js';
import { createSink } from '../delivering/open-sinks.js';
import { listEvents, type ListedEvents, selectEvents, describeSelection } from '../operations/list-events.js';
import { messageOf } from '../base/errors.js';
import { resolve } from 'node:path';
import { ConfigError } from '../config/config-error.js';
import { type Environment, processEnvironment } from '../config/environment.js';
import { loadCandidateConfig } from '../operations/load-process-config.js';

export interface CheckContext {
  readonly config: Config;
  readonly surroundings: CheckSurroundings;
  readonly signal: AbortSignal;
}

/** The checks of what a configuration names. They need no running pigeonpost, and change nothing. */
export const standaloneChecks = {
  async *workspace({ config, signal }) {
    for (const name of Object.keys(config.workspaces)) yield* checkWorkspace(config, name, signal);
  },
  async *sink({ config, signal }) {
    for (const name of Object.keys(config.sinks)) yield* await checkSink(config, name, signal);
  },
  imports: ({ config }) => checkDropFolders(config),
  backends: ({ config, surroundings }) => checkBackends(config, surroundings),
} satisfies Readonly<Record<CheckOf<'doctor'>, CheckRun<CheckContext>>>;

/** Checks the API key, then lists the pigeonholes that each sync of the workspace selects. */
async function* checkWorkspace(
  config: Config,
  name: string,
  signal: AbortSignal,
): AsyncGenerator<CheckResult, void, undefined> {
  const about = checkOf(`workspace:${name}`, `workspace ${name}`);
  const { baseUrl } = config.workspaces[name]!;
  let client: PigeonholeClient | undefined;
  try {
    client = createWorkspaceClient(config, name);
    const listed = await listEvents(client, signal);
    yield await checkSubscription(config, name, { about, client, listed, signal });
    for (const selection of selectEvents(config, name, listed)) {
      const isWrong = selection.missing.length > 0 && !listed.hasMore;
      const ofSync = checkOf(`workspace:${name}:${selection.sync}`, `sync ${selection.sync}`);
      yield (isWrong ? ofSync.failed : ofSync.ok)(describeSelection(selection, listed));
    }
  } catch (error) {
    if (failureKindOf(error) === 'configuration') return yield about.failed(messageOf(error));
    if (!(error instanceof ApiError)) throw error;
    const unreachable = error.kind === 'transient' || error.kind === 'throttled';
    yield (unreachable ? about.unknown : about.failed)(`${baseUrl}: ${error.message}`);
  } finally {
    await client?.close();
  }
}

async function checkSubscription(
  config: Config,
  name: string,
  {
    about,
    client,
    listed,
    signal,
  }: {
    readonly about: ReturnType<typeof checkOf>;
    readonly client: PigeonholeClient;
    readonly listed: ListedEvents;
    readonly signal: AbortSignal;
  },
): Promise<CheckResult> {
  const { baseUrl, subscriptionId } = config.workspaces[name]!;
  const some = listed.events.length > 0 ? '' : ', which has no pigeonholes yet';
  const chosen = chooseSubscription(subscriptionId ?? null, await subscriptionsOf(client, signal));
  if (!('problem' in chosen)) return about.ok(`${baseUrl} accepts the key${some}`);
  // Only creating pigeonholes needs a subscription, and an event file may name it.
  return subscriptionId === undefined
    ? about.ok(`${baseUrl} accepts the key${some}; for "pigeonpost apply": ${chosen.problem}`)
    : about.failed(`subscriptionId ${subscriptionId}: ${chosen.problem}`);
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
async function checkDropFolders(config: Config): Promise<CheckResult[]> {
  const aboutFolder = (path: string) => checkOf(`imports:${path}`, `imports ${path}`);
  const results = new Map<string, CheckResult>();
  for (const { folder } of config.imports) {
    const path = resolve(config.folder, folder);
    results.set(path, aboutFolder(path).ok('the folder can be read'));
  }
  const refuse = (path: string, code: string): void => {
    const text =
      code === 'ENOENT'
        ? 'the folder does not exist: create it, or mount its volume'
        : `the folder cannot be read (${code}): check its path and permissions`;
    results.set(path, aboutFolder(path).failed(text));
  };
  for (const place of await findDropPlaces(config, refuse)) await findDroppedFiles(place, refuse);
  return [...results.values()];
}

/** Returns each line of the sink's own check as a result. */
async function checkSink(config: Config, name: string, signal: AbortSignal): Promise<CheckResult[]> {
  const about = checkOf(`sink:${name}`, `sink ${name}`);
  const sink = createSink(config, name);
  try {
    const lines = await sink.check(signal);
    return lines.map(({ ok, warning, text }) =>
      (warning === true ? about.warning : ok ? about.ok : about.failed)(text),
    );
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
  const problems = checked.filter(({ state }) => state === 'failed').map(({ says }) => says);
  return problems.length === 0 ? null : problems.join('; ');
}

const draftTimeoutMs = 30_000;
