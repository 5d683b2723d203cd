import type { AlertsView } from '../operations/alerts/alert-desk.js';
import type { TestedAlerts } from '../api/alerts.js';
import type { DeadLetterChoice, DeadLetterGroupView, DeadLetterView } from '../api/dead-letters.js';
import type { Decision, HeldDeletions } from '../api/deletions.js';
import type { Action } from '../operations/action.js';
import type { Done } from '../api/actions.js';
import type { ItemView } from '../api/items.js';
import type { AppliedConfiguration, Candidate, ConfigurationPlan } from '../operations/configuration-plan.js';
import type { Preview, PreviewRequest } from '../operations/preview-sink.js';
import type { EventRequest, EventView } from '../operations/provision-event.js';
import type { FieldsQuery, SeenFields } from '../api/fields.js';
import type { Readiness } from '../operations/ready/readiness.js';
import type { SinkTest } from '../operations/test-sink.js';
import type { ReplayRequest, ReplayResult } from '../operations/start-replay.js';
import type { AuditEntryView } from '../api/audit-log.js';
import type { MadeTokenView, NewTokenRequest, TokenView } from '../api/tokens.js';
import type { Overview } from '../api/syncs.js';
import type { ErasureListView } from '../operations/erasure-list-schema.js';
import type { ErasurePlanView, ErasureRequestBody, ErasureView, WholeErasureView } from '../api/erasures.js';
import type { PersonView } from '../api/persons.js';
import type { Status } from '../operations/status-view.js';
import type { Why } from '../api/why.js';
import type { PageCodeView } from '../api/page-links.js';
import { CommandError, ExitCode } from './exit-code.js';
import { type ApiAddress, findInstance, type InstanceConfig, nobodyAnswers, checkGiven } from './find-instance.js';
import type { ClientConfig } from '../operations/command-config.js';
import type { Context } from './command.js';

/** The HTTP API of a running pigeonpost, as commands use it. */
export interface ApiClient {
  /** @param options.items with the number of items by list; options.counts by list and sink */
  status(options: { readonly counts: boolean; readonly items?: boolean }): Promise<Status>;
  overview(): Promise<Overview>;
  ready(pigeonhole: { readonly id: string; readonly workspace?: string }): Promise<Readiness>;
  act(action: Action): Promise<Done>;
  testSink(name: string): Promise<SinkTest>;
  deletions(): Promise<{ held: HeldDeletions[] }>;
  heldDeletions(id: number): Promise<HeldDeletions>;
  decideDeletions(id: number, decision: Decision): Promise<{ items: number }>;
  deadLetters(choice: DeadLetterChoice): Promise<{ groups: DeadLetterGroupView[] }>;
  deadLetterItems(choice: DeadLetterChoice): Promise<{ items: DeadLetterView[]; more: boolean }>;
  redriveDeadLetters(choice: DeadLetterChoice): Promise<{ changes: number }>;
  /** @param personal includes personal data, which is audited */
  preview(asked: PreviewRequest, wish: { readonly personal: boolean }): Promise<Preview>;
  why(asked: { list: string; key: string; pigeonhole?: string }): Promise<Why[]>;
  items(asked: ItemsQuery): Promise<{ items: ItemView[]; next: string | null }>;
  /** Server-sent events as they arrive, until the server closes the connection. */
  liveChanges(query: Readonly<Record<string, string>>): Promise<AsyncIterable<string>>;
  fields(query: FieldsQuery): Promise<{ list: string; pigeonholes: SeenFields[] }>;
  replay(wanted: ReplayRequest): Promise<Extract<ReplayResult, { id: string }>>;
  planConfiguration(candidate: Candidate): Promise<ConfigurationPlan>;
  applyConfiguration(asked: { readonly file?: string }): Promise<AppliedConfiguration>;
  lookAtEvent(asked: EventRequest): Promise<EventView>;
  /** Runs one cycle; repeat it until nothing is left. */
  applyEvent(asked: EventRequest): Promise<EventView>;
  alerts(): Promise<AlertsView>;
  testAlerts(): Promise<TestedAlerts>;
  planErasure(attendee: string): Promise<ErasurePlanView>;
  forget(asked: ErasureRequestBody): Promise<WholeErasureView>;
  erasures(part: PartAsked): Promise<Part<ErasureView>>;
  erasure(id: string): Promise<WholeErasureView>;
  forgotten(): Promise<ErasureListView>;
  liftErasure(id: string): Promise<void>;
  exportPerson(attendee: string): Promise<PersonView>;
  tokens(): Promise<{ tokens: TokenView[] }>;
  createToken(wanted: NewTokenRequest): Promise<MadeTokenView>;
  revokeToken(name: string): Promise<void>;
  audit(asked: AuditQuery): Promise<Part<AuditEntryView>>;
  createPageCode(): Promise<PageCodeView>;
}

