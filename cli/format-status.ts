import type { PauseView } from '../api/sink-view.js';
import type { PigeonholeView, SinkView, Status, WorkspaceView, WorkState } from '../api/status-view.js';
import { counted, grouped } from './grouped.js';
import { inWords } from './in-words.js';

/** `status` for a person: a line per workspace, pigeonhole and sink, what is wrong in words. Pure. */
export function formatStatus(status: Status, now: Date): string[] {
  return [
    ...(status.trouble === null ? [] : [`PROBLEM: ${status.trouble}`]),
    ...status.workspaces.flatMap((workspace) => workspaceLines(workspace, now)),
    ...status.sinks.flatMap((sink) => sinkLines(sink, now)),
    summary(status),
  ];
}

/** What needs a person first: only where nothing stands still is "settled" the whole truth. */
function summary({ workspaces, sinks, settled, trouble }: Status): string {
  const attention = [
    ...(trouble === null ? [] : ['nothing gets on']),
    // A workspace fails when one of its pigeonholes does: that is told once, of the pigeonhole.
    ...standingOf(
      'workspace',
      workspaces.filter(({ state }) => state !== 'failing'),
    ),
    ...standingOf(
      'pigeonhole',
      workspaces.flatMap(({ pigeonholes }) => pigeonholes),
    ),
    ...standingOf('sink', sinks),
  ];
  if (attention.length > 0) return `${attention.join(', ')}: see above`;
  return settled ? 'settled: everything found is delivered, withheld or parked' : 'working';
}

const standing = [
  ['paused', 'is paused', 'are paused'],
  ['waiting', 'waits', 'wait'],
  ['failing', 'is failing', 'are failing'],
] as const;

function standingOf(what: string, views: readonly { readonly state: WorkState }[]): string[] {
  return standing.flatMap(([state, one, more]) => {
    const n = views.filter((view) => view.state === state).length;
    return n === 0 ? [] : [n === 1 ? `1 ${what} ${one}` : `${n} ${what}s ${more}`];
  });
}

function workspaceLines(workspace: WorkspaceView, now: Date): string[] {
  const until = workspace.until === null ? '' : `, again ${inWords(new Date(workspace.until), now)}`;
  const head = `workspace ${workspace.name}: ${workspace.state}${until}${because(workspace.reason)}${asker(workspace.pause, now)}`;
  const pigeonholes = workspace.pigeonholes.map((pigeonhole) => {
    const name = pigeonhole.id === 0 ? 'its own lists' : `pigeonhole ${pigeonhole.id}`;
    const status = pigeonhole.status === null ? '' : ` (${pigeonhole.status})`;
    const fresh =
      pigeonhole.freshAsOf === null
        ? 'not yet read whole'
        : `fresh as of ${inWords(new Date(pigeonhole.freshAsOf), now)}`;
    return `  ${name}${status}: ${pigeonhole.state}, ${counted(pigeonhole.changes, 'change')}, ${fresh}${because(pigeonhole.reason)}${asker(pigeonhole.pause, now)}${asides(pigeonhole, now)}`;
  });
  return [head, ...quotaLines(workspace, now), ...pigeonholes];
}

/** What a person should know beside: what is gone, what waits for them, what could not be told apart. */
function asides({ goneAt, heldDeletions, setAside, foreignRows }: PigeonholeView, now: Date): string {
  return [
    ...(goneAt === null
      ? []
      : [`; gone at the service ${inWords(new Date(goneAt), now)}, what was read of it is kept`]),
    ...(heldDeletions === 0
      ? []
      : [
          `; ${counted(heldDeletions, 'deletion')} ${heldDeletions === 1 ? 'waits' : 'wait'} for you: pigeonpost deletions list`,
        ]),
    ...(setAside === 0 ? [] : [`; ${counted(setAside, 'row')} without an id set aside`]),
    ...(foreignRows === 0
      ? []
      : [`; the service ignores filter[sessionId]: ${counted(foreignRows, 'row')} of other sessions set aside`]),
  ].join('');
}

