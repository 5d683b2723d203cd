import type { FaultRule } from './service/faults.js';
import type { CursorKind, Knobs, Order } from './service/knobs.js';

/** Options of a sandbox. Each has a default and a command-line flag with the same name. */
export interface SandboxOptions {
  /** Loopback port; 0 selects a free one. */
  port?: number;
  seed?: number;
  /** Attendees of the first pigeonhole, up to a million. Memory does not depend on the number. */
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

export type ResolvedOptions = Required<Omit<SandboxOptions, 'quota' | 'order' | 'cursor' | 'latencyMs'>>;

/**
 * Adds the defaults, and copies options that are knobs into `knobs`.
 * @throws {RangeError} for a number outside its range
 */
export function resolveOptions(options: SandboxOptions, clockMs: number): ResolvedOptions {
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