export interface AuditQuery extends PartAsked {
  readonly who?: string | undefined;
  readonly action?: string | undefined;
  readonly target?: string | undefined;
}

export interface ItemsQuery {
  readonly workspace: string;
  readonly id: string;
  readonly list: string;
  readonly limit: number;
  readonly session?: string | undefined;
  /** `next` of the previous page. */
  readonly after?: string | undefined;
  readonly personal: boolean;
}

/** Finds the address at the first call, and returns the same one afterwards. */
export type FindAddress = () => Promise<ApiAddress>;

/** Returns the address of the process that `start` runs for this configuration, once it has proven its identity. */
export function addressOf(config: InstanceConfig): FindAddress {
  let found: Promise<ApiAddress> | undefined;
  return () => (found ??= findInstance(config));
}

/** Creates a client of the API that `start` serves for this configuration. */
export function apiClientFor(config: InstanceConfig): ApiClient {
  return apiClient(addressOf(config));
}

/** `start` responds with 503 until it serves, so that status counts as unreachable. */
function exitCodeFor(status: number): ExitCode {
  if (status === 404) return ExitCode.NotFound;
  if (status === 422) return ExitCode.WrongUse; // an unusable file
  return status === 503 ? ExitCode.Unreachable : ExitCode.Failed;
}

/** Returns the error that ends a command after an unsuccessful response. @param body JSON; RFC 9457 */
export function refusalOf(status: number, body: unknown): CommandError {
  const detail = typeof body === 'object' && body !== null && 'detail' in body ? String(body.detail) : `HTTP ${status}`;
  return new CommandError(exitCodeFor(status), detail);
}

/** Timeout of requests that read whole lists of the ledger. */
const countingMs = 5 * 60_000;