/** What of the quota is used and left, until when, and what the next hour needs of it. */
function quotaLines({ quota }: WorkspaceView, now: Date): string[] {
  if (quota === null) return [];
  const { limit, used, left, reserved, nextHour } = quota;
  const of = limit === null ? '' : ` of ${quota.learnt ? 'about ' : ''}${grouped(limit)}`;
  const kept = reserved > 0 ? ` (${grouped(reserved)} of them kept for imports)` : '';
  const parts = [
    `${grouped(used)}${of} used`,
    left === null ? 'nobody says how many are left' : `${grouped(left)} left${kept}`,
    ...(quota.resetAt === null ? [] : [`reset ${inWords(new Date(quota.resetAt), now)}`]),
    `the next hour needs ${grouped(nextHour.all)}: ${grouped(nextHour.live)} live, ${grouped(nextHour.idle)} idle, ${grouped(nextHour.sweep)} for sweeps`,
  ];
  const short =
    quota.lastsUntil === null
      ? []
      : [
          `  at that rate what is left is used up ${inWords(new Date(quota.lastsUntil), now)}; reading slows down so that it lasts`,
        ];
  return [`  requests: ${parts.join(', ')}`, ...short];
}

function sinkLines(sink: SinkView, now: Date): string[] {
  const last = sink.deliveredAt === null ? '' : `, last ${inWords(new Date(sink.deliveredAt), now)}`;
  return [
    `sink ${sink.name} (${sink.type}): ${sink.state}, ${grouped(sink.delivered)} delivered${last}, ${grouped(sink.backlog)} to go${because(sink.reason)}${asker(sink.pause, now)}`,
    ...(sink.state === 'paused' ? [`  resume with: pigeonpost resume sink:${sink.name}`] : []),
    ...observationLines(sink, now),
    ...sink.replays.map(
      ({ id, taken, open, since, requestedBy }) =>
        `  replay ${id}${requestedBy === null ? '' : ` by ${requestedBy}`}, ${inWords(new Date(since), now)}: ${counted(taken, 'item')} so far, ${grouped(open)} of them to go`,
    ),
    ...Object.entries(sink.withheld).map(([reason, n]) => `  ${grouped(n)} withheld: ${reasonWords(reason)}`),
    ...Object.entries(sink.dead).map(([cause, n]) => `  ${counted(n, 'dead letter')}: ${cause}`),
  ];
}

function observationLines({ name, observation, approval }: SinkView, now: Date): string[] {
  if (observation === null) return [];
  if (approval !== null) {
    const by = approval.approvedBy === null ? '' : ` by ${approval.approvedBy}`;
    return [
      `  observes, and was approved${by} ${inWords(new Date(approval.since), now)}: it sends${because(approval.reason)}`,
    ];
  }
  const { wouldSend, wouldSendAnonymously, wouldWithhold } = observation;
  const anonymously =
    wouldSendAnonymously === 0 ? '' : `, ${grouped(wouldSendAnonymously)} without the person who did it`;
  return [
    `  observes and sends nothing: would send ${counted(wouldSend + wouldSendAnonymously, 'change')}${anonymously}`,
    ...Object.entries(wouldWithhold).map(([reason, n]) => `  would withhold ${grouped(n)}: ${reasonWords(reason)}`),
    `  let it send with: pigeonpost sink approve ${name}`,
  ];
}

/** Who has paused it, and since when; nothing for a cause, which says so itself. */
function asker(pause: PauseView | null, now: Date): string {
  if (pause === null || pause.pausedBy !== 'person') return '';
  const who = pause.actor === null ? '' : `by ${pause.actor} `;
  return ` (${who}${inWords(new Date(pause.since), now)})`;
}

function because(reason: string | null): string {
  return reason === null ? '' : `: ${reason}`;
}

const words: Readonly<Record<string, string>> = {
  'consent-refused': 'consent refused',
  'consent-not-asked': 'consent not asked',
  'consent-not-known': 'consent not known',
  'list-not-wanted': 'a list that it is sent no more',
  condition: 'left out by its condition',
  'not-selected': 'pigeonholes that no sync of this sink selects',
};

/** A reason of withholding, as a person says it. */
export function reasonWords(reason: string): string {
  return words[reason] ?? reason;
}
