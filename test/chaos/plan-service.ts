import { between, oneOf, type Random } from './draw.js';

/** The sandbox of a run. */
export interface ServicePlan {
  readonly flags: readonly string[];
  /** Settings to apply before the first read. */
  readonly knobs: Readonly<Record<string, unknown>>;
}

/** Kinds of live events by which items leave a list. */
const departures = { voteWithdrawal: 8, deletion: 4, reappearance: 2 } as const;

/**
 * Plans a conference that is small enough to compare as a whole every few seconds, with small pages, so that walks have
 * many of them, and with random orders and cursors.
 */
export function planService(random: Random, seed: number, deletions: boolean): ServicePlan {
  const flags = {
    seed,
    attendees: between(random, 120, 350),
    pigeonholes: between(random, 2, 5),
    sessions: between(random, 12, 18),
    questions: between(random, 20, 60),
    rate: between(random, 8, 25),
    order: oneOf(random, ['ascending', 'ascending', 'descending', 'unordered'] as const),
    cursor: oneOf(random, ['keyset', 'offset'] as const),
    'workspace-kind': oneOf(random, ['personal', 'team'] as const),
  };
  const none = Object.fromEntries(Object.keys(departures).map((kind) => [kind, 0]));
  return {
    flags: Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)]),
    knobs: {
      maxPerPage: between(random, 10, 60),
      cursorText: oneOf(random, ['plain', 'signed'] as const),
      lateRowShare: 0.1,
      latencyMs: oneOf(random, [0, 5, 20, 60] as const), // a slower service allows more changes during a walk
      withdrawal: deletions ? oneOf(random, ['status', 'remove'] as const) : 'status',
      traffic: { move: 3, renameSession: 1, moderation: 10, editQuestion: 4, ...(deletions ? departures : none) },
    },
  };
}