export function apiClient(address: FindAddress): ApiClient {
  const ask = async (path: string, init: RequestInit = {}, timeoutMs = 30_000): Promise<unknown> => {
    const { url, token } = await address();
    const answer = await fetch(`${url}${path}`, {
      ...init,
      headers: headersWith(token),
      signal: AbortSignal.timeout(timeoutMs),
    }).catch((error: unknown) => {
      throw nobodyAnswers(url, error);
    });
    const body: unknown = await answer.json().catch(() => undefined);
    if (answer.ok) return body;
    throw refusalOf(answer.status, body);
  };
  const post = async (path: string, body: unknown, timeoutMs?: number): Promise<unknown> =>
    await ask(path, { method: 'POST', body: JSON.stringify(body) }, timeoutMs);
  return {
    status: async ({ counts, items = false }) =>
      (await ask(`/api/status${counts ? '?counts' : items ? '?counts=items' : ''}`)) as Status,
    overview: async () => (await ask('/api/overview')) as Overview,
    ready: async ({ id, workspace }) => {
      const query = workspace === undefined ? '' : `?workspace=${encodeURIComponent(workspace)}`;
      return (await ask(`/api/pigeonholes/${id}/ready${query}`, {}, countingMs)) as Readiness;
    },
    act: async (action) => (await post('/api/actions', action)) as Done,
    testSink: async (name) => (await post(`/api/sinks/${encodeURIComponent(name)}/test`, {}, 60_000)) as SinkTest,
    deletions: async () => (await ask('/api/deletions')) as { held: HeldDeletions[] },
    heldDeletions: async (id) => (await ask(`/api/deletions/${id}`)) as HeldDeletions,
    decideDeletions: async (id, decision) =>
      (await ask(`/api/deletions/${id}`, { method: 'POST', body: JSON.stringify(decision) })) as { items: number },
    deadLetters: async (choice) =>
      (await ask(`/api/dead-letters?${new URLSearchParams(choice).toString()}`)) as { groups: DeadLetterGroupView[] },
    deadLetterItems: async (choice) =>
      (await ask(`/api/dead-letters/items?${new URLSearchParams(choice).toString()}`)) as {
        items: DeadLetterView[];
        more: boolean;
      },
    redriveDeadLetters: async (choice) => (await post('/api/dead-letters/redrive', choice)) as { changes: number },
    preview: async (asked, { personal }) =>
      (await post(`/api/preview${personal ? '?personal=1' : ''}`, asked, countingMs)) as Preview,
    why: async (asked) => ((await ask(`/api/why?${new URLSearchParams(asked).toString()}`)) as { items: Why[] }).items,
    items: async ({ workspace, id, list, limit, session, after, personal }) => {
      const query = new URLSearchParams({
        limit: String(limit),
        ...(session === undefined ? {} : { session }),
        ...(after === undefined ? {} : { after }),
        ...(personal ? { personal: '1' } : {}),
      });
      const answer = await ask(`/api/items/${workspace}/${id}/${list}?${query.toString()}`);
      return answer as { items: ItemView[]; next: string | null };
    },
    liveChanges: async (query) => {
      const asked = new URLSearchParams(query).toString();
      const { url, token } = await address();
      const answer = await fetch(`${url}/api/changes/live?${asked}`, { headers: headersWith(token) }).catch(
        (error: unknown) => {
          throw nobodyAnswers(url, error);
        },
      );
      if (!answer.ok) throw refusalOf(answer.status, await answer.json().catch(() => undefined));
      return answer.body!.pipeThrough(new TextDecoderStream());
    },
    fields: async ({ list, pigeonhole }) => {
      const query = new URLSearchParams({ list, ...(pigeonhole === undefined ? {} : { pigeonhole }) });
      const answer = await ask(`/api/fields?${query.toString()}`, {}, countingMs);
      return answer as { list: string; pigeonholes: SeenFields[] };
    },
    replay: async (wanted) => (await post('/api/replays', wanted, countingMs)) as Extract<ReplayResult, { id: string }>,
    planConfiguration: async (candidate) =>
      (await post('/api/configuration/plan', candidate, countingMs)) as ConfigurationPlan,
    applyConfiguration: async (asked) =>
      (await post('/api/configuration/apply', asked, countingMs)) as AppliedConfiguration,
    lookAtEvent: async (asked) => (await post('/api/events/plan', asked, countingMs)) as EventView,
    applyEvent: async (asked) => (await post('/api/events/apply', asked, countingMs)) as EventView,
    alerts: async () => (await ask('/api/alerts')) as AlertsView,
    testAlerts: async () => (await post('/api/alerts/test', {})) as TestedAlerts,
    planErasure: async (attendee) => (await post('/api/erasures/plan', { attendee }, countingMs)) as ErasurePlanView,
    forget: async (asked) => (await post('/api/erasures', asked, countingMs)) as WholeErasureView,
    erasures: async (part) => (await ask(`/api/erasures?${partQuery(part)}`)) as Part<ErasureView>,
    forgotten: async () => (await ask('/api/forgotten')) as ErasureListView,
    erasure: async (id) => (await ask(`/api/erasures/${encodeURIComponent(id)}`)) as WholeErasureView,
    liftErasure: async (id) => {
      await post(`/api/erasures/${encodeURIComponent(id)}/lift`, {});
    },
    exportPerson: async (attendee) => (await post('/api/persons/export', { attendee }, countingMs)) as PersonView,
    tokens: async () => (await ask('/api/tokens')) as { tokens: TokenView[] },
    createToken: async (wanted) => (await post('/api/tokens', wanted)) as MadeTokenView,
    revokeToken: async (name) => {
      await post(`/api/tokens/${encodeURIComponent(name)}/revoke`, {});
    },
    createPageCode: async () => (await post('/api/page-codes', {})) as PageCodeView,
    audit: async (asked) => {
      const given = Object.entries(asked).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, String(value)]],
      );
      const query = new URLSearchParams(given as [string, string][]);
      return (await ask(`/api/audit?${query.toString()}`)) as Part<AuditEntryView>;
    },
  };
}

