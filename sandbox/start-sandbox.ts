import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Controlled } from './control/control-routes.js';
import { isControlPath, serveControl } from './control/serve-control.js';
import { refusePages } from './serve/refuse-pages.js';
import { Faults, type FaultRule } from './service/faults.js';
import { knobsSchema, type CursorKind, type Knobs, type Order } from './service/knobs.js';
import { PageCache, type ServiceState } from './service/service.js';
import { Quota } from './service/quota.js';
import { RequestLog, serveRequest } from './service/serve-request.js';
import { Conference } from './world/conference.js';
import { Traffic } from './world/traffic.js';

/** Options of a sandbox. Each has a default, and each except `knobs` has a command-line flag. */
export interface SandboxOptions {
  /** Loopback port; 0 selects a free one. */
  port?: number;
  seed?: number;
  /** Attendees of the first pigeonhole, up to a million. Only their ids are held in memory. */
  attendees?: number;
  pigeonholes?: number;
  /** Sessions per pigeonhole. */
  sessions?: number;
  /** Questions per qna session. */
  questions?: number;
  /** Votes on the questions of each qna session; three per question by default. */
  votes?: number;
  /** People who respond in each poll, quiz and word cloud; half the attendees by default, 1000 at most. */
  responses?: number;
  /** Events a second in the live pigeonholes. */
  rate?: number;
  /** Starts without live events. The control API can start them later. */
  frozen?: boolean;
  order?: Order;
  cursor?: CursorKind;
  workspaceKind?: 'personal' | 'team';
  apiKeys?: readonly string[];
  latencyMs?: number;
  quota?: Knobs['quota'];
  faults?: readonly FaultRule[];
  /** Whether registrants are enabled in the generated pigeonholes. */
  registrants?: boolean;
  /**
   * End of the generated past, in milliseconds since 1970; the start of the current hour by default. Set it if two runs
   * must be identical to the byte.
   */
  nowMs?: number;
  /** Other settings; see `knobs.ts`. */
  knobs?: Partial<Knobs>;
}

const HOUR_MS = 3_600_000;
const MAX_ATTENDEES = 1_000_000;

export const DEFAULTS = {
  port: 0,
  seed: 1,
  attendees: 500,
  pigeonholes: 3,
  sessions: 12,
  questions: 40,
  rate: 2,
  order: 'ascending',
  cursor: 'keyset',
  workspaceKind: 'personal',
  apiKeys: ['sandbox-key'],
  latencyMs: 0,
} as const satisfies SandboxOptions;

type ResolvedOptions = Required<Omit<SandboxOptions, 'quota' | 'order' | 'cursor' | 'latencyMs'>>;

/**
 * Adds the defaults, and copies options that are knobs into `knobs`.
 * @throws {RangeError} for a number outside its range
 */
function resolveOptions(options: SandboxOptions, clockMs: number): ResolvedOptions {
  const attendees = options.attendees ?? DEFAULTS.attendees;
  const questions = options.questions ?? DEFAULTS.questions;
  const resolved: ResolvedOptions = {
    port: options.port ?? DEFAULTS.port,
    seed: options.seed ?? DEFAULTS.seed,
    attendees,
    pigeonholes: options.pigeonholes ?? DEFAULTS.pigeonholes,
    sessions: options.sessions ?? DEFAULTS.sessions,
    questions,
    votes: options.votes ?? 3 * questions,
    responses: options.responses ?? Math.min(Math.ceil(attendees / 2), 1000),
    rate: options.rate ?? DEFAULTS.rate,
    frozen: options.frozen ?? false,
    workspaceKind: options.workspaceKind ?? DEFAULTS.workspaceKind,
    apiKeys: options.apiKeys ?? DEFAULTS.apiKeys,
    faults: options.faults ?? [],
    registrants: options.registrants ?? true,
    nowMs: options.nowMs ?? Math.floor(clockMs / HOUR_MS) * HOUR_MS,
    knobs: {
      ...options.knobs,
      order: options.order ?? options.knobs?.order ?? DEFAULTS.order,
      cursor: options.cursor ?? options.knobs?.cursor ?? DEFAULTS.cursor,
      latencyMs: options.latencyMs ?? options.knobs?.latencyMs ?? DEFAULTS.latencyMs,
      quota: options.quota ?? options.knobs?.quota ?? null,
    },
  };
  requireRange('attendees', attendees, 0, MAX_ATTENDEES);
  requireRange('pigeonholes', resolved.pigeonholes, 1, 200);
  requireRange('sessions', resolved.sessions, 0, 9_999);
  requireRange('questions', questions, 0, MAX_ATTENDEES);
  requireRange('votes', resolved.votes, 0, 10 * MAX_ATTENDEES);
  requireRange('responses', resolved.responses, 0, MAX_ATTENDEES);
  requireRange('port', resolved.port, 0, 65_535);
  return resolved;
}

