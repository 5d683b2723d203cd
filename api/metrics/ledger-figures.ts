import type { Config } from '../../config/config.js';
import type { AlertFigures, ImportFigures, SweepState } from '../../operations/metrics.js';
import type { NamedPigeonhole } from '../../ledger/pigeonholes.js';
import type { LaneState } from '../../delivering/read-lanes.js';
import { total } from '../../operations/ledger-status.js';
import { combineFreshness } from '../../operations/freshness.js';
import { problemCodes } from '../../operations/problem.js';
import type { PigeonholeView, Status } from '../../operations/status-view.js';

/** State of the ledger; every process reports the same. */
export interface LedgerFacts {
  readonly now: Date;
  readonly version: string;
  readonly config: Pick<Config, 'syncs' | 'sinks' | 'workspaces'>;
  readonly status: Status;
  /** Lanes on which sinks still receive changes. */
  readonly lanes: readonly LaneState[];
  readonly places: readonly NamedPigeonhole[];
  readonly sweeps: readonly SweepState[];
  readonly imports: readonly ImportFigures[];
  readonly alerts: { readonly raised: readonly AlertFigures[]; readonly waiting: number };
}

/**
 * Computes the metrics of a ledger. Pure. Labels are only names from the configuration and fixed words, so that their
 * number does not grow with pigeonholes, people or items.
 */
export function ledgerFigures(facts: LedgerFacts): Figure[] {
  return [...ofInstallation(facts), ...ofSyncs(facts), ...ofSinks(facts), ...ofWorkspaces(facts), ...ofImports(facts)];
}

function ofInstallation({ version, status, alerts }: LedgerFacts): Figure[] {
  return [
    gauge('pigeonpost_build_info', 'The version that runs; always 1.', [of({ version }, 1)]),
    gauge('pigeonpost_configuration_number', 'Number of the configuration that this process runs.', [
      of({}, status.configuration),
    ]),
    gauge('pigeonpost_process_failing', '1 while nothing at all gets on in this process.', [
      of({}, status.trouble === null ? 0 : 1),
    ]),
    gauge(
      'pigeonpost_problems',
      'Problems that the page and the status show at this moment, by code; 0: none.',
      problemCodes.map((code) => of({ code }, status.problems.filter((each) => each.code === code).length)),
    ),
    gauge(
      'pigeonpost_alerts_raised',
      'Raised alerts that are not over yet, by occasion.',
      alerts.raised.map(({ occasion, raised }) => of({ occasion }, raised)),
    ),
    gauge('pigeonpost_alert_messages_waiting', 'Alerts that a receiver has not taken yet.', [of({}, alerts.waiting)]),
  ];
}