function headersWith(token: string | undefined): Record<string, string> {
  const json = { 'content-type': 'application/json' };
  return token === undefined ? json : { ...json, authorization: `Bearer ${token}` };
}

/** The running pigeonpost that a command contacts. */
export interface Instance {
  /** Configuration at `--config`; undefined with `--url`, where there may be no file. */
  readonly config: ClientConfig | undefined;
  readonly address: FindAddress;
  readonly client: ApiClient;
  /** Names in the configuration; empty if it is unknown. */
  readonly workspaces: readonly string[];
}

/**
 * Returns the instance of the file at `--config`, or the one at `--url`. Sends nothing.
 * @throws {ConfigError} for an invalid file; {CommandError} for an invalid address
 */
export async function instanceOf(context: Context): Promise<Instance> {
  const { loadCommandConfig } = await import('../operations/command-config.js');
  const given = await givenAddress(context);
  if (given !== undefined) {
    let found: ReturnType<FindAddress> | undefined;
    const address: FindAddress = () => (found ??= checkGiven(given));
    return { config: undefined, address, client: apiClient(address), workspaces: [] };
  }
  const config = await loadCommandConfig(context.config);
  const address = addressOf(config);
  return { config, address, client: apiClient(address), workspaces: config.workspaces };
}

/** Returns the client of `instanceOf`. */
export async function clientOf(context: Context): Promise<ApiClient> {
  return (await instanceOf(context)).client;
}

/** Returns `--url` with the token of PIGEONPOST_TOKEN or `--token`, which other accounts of the machine can read. */
async function givenAddress({ url, token: given }: Context): Promise<{ url: string; token: string } | undefined> {
  const { tokenOfEnvironment } = await import('../operations/command-config.js');
  if (url === undefined) return undefined;
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol) || parsed.username !== '') {
    throw new CommandError(ExitCode.WrongUse, '--url is not an address: give one such as http://127.0.0.1:8088');
  }
  const token = given ?? tokenOfEnvironment();
  if (token === '') {
    throw new CommandError(
      ExitCode.WrongUse,
      '--url needs a token of the pigeonpost at this address: set PIGEONPOST_TOKEN, or add --token TOKEN',
    );
  }
  return { url: url.replace(/\/+$/, ''), token };
}

/** A page of a long list of the API. */
export interface Part<Item> {
  readonly items: readonly Item[];
  readonly next: string | null;
}

/** Request for one page. */
export interface PartAsked {
  readonly limit: number;
  /** `next` of the previous page. */
  readonly after?: string | undefined;
}

export function partQuery({ limit, after }: PartAsked): string {
  return new URLSearchParams({ limit: String(limit), ...(after === undefined ? {} : { after }) }).toString();
}

/** Maximum page size of the API. */
const maxPageSize = 500;

/** Reads the first `limit` items of a list, page by page, and returns whether there are more. */
export async function firstOfList<Item>(
  limit: number,
  ask: (part: PartAsked) => Promise<Part<Item>>,
): Promise<{ readonly items: readonly Item[]; readonly more: boolean }> {
  const items: Item[] = [];
  let after: string | null | undefined;
  while (items.length < limit && after !== null) {
    // oxlint-disable-next-line no-await-in-loop -- each page names the next
    const part: Part<Item> = await ask({ limit: Math.min(limit - items.length, maxPageSize), after });
    items.push(...part.items);
    after = part.next;
  }
  return { items, more: after !== null };
}

/** Printed if the list has more items than were requested. */
export const thereIsMore = 'there are more: raise --limit to show them';
