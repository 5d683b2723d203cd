import { z } from '@hono/zod-openapi';
import type { LaneState } from '../ledger/queries/read-lanes.js';
import type { LateReading } from '../ledger/queries/read-streams.js';
import { actionSchema } from './action.js';
import type { PauseView } from './sink-view.js';
import type { PigeonholeView, SinkView, Status, WorkspaceView } from './status-view.js';

/** What keeps data from flowing, in words, and what helps. */
export const troubleSchema = z
  .object({
    code: z
      .enum([
        'process-failing',
        'workspace-paused',
        'workspace-waiting',
        'quota-short',
        'pigeonhole-paused',
        'pigeonhole-failing',
        'pigeonhole-gone',
        'reading-late',
        'deletions-held',
        'filters-ignored',
        'sink-paused',
        'sink-failing',
        'sink-behind',
        'sink-observing',
        'dead-letters',
      ])
      .describe('Stable, for programs.'),
    severity: z
      .enum(['error', 'warning', 'notice'])
      .describe('`error`: nothing gets on there until somebody acts; `warning`: it goes on, but not as it should.'),
    kind: z.enum(['process', 'workspace', 'pigeonhole', 'sink']),
    name: z.string().describe('As an action names it; of the process empty.'),
    text: z.string().describe('A sentence for a person.'),
    since: z.iso.datetime().nullable(),
    help: z
      .object({
        label: z.string().describe('What a button would say.'),
        action: actionSchema.nullable().describe('What it would send to `/api/actions`; null: it leads elsewhere.'),
        see: z.string().nullable().describe('The address with the details.'),
      })
      .nullable()
      .describe('Null: it passes by itself, or nothing here helps.'),
  })
  .openapi('Trouble');
export type Trouble = z.infer<typeof troubleSchema>;

export interface KnownFacts {
  readonly status: Status;
  readonly lanes: readonly LaneState[];
  readonly late: readonly LateReading[];
  readonly now: Date;
}

/** A delivery that is retried soon, or a batch on its way, is none yet. */
const behindAfterMs = 120_000;

const severities = ['error', 'warning', 'notice'] as const;

/** Everything that a person on duty should know of, the worst first. Pure. */
export function whatIsWrong(facts: KnownFacts): Trouble[] {
  const { status } = facts;
  const found = [
    ...ofProcess(status),
    ...status.workspaces.flatMap((workspace) => ofWorkspace(workspace, facts)),
    ...status.sinks.flatMap((sink) => ofSink(sink, facts)),
  ];
  return severities.flatMap((severity) => found.filter((trouble) => trouble.severity === severity));
}

function ofProcess({ trouble }: Status): Trouble[] {
  if (trouble === null) return [];
  const text = `nothing gets on: ${trouble}`;
  return [{ code: 'process-failing', severity: 'error', kind: 'process', name: '', text, since: null, help: null }];
}

function ofWorkspace(workspace: WorkspaceView, facts: KnownFacts): Trouble[] {
  const { name, pause, quota, state, reason, until } = workspace;
  const about = { kind: 'workspace', name } as const;
  const found: Trouble[] = [];
  if (pause !== null) {
    const text = `workspace ${name} is paused, so nothing of it is read: ${pause.reason}`;
    const help = resume(about.kind, name);
    found.push({ code: 'workspace-paused', severity: 'error', ...about, text, since: pause.since, help });
  } else if (state === 'waiting') {
    const text = `workspace ${name} waits for the service (${reason ?? 'it said so'})${until === null ? '' : `, at the longest until ${until}`}`;
    found.push({ code: 'workspace-waiting', severity: 'warning', ...about, text, since: null, help: null });
  }
  if (quota !== null && quota.lastsUntil !== null) {
    const text = `the request quota of workspace ${name} lasts until ${quota.lastsUntil} at this rate, and its window ends ${quota.resetAt === null ? 'later' : `at ${quota.resetAt}`}`;
    const help = { label: 'Show the quota', action: null, see: '/api/quota' };
    found.push({ code: 'quota-short', severity: 'warning', ...about, text, since: null, help });
  }
  return [...found, ...workspace.pigeonholes.flatMap((pigeonhole) => ofPigeonhole(workspace, pigeonhole, facts))];
}