function ofSyncs({ now, config, status, lanes, places, sweeps }: LedgerFacts): Figure[] {
  const age: Sample[] = [];
  const backlog: Sample[] = [];
  const fresh: Sample[] = [];
  const late: Sample[] = [];
  const swept: Sample[] = [];
  const sweepLate: Sample[] = [];
  const states: Sample[] = [];
  for (const [sync, { workspace, sinks, everyMs }] of Object.entries(config.syncs)) {
    const own = new Set(
      places
        .filter((place) => place.workspace === workspace && (place.pigeonholeId === 0 || place.syncs.includes(sync)))
        .map(({ pigeonholeId }) => pigeonholeId),
    );
    const views = (status.workspaces.find(({ name }) => name === workspace)?.pigeonholes ?? []).filter(
      ({ id, goneAt }) => id !== 0 && own.has(id) && goneAt === null,
    );
    for (const sink of sinks) {
      const sent = lanes.filter(
        (lane) => lane.sink === sink && lane.workspace === workspace && own.has(lane.pigeonholeId),
      );
      age.push(
        of(
          { sync, sink },
          oldestAge(
            sent.map(({ waitsSince }) => waitsSince),
            now,
          ),
        ),
      );
      backlog.push(
        of(
          { sync, sink },
          sent.reduce((sum, lane) => sum + lane.newest - lane.watermark + lane.open, 0),
        ),
      );
    }
    const freshness = combineFreshness(views.map((view) => view.freshness));
    const readAt = freshness.liveLists === 0 ? null : dateOf(freshness.readAt);
    fresh.push(of({ sync }, oldestAge([readAt], now)));
    late.push(of({ sync }, freshness.lateSeconds));
    const whole = sweeps.filter(
      (each) => each.workspace === workspace && each.pigeonholeId !== 0 && own.has(each.pigeonholeId),
    );
    const sweepAge = oldestAge(
      whole.map(({ oldestSweptAt }) => oldestSweptAt),
      now,
    );
    swept.push(of({ sync }, sweepAge));
    sweepLate.push(of({ sync }, Math.max(0, sweepAge - everyMs.sweep / 1000)));
    for (const state of ['working', 'backfilling', 'waiting', 'paused', 'failing'] as const) {
      states.push(of({ sync, state }, views.filter((view) => view.state === state).length));
    }
  }
  return [
    gauge(
      'pigeonpost_undelivered_age_seconds',
      'Age of the oldest change of a sync that a sink was not sent; of a sink that is being filled, since its last progress; 0: none.',
      age,
    ),
    gauge('pigeonpost_backlog_changes', 'Changes of a sync that a sink has not settled, of all lists.', backlog),
    gauge(
      'pigeonpost_read_age_seconds',
      'Since the oldest last read among the lists of a sync that are live now; 0: none is live, or reading is paused.',
      fresh,
    ),
    gauge(
      'pigeonpost_read_late_seconds',
      'How long the latest list of a sync has been due by the polling interval in force for it; 0: all are in time, or reading is paused.',
      late,
    ),
    gauge(
      'pigeonpost_sweep_age_seconds',
      'Since the oldest last whole sweep of a stream among the live pigeonholes of a sync.',
      swept,
    ),
    gauge(
      'pigeonpost_sweep_late_seconds',
      'How much longer than the interval `every.sweep` of the sync that is; 0: not longer.',
      sweepLate,
    ),
    gauge('pigeonpost_pigeonholes', 'Pigeonholes of a sync, by how they stand.', states),
  ];
}

function ofSinks({ status }: LedgerFacts): Figure[] {
  const { sinks } = status;
  return [
    counter(
      'pigeonpost_delivered_changes_total',
      'Deliveries that a sink has accepted, ever, those of replays included.',
      sinks.map(({ name, delivered }) => of({ sink: name }, delivered)),
    ),
    gauge(
      'pigeonpost_dead_letters',
      'Changes that a sink has refused and that are parked.',
      sinks.map(({ name, dead }) => of({ sink: name }, total(dead))),
    ),
    gauge(
      'pigeonpost_withheld_changes',
      'Changes that a sink was not sent on purpose and that nothing has delivered since: consent, conditions, a missing value.',
      sinks.map(({ name, withheld }) => of({ sink: name }, total(withheld))),
    ),
    gauge(
      'pigeonpost_sink_withholding',
      'Lists that a sink withholds for want of a value, and should probably send.',
      sinks.map(({ name, withholding }) => of({ sink: name }, withholding.length)),
    ),
    gauge(
      'pigeonpost_sink_paused',
      '1 while a sink is paused, by whom or what.',
      sinks.flatMap(({ name, pause }) => pausedBy(pause, { sink: name })),
    ),
    gauge(
      'pigeonpost_sink_failing',
      '1 while something fails at a sink and is tried again.',
      sinks.map(({ name, state }) => of({ sink: name }, state === 'failing' ? 1 : 0)),
    ),
  ];
}

