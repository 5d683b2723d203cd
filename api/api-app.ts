import type { Context } from 'hono';
import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Caller } from './authenticate.js';
import type { RefusedActions } from './audit-log.js';
import type { ImportDesk } from '../importing/desk/import-desk.js';
import type { Action, ActionResult, SinkTest } from '../operations/action.js';
import type { AppliedConfiguration, ConfigurationPlan, PlannedCandidate } from '../operations/configuration-plan.js';
import type { WorkflowStarter } from '../operations/orchestration.js';
import type { NamedPreview, PreviewRequest } from '../operations/preview-sink.js';
import type { EventRequest, EventView } from '../operations/provision-event.js';
import type { StatusSources } from '../operations/read-status.js';
import type { PigeonholeName } from '../cycles/cycle-results.js';
import type { EventChecks } from '../operations/ready/readiness.js';
import type { RepairRequest, startAudit, startRepair } from '../operations/audit-sink.js';
import type { ReplayRequest, ReplayResult } from '../operations/start-replay.js';
import type { AlertsView } from '../operations/alerts/alert-desk.js';
import type { TestedAlerts } from './alerts.js';
import type { PartHealth } from './health.js';
import type { ProcessMeters } from './metrics/serve-metrics.js';
import type { PageFiles } from './serve-page.js';
import type { PageCodes } from './page-codes.js';

/** Variables that every request carries through its routes. */
export interface ApiEnvironment {
  Variables: {
    /** The value of `X-Request-Id`. */
    requestId: string;
    caller: Caller;
    /** Describes a valid request to this route, for the error message of an invalid one. */
    looksLike: string | undefined;
    /** Number of this request's row in the audit log; undefined while it has none. */
    audited: number | undefined;
    /** Limits the audit lines of requests that change nothing. */
    refusedActions: RefusedActions;
  };
}

export type ApiApp = OpenAPIHono<ApiEnvironment>;
export type ApiContext = Context<ApiEnvironment>;

/** Everything that routes need from the process that serves them. A route names the parts that it uses. */
export interface ApiSources extends StatusSources {
  /** Version of pigeonpost. */
  readonly version: string;
  /**
   * Returns the administrator's token that this installation created. Null if it could not be stored, which only
   * `server.token` permits.
   */
  readonly localToken: () => string | null;
  /** Checks each part separately. Never throws; takes a few seconds at most. */
  readonly health: () => Promise<readonly PartHealth[]>;
  readonly meters: ProcessMeters;
  /** Returns the metrics of the Temporal SDK in the same format; empty if it has none. */
  readonly temporalMetrics: () => Promise<string>;
  readonly page: PageFiles;
  readonly pageCodes: PageCodes;
  /** Milliseconds between two reads of the ledger for a live stream; 1000 by default. */
  readonly liveEveryMs?: number;
  readonly starter: Pick<WorkflowStarter, 'start' | 'wakeReaders' | 'wakeSinks'>;
  /** Writes an operator's request to the ledger, then wakes the workflow. */
  readonly act: (action: Action) => Promise<ActionResult>;
  readonly replay: (request: ReplayRequest) => Promise<ReplayResult>;
  /** Whether the destination of a sink can be read, so that it can be audited. */
  readonly canAudit: (sink: string) => boolean;
  readonly audit: (request: {
    readonly sink: string;
    readonly pigeonhole: string | null;
  }) => ReturnType<typeof startAudit>;
  readonly repair: (sink: string, request: RepairRequest) => ReturnType<typeof startRepair>;
  /** @throws {ConfigError | ClientOptionsError} for a configuration that cannot be used */
  readonly planConfiguration: (candidate: PlannedCandidate) => Promise<ConfigurationPlan>;
  /** @param by name of the caller, for the history */
  readonly applyConfiguration: (by: string) => Promise<AppliedConfiguration>;
  /** Returns everything that a sink would receive. Throws as `planConfiguration`. */
  readonly preview: (request: PreviewRequest) => Promise<NamedPreview | { readonly unknown: string }>;
  /** Compares an event file with the service; changes nothing. Throws ConfigError for an invalid file. */
  readonly lookAtEvent: (request: EventRequest) => Promise<EventView>;
  /** Creates as many objects of the event as it can in a few seconds. Throws as `lookAtEvent`. */
  readonly applyEvent: (request: EventRequest) => Promise<EventView>;
  /**
   * Checks the service, the sinks, the people and the quota of a known pigeonhole. It sends requests, so its answer is
   * reused for some seconds.
   */
  readonly checkReady: (pigeonhole: PigeonholeName) => Promise<EventChecks>;
  /** Sends one test message through a sink. `unknown`: no such sink. */
  readonly testSink: (name: string) => Promise<SinkTest | { readonly refused: string } | 'unknown'>;
  readonly imports: ImportDesk;
  readonly alerts: {
    view(): Promise<AlertsView>;
    /** Returns the name of each configured receiver by its key in the ledger. */
    receiverNames(): Promise<ReadonlyMap<string, string>>;
    /** Sends every receiver a message that says that it is a test. */
    test(): Promise<TestedAlerts['receivers']>;
  };
  /** Returns a copy of the embedded store, packed while it is read. Null: the store is a database with its own tools. */
  readonly backup: (() => Promise<AsyncIterable<Uint8Array>>) | null;
}

/** The sources that are needed to identify the caller of a request. */
export type AccessSources = Pick<ApiSources, 'config' | 'ledger' | 'localToken'>;

/** Everything a process needs to answer probes without serving the API. */
export type ProbeSources = StatusSources &
  Pick<ApiSources, 'version' | 'localToken' | 'health' | 'meters' | 'temporalMetrics'>;