function ofPigeonhole(workspace: WorkspaceView, pigeonhole: PigeonholeView, facts: KnownFacts): Trouble[] {
  const { id, pause, state, reason, goneAt, heldDeletions, foreignRows } = pigeonhole;
  const name = `${workspace.name}/${id}`;
  const called = id === 0 ? `the workspace lists of ${workspace.name}` : `pigeonhole ${name}`;
  const about = { kind: 'pigeonhole', name } as const;
  const see = `/api/pigeonholes/${name}`;
  const found: Trouble[] = [];
  if (pause !== null) {
    const text = `${called} is paused, so nothing of it is read: ${pause.reason}`;
    found.push({
      code: 'pigeonhole-paused',
      severity: 'error',
      ...about,
      text,
      since: pause.since,
      help: resume(about.kind, name),
    });
  } else if (goneAt !== null) {
    const text = `${called} is gone at the service; what was read of it is kept`;
    found.push({ code: 'pigeonhole-gone', severity: 'notice', ...about, text, since: goneAt, help: null });
  } else if (state === 'failing') {
    const text = `${called} cannot be read in part: ${reason ?? 'the service refuses'}; it is tried again`;
    const help = { label: 'Read now', action: { do: 'poll-now', kind: about.kind, name } as const, see };
    found.push({ code: 'pigeonhole-failing', severity: 'warning', ...about, text, since: null, help });
  }
  const late = facts.late.find((each) => each.workspace === workspace.name && each.pigeonholeId === id);
  if (late !== undefined && pause === null && goneAt === null && workspace.state !== 'waiting' && !workspace.pause) {
    const since = late.since.toISOString();
    const text = `${late.streams} ${late.streams === 1 ? 'stream' : 'streams'} of ${called} should have been read since ${since}: see that a worker runs`;
    found.push({
      code: 'reading-late',
      severity: 'warning',
      ...about,
      text,
      since,
      help: { label: 'Read now', action: { do: 'poll-now', kind: about.kind, name }, see },
    });
  }
  if (heldDeletions > 0) {
    const text = `${heldDeletions} deletions of ${called} wait for a person to confirm or reject them`;
    const help = { label: 'Look at them', action: null, see: '/api/deletions' };
    found.push({ code: 'deletions-held', severity: 'warning', ...about, text, since: null, help });
  }
  if (foreignRows > 0) {
    const rows = foreignRows === 1 ? '1 row of another session is' : `${foreignRows} rows of other sessions are`;
    const text = `the service ignores filter[sessionId] in ${called}: ${rows} set aside, and nothing is deleted from these lists`;
    const help = { label: 'Show the streams', action: null, see: `${see}/streams` };
    found.push({ code: 'filters-ignored', severity: 'warning', ...about, text, since: null, help });
  }
  return found;
}

function ofSink(sink: SinkView, { lanes, now }: KnownFacts): Trouble[] {
  const { name, pause, state, reason, dead, observation, approval } = sink;
  const about = { kind: 'sink', name } as const;
  const see = `/api/sinks/${name}`;
  const observes = observation !== null && approval === null;
  const since = oldest(lanes.filter((lane) => lane.sink === name).map(({ undeliveredSince }) => undeliveredSince));
  const found: Trouble[] = [];
  if (pause !== null) {
    const text = `sink ${name} is paused and keeps its backlog${by(pause)}: ${pause.reason}`;
    const help = resume(about.kind, name);
    found.push({ code: 'sink-paused', severity: 'error', ...about, text, since: pause.since, help });
  } else if (state === 'failing') {
    const failing = oldest(lanes.filter((lane) => lane.sink === name).map(({ failingSince }) => failingSince));
    const text = `sink ${name} fails and is tried again: ${reason ?? 'it does not answer'}`;
    found.push({
      code: 'sink-failing',
      severity: 'error',
      ...about,
      text,
      since: failing?.toISOString() ?? null,
      help: { label: 'Show what it answers', action: null, see },
    });
  } else if (!observes && since !== null && now.getTime() - since.getTime() > behindAfterMs) {
    const text = `sink ${name} is behind: its oldest change waits since ${since.toISOString()}`;
    const help = { label: 'Show its backlog', action: null, see };
    found.push({ code: 'sink-behind', severity: 'warning', ...about, text, since: since.toISOString(), help });
  }
  if (observes) {
    const text = `sink ${name} observes and sends nothing until somebody approves it`;
    const help = { label: 'Let it send', action: { do: 'approve', kind: about.kind, name } as const, see };
    found.push({ code: 'sink-observing', severity: 'notice', ...about, text, since: null, help });
  }
  const letters = Object.values(dead).reduce((sum, n) => sum + n, 0);
  if (letters > 0) {
    const text = `sink ${name} has refused ${letters} ${letters === 1 ? 'change' : 'changes'}, which wait until somebody redrives them`;
    const help = { label: 'Look at them', action: null, see: `/api/dead-letters?sink=${name}` };
    found.push({ code: 'dead-letters', severity: 'warning', ...about, text, since: null, help });
  }
  return found;
}

function resume(kind: 'workspace' | 'pigeonhole' | 'sink', name: string): Trouble['help'] {
  return { label: 'Resume', action: { do: 'resume', kind, name }, see: null };
}

function by({ pausedBy, actor }: PauseView): string {
  return pausedBy === 'person' && actor !== null ? `, as ${actor} asked` : '';
}

function oldest(instants: readonly (Date | null)[]): Date | null {
  const known = instants.filter((each) => each !== null);
  return known.length === 0 ? null : new Date(Math.min(...known.map((each) => each.getTime())));
}