function ofWorkspaces({ now, status }: LedgerFacts): Figure[] {
  const { workspaces } = status;
  const summed = (count: (pigeonhole: PigeonholeView) => number): Sample[] =>
    workspaces.map(({ name, pigeonholes }) =>
      of(
        { workspace: name },
        pigeonholes.reduce((sum, each) => sum + count(each), 0),
      ),
    );
  const known = workspaces.flatMap(({ name, quota }) => (quota === null ? [] : [{ workspace: name, quota }]));
  return [
    gauge(
      'pigeonpost_workspace_paused',
      '1 while a workspace is paused, by whom or what.',
      workspaces.flatMap(({ name, pause }) => pausedBy(pause, { workspace: name })),
    ),
    gauge(
      'pigeonpost_service_unanswered_seconds',
      'Since when the service has not answered a workspace; 0: it answers.',
      workspaces.map(({ name, unanswered }) =>
        of({ workspace: name }, unanswered === null ? 0 : oldestAge([dateOf(unanswered.since)], now)),
      ),
    ),
    counter(
      'pigeonpost_found_changes_total',
      'Changes that were found, ever.',
      summed(({ changes }) => changes),
    ),
    gauge(
      'pigeonpost_held_deletions',
      'Deletions that wait for a decision.',
      summed(({ heldDeletions }) => heldDeletions),
    ),
    gauge(
      'pigeonpost_rows_set_aside',
      'Rows in the last sweeps that have no ID or are nested too deeply.',
      summed(({ setAside }) => setAside),
    ),
    gauge(
      'pigeonpost_foreign_rows',
      'Rows of other sessions than the one asked for, as the last sweeps showed them.',
      summed(({ foreignRows }) => foreignRows),
    ),
    gauge(
      'pigeonpost_quota_limit_requests',
      "Requests in a window of a workspace's key, where it is known.",
      known.flatMap(({ workspace, quota }) => (quota.limit === null ? [] : [of({ workspace }, quota.limit)])),
    ),
    gauge(
      'pigeonpost_quota_left_requests',
      'Requests that are left of the window, at most, where it is known.',
      known.flatMap(({ workspace, quota }) => (quota.left === null ? [] : [of({ workspace }, quota.left)])),
    ),
    gauge(
      'pigeonpost_quota_needed_requests',
      'Requests that reading needs within the next hour.',
      known.map(({ workspace, quota }) => of({ workspace }, quota.nextHour.all)),
    ),
    gauge(
      'pigeonpost_quota_lasts_seconds',
      'How long what reading may use lasts at that rate, where it does not last until the window ends.',
      known.flatMap(({ workspace, quota }) =>
        quota.lastsUntil === null
          ? []
          : [of({ workspace }, Math.max(0, (Date.parse(quota.lastsUntil) - now.getTime()) / 1000))],
      ),
    ),
  ];
}

function ofImports({ imports }: LedgerFacts): Figure[] {
  return [
    gauge(
      'pigeonpost_imports',
      'Imports of registrants, by how they stand.',
      imports.map(({ workspace, state, imports: n }) => of({ workspace, state }, n)),
    ),
    gauge(
      'pigeonpost_import_rows_left',
      'Rows of running imports that are still to be sent.',
      imports.filter(({ state }) => state === 'running').map(({ workspace, rowsLeft }) => of({ workspace }, rowsLeft)),
    ),
  ];
}

function pausedBy(pause: { readonly pausedBy: 'person' | 'cause' } | null, labels: Sample['labels']): Sample[] {
  return (['person', 'cause'] as const).map((by) => of({ ...labels, by }, pause?.pausedBy === by ? 1 : 0));
}

/**
 * Returns an age in seconds; 0 if nothing waits, so that alert rules always have a value. An unknown instant gives no
 * value.
 */
function oldestAge(instants: readonly (Date | null)[], now: Date): number {
  const known = instants.flatMap((each) => (each === null ? [] : [each.getTime()]));
  return known.length === 0 ? 0 : Math.max(0, (now.getTime() - Math.min(...known)) / 1000);
}

function dateOf(iso: string | null): Date | null {
  return iso === null ? null : new Date(iso);
}

function of(labels: Sample['labels'], value: number): Sample {
  return { labels, value };
}

function gauge(name: string, help: string, samples: readonly Sample[]): Figure {
  return { name, help, type: 'gauge', samples };
}

function counter(name: string, help: string, samples: readonly Sample[]): Figure {
  return { name, help, type: 'counter', samples };
}

/** One metric with its values at this moment. */
interface Figure {
  readonly name: string;
  /** One sentence. */
  readonly help: string;
  readonly type: 'gauge' | 'counter';
  readonly samples: readonly Sample[];
}

interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** In Prometheus' text format, version 0.0.4. Pure. Source: prometheus.io, "Exposition formats". */
export function formatFigures(figures: readonly Figure[]): string {
  return figures
    .map(({ name, help, type, samples }) =>
      [
        `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}`,
        `# TYPE ${name} ${type}`,
        ...samples.map(({ labels, value }) => `${name}${formatLabels(labels)} ${formatValue(value)}`),
      ].join('\n'),
    )
    .map((text) => `${text}\n`)
    .join('');
}

function formatLabels(labels: Sample['labels']): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

function formatValue(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  return String(value);
}
