import { counted } from '../base/words.js';
import { choose, type DiscoveredPigeonhole, toPigeonhole } from '../reading/discover.js';
import { syncsOf } from '../config/syncs.js';
import type { Config } from '../config/config.js';
import { ApiError } from '../pigeonhole/api-error.js';
import type { PigeonholeClient } from '../pigeonhole/client.js';
import { loadCandidateConfig } from './load-process-config.js';
import { createWorkspaceClient } from '../requests/clients.js';

export interface ListedEvents {
  readonly events: readonly DiscoveredPigeonhole[];
  /** Whether the workspace has more events. They were not requested, because a check must not use up the quota. */
  readonly hasMore: boolean;
}

const maxPages = 20;
const timeoutMs = 30_000;

/** Returns the events that the key of a workspace can see. @throws {ApiError} */
export async function listEvents(client: PigeonholeClient, signal: AbortSignal): Promise<ListedEvents> {
  const events = new Map<number, DiscoveredPigeonhole>();
  let pages = 0;
  for await (const page of client.pages({ list: 'pigeonholes' }, { signal })) {
    for (const item of page.items) {
      const event = toPigeonhole(item);
      events.set(event.id, event);
    }
    pages += 1;
    if (pages === maxPages) return { events: [...events.values()], hasMore: true };
  }
  return { events: [...events.values()], hasMore: false };
}

/**
 * Returns the events of the only workspace in a configuration that `init` has not written to a file yet.
 * @returns a sentence if the service refuses the key or cannot be reached
 */
export async function eventsOfDraft(text: string, absoluteFile: string): Promise<ListedEvents | { problem: string }> {
  const config = await loadCandidateConfig(text, { shownFile: absoluteFile, absoluteFile });
  const [workspace] = Object.keys(config.workspaces);
  const client = createWorkspaceClient(config, workspace!);
  try {
    return await listEvents(client, AbortSignal.timeout(timeoutMs));
  } catch (error) {
    if (error instanceof ApiError) return { problem: error.message };
    throw error;
  } finally {
    await client.close();
  }
}

/**
 * Requests the events of a draft with an invented key, which a service that answers refuses.
 * @param environment contains the invented key
 * @returns a sentence if no such service answers at the address of the draft
 */
export async function findService(
  text: string,
  absoluteFile: string,
  environment: Readonly<Record<string, string>>,
): Promise<string | null> {
  const config = await loadCandidateConfig(text, { shownFile: absoluteFile, absoluteFile }, environment);
  const [workspace] = Object.keys(config.workspaces);
  const client = createWorkspaceClient(config, workspace!);
  try {
    await client.page({ list: 'pigeonholes' }, { signal: AbortSignal.timeout(timeoutMs) });
    return null;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return ['transient', 'protocol', 'notFound'].includes(error.kind) ? error.message : null;
  } finally {
    await client.close();
  }
}

export interface SelectedEvents {
  readonly sync: string;
  readonly selected: readonly DiscoveredPigeonhole[];
  /** Ids that the sync names and that the service does not list. */
  readonly missing: readonly number[];
}

/** Returns the listed events that each sync of a workspace selects. Pure. */
export function selectEvents(config: Config, workspace: string, { events }: ListedEvents): SelectedEvents[] {
  return syncsOf(config, workspace).map((sync) => {
    const ids = new Set(choose(config.syncs[sync]!.pigeonholes, events));
    const selected = events.filter(({ id }) => ids.has(id));
    const listed = new Set(selected.map(({ id }) => id));
    return { sync, selected, missing: [...ids].filter((id) => !listed.has(id)) };
  });
}

const maxNamed = 5;

/** Describes in a sentence which pigeonholes a sync selects. Pure. */
export function describeSelection({ selected, missing }: SelectedEvents, { events, hasMore }: ListedEvents): string {
  const named = selected.slice(0, maxNamed).map(({ id, name, status }) => `${name} (${id}, ${status ?? 'no status'})`);
  const more = selected.length > maxNamed ? `, and ${selected.length - maxNamed} more` : '';
  const of = `${hasMore ? 'the first ' : ''}${counted(events.length, 'event')}`;
  const chosen =
    selected.length === 0 ? `selects none of ${of}` : `selects ${selected.length} of ${of}: ${named.join(', ')}${more}`;
  const unknown = missing.length === 0 || hasMore ? '' : `; the service does not list ${missing.join(', ')}`;
  return `${chosen}${unknown}`;
}