function requireRange(name: string, value: number, lowest: number, highest: number): void {
  if (Number.isInteger(value) && value >= lowest && value <= highest) return;
  throw new RangeError(`${name} is ${value}; give an integer from ${lowest} to ${highest}`);
}

export interface Sandbox {
  /** `http://127.0.0.1:<port>`, without the path (such as `/v2/pigeonholes`). */
  baseUrl: string;
  port: number;
  apiKeys: readonly string[];
  /** Stops live events and closes every connection. A second call does nothing. */
  close(): Promise<void>;
}

/**
 * Starts the Event Engagement Service on loopback: a seeded conference, live traffic unless frozen, and the control API
 * under `/_control/`. Several can run in one process.
 * @throws {RangeError} for an option outside its range, and the server's error if the port is in use
 */
export async function runSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const now = (): number => Date.now();
  const resolved = resolveOptions(options, now());
  const conference = new Conference(resolved, resolved.workspaceKind);
  const knobs = knobsSchema.parse(resolved.knobs);
  const service: ServiceState = {
    conference,
    workspaceKind: resolved.workspaceKind,
    apiKeys: new Set(resolved.apiKeys),
    knobs,
    faults: new Faults(resolved.seed),
    quota: new Quota(),
    log: new RequestLog(),
    pages: new PageCache(),
    now,
  };
  for (const fault of resolved.faults) service.faults.add(fault);
  const traffic = new Traffic({ conference, seed: resolved.seed, now, settings: () => service.knobs });
  const controlled: Controlled = { service, traffic, rate: resolved.rate, initialKnobs: knobs };

  const server = createServer((incoming, response) => {
    if (refusePages(incoming, response)) return;
    const served = isControlPath(incoming.url ?? '')
      ? serveControl(controlled, incoming, response)
      : serveRequest(service, incoming, response);
    served.catch((error: unknown) => answerBug(error, incoming, response));
  });
  server.keepAliveTimeout = 60_000;
  const port = await new Promise<number>((resolve, reject) => {
    server.once('error', reject);
    server.listen(resolved.port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
  if (!resolved.frozen) traffic.thaw(resolved.rate);

  let closed: Promise<void> | null = null;
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    port,
    apiKeys: resolved.apiKeys,
    close: () => {
      closed ??= new Promise((resolve) => {
        traffic.freeze();
        server.close(() => resolve());
        server.closeAllConnections();
      });
      return closed;
    },
  };
}

/**
 * Reports an unexpected error, which is a defect of the sandbox, so that it is not mistaken for a fault of the service.
 */
function answerBug(error: unknown, incoming: IncomingMessage, response: ServerResponse): void {
  if (incoming.destroyed && !incoming.complete) return; // the client closed the connection while it sent its body
  process.stderr.write(
    `sandbox: ${incoming.method} ${incoming.url}: ${error instanceof Error ? error.stack : String(error)}\n`,
  );
  if (response.headersSent) response.destroy();
  else
    response.writeHead(500, { 'Content-Type': 'text/plain' }).end('the sandbox itself failed; see its standard error');
}
