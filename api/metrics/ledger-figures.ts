import { Counter, Gauge, Registry } from 'prom-client';
import { sumOf } from '../../base/words.js';
import type { AlertFigures, ImportFigures, SweepState } from '../../operations/ledger-status.js';
import type { LaneState } from '../../delivering/read-lanes.js';
import { combineFreshness } from '../../operations/freshness.js';
import { problemCodes } from '../../operations/problems.js';
import type { PigeonholeView } from '../../operations/status-view.js';
import type { Present } from '../status.js';

/** State of the ledger; every process reports the same. */
export interface LedgerFacts extends Omit<Present, 'progress'> {
  readonly version: string;
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
    gauge('pigeonpost_process_failing', '1 while this process makes no progress.', [
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
    gauge('pigeonpost_alert_messages_waiting', 'Alerts that a receiver has not accepted yet.', [
      of({}, alerts.waiting),
    ]),
  ];
}

function ofSyncs({ now, config, status, lanes, places, sweeps }: LedgerFacts): Figure[] {
  const syncs = Object.entries(config.syncs).map(([sync, { workspace, sinks, everyMs }]) => {
    const own = new Set(
      places
        .filter((place) => place.workspace === workspace && (place.pigeonholeId === 0 || place.syncs.includes(sync)))
        .map(({ pigeonholeId }) => pigeonholeId),
    );
    const isOwn = (each: LaneState | SweepState): boolean => each.workspace === workspace && own.has(each.pigeonholeId);
    const views = (status.workspaces.find(({ name }) => name === workspace)?.pigeonholes ?? []).filter(
      ({ id, goneAt }) => id !== 0 && own.has(id) && goneAt === null,
    );
    const all = views.map(({ freshness }) => freshness);
    const { readAt } = combineFreshness(all.filter(({ state, liveLists }) => state !== 'paused' && liveLists > 0));
    const whole = sweeps.filter((each) => isOwn(each) && each.pigeonholeId !== 0).map((each) => each.oldestSweptAt);
    const sweepAge = oldestAge(whole, now);
    return {
      labels: { sync },
      readAge: oldestAge([dateOf(readAt)], now),
      late: combineFreshness(all).lateSeconds,
      sweepAge,
      sweepLate: Math.max(0, sweepAge - everyMs.sweep / 1000),
      states: (['working', 'backfilling', 'waiting', 'paused', 'failing'] as const).map((state) =>
        of({ sync, state }, views.filter((view) => view.state === state).length),
      ),
      sinks: sinks.map((sink) => {
        const sent = lanes.filter((lane) => lane.sink === sink && isOwn(lane));
        const waits = sent.map(({ waitsSince }) => waitsSince);
        const backlog = sent.reduce((sum, lane) => sum + lane.newest - lane.watermark + lane.open, 0);
        return { labels: { sync, sink }, age: oldestAge(waits, now), backlog };
      }),
    };
  });
  const sinks = syncs.flatMap((each) => each.sinks);
  return [
    gauge(
      'pigeonpost_undelivered_age_seconds',
      'Age of the oldest change of a sync that a sink has not received; for a sink that is being filled, time since its last progress; 0: none.',
      sinks.map(({ labels, age }) => of(labels, age)),
    ),
    gauge(
      'pigeonpost_backlog_changes',
      'Changes of a sync that are not settled at a sink, of all lists.',
      sinks.map(({ labels, backlog }) => of(labels, backlog)),
    ),
    gauge(
      'pigeonpost_read_age_seconds',
      'Time since the last read of a live list of a sync, for the list that was read longest ago; 0: none is live, or reading is paused.',
      syncs.map(({ labels, readAge }) => of(labels, readAge)),
    ),
    gauge(
      'pigeonpost_read_late_seconds',
      'Time since the most overdue list of a sync was due, by its current polling interval; 0: all are in time, or reading is paused.',
      syncs.map(({ labels, late }) => of(labels, late)),
    ),
    gauge(
      'pigeonpost_sweep_age_seconds',
      'Time since the last complete sweep of a stream in a live pigeonhole of a sync, for the stream that was swept longest ago.',
      syncs.map(({ labels, sweepAge }) => of(labels, sweepAge)),
    ),
    gauge(
      'pigeonpost_sweep_late_seconds',
      'By how much pigeonpost_sweep_age_seconds exceeds `every.sweep` of the sync; 0: it does not.',
      syncs.map(({ labels, sweepLate }) => of(labels, sweepLate)),
    ),
    gauge(
      'pigeonpost_pigeonholes',
      'Pigeonholes of a sync, by state.',
      syncs.flatMap(({ states }) => states),
    ),
  ];
}

function ofSinks({ now, status }: LedgerFacts): Figure[] {
  const { sinks } = status;
  return [
    counter(
      'pigeonpost_delivered_changes_total',
      'Deliveries that a sink has ever accepted, including those of replays.',
      sinks.map(({ name, delivered }) => of({ sink: name }, delivered)),
    ),
    gauge(
      'pigeonpost_dead_letters',
      'Dead letters: changes that a sink has refused.',
      sinks.map(({ name, dead }) => of({ sink: name }, sumOf(dead))),
    ),
    gauge(
      'pigeonpost_parity_differences',
      'Items at a destination that differ from what was delivered, as the last audits found them, by kind.',
      sinks.flatMap(({ name, parity }) =>
        parity === null
          ? []
          : (['stale', 'changed', 'missing', 'extra', 'unreadable'] as const).map((kind) =>
              of({ sink: name, kind }, parity[kind]),
            ),
      ),
    ),
    gauge(
      'pigeonpost_parity_compared_items',
      'Items, or revisions of a log, that the last audits of a sink compared.',
      sinks.flatMap(({ name, parity }) => (parity === null ? [] : [of({ sink: name }, parity.compared)])),
    ),
    gauge(
      'pigeonpost_parity_age_seconds',
      'Time since the last audit of a sink ended, in the pigeonhole where that is longest ago.',
      sinks.flatMap(({ name, parity }) =>
        parity === null || parity.auditedAt === null
          ? []
          : [of({ sink: name }, oldestAge([dateOf(parity.auditedAt)], now))],
      ),
    ),
    gauge(
      'pigeonpost_withheld_changes',
      'Changes that were withheld from a sink on purpose (consent, conditions, a missing value) and not delivered since.',
      sinks.map(({ name, withheld }) => of({ sink: name }, sumOf(withheld))),
    ),
    gauge(
      'pigeonpost_sink_withholding',
      'Lists that a sink withholds because a value is missing, probably by mistake.',
      sinks.map(({ name, withholding }) =>
        of({ sink: name }, withholding.filter(({ kind }) => kind !== 'event').length),
      ),
    ),
    gauge(
      'pigeonpost_sink_paused',
      '1 while a sink is paused, by an operator (person) or by pigeonpost (cause).',
      sinks.flatMap(({ name, pause }) => pausedBy(pause, { sink: name })),
    ),
    gauge(
      'pigeonpost_sink_failing',
      '1 while deliveries to a sink fail and are tried again.',
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
      '1 while a workspace is paused, by an operator (person) or by pigeonpost (cause).',
      workspaces.flatMap(({ name, pause }) => pausedBy(pause, { workspace: name })),
    ),
    gauge(
      'pigeonpost_service_unanswered_seconds',
      'How long the service has not answered a workspace; 0: it answers.',
      workspaces.map(({ name, unanswered }) =>
        of({ workspace: name }, unanswered === null ? 0 : oldestAge([dateOf(unanswered.since)], now)),
      ),
    ),
    counter(
      'pigeonpost_found_changes_total',
      'Changes that were ever found.',
      summed(({ changes }) => changes),
    ),
    gauge(
      'pigeonpost_held_deletions',
      'Deletions that wait for an operator.',
      summed(({ heldDeletions }) => heldDeletions),
    ),
    gauge(
      'pigeonpost_rows_set_aside',
      'Rows in the last sweeps that have no ID or are nested too deeply.',
      summed(({ setAside }) => setAside),
    ),
    gauge(
      'pigeonpost_foreign_rows',
      'Rows of other sessions than the requested one in the last sweeps.',
      summed(({ foreignRows, strangerRows }) => foreignRows + strangerRows),
    ),
    gauge(
      'pigeonpost_quota_limit_requests',
      "Requests in a quota window of a workspace's key, if known.",
      known.flatMap(({ workspace, quota }) => (quota.limit === null ? [] : [of({ workspace }, quota.limit)])),
    ),
    gauge(
      'pigeonpost_quota_left_requests',
      'Maximum number of requests left in the quota window, if known.',
      known.flatMap(({ workspace, quota }) => (quota.left === null ? [] : [of({ workspace }, quota.left)])),
    ),
    gauge(
      'pigeonpost_quota_needed_requests',
      'Requests that reading needs within the next hour.',
      known.map(({ workspace, quota }) => of({ workspace }, quota.nextHour.all)),
    ),
    gauge(
      'pigeonpost_quota_interval_factor',
      'Factor by which intervals are lengthened so that the request quota lasts; 1: as configured.',
      known.flatMap(({ workspace, quota: { lengthens } }) =>
        (['live', 'idle', 'sweep'] as const).map((kind) => of({ workspace, kind }, lengthens[kind])),
      ),
    ),
    gauge(
      'pigeonpost_quota_wait_seconds',
      'Time until reading of a workspace continues after its request quota was used up; 0: it does not wait for its quota.',
      workspaces.map(({ name, state, reason, until }) => {
        const waits = state === 'waiting' && reason === 'quota' && until !== null;
        return of({ workspace: name }, waits ? Math.max(0, (Date.parse(until) - now.getTime()) / 1000) : 0);
      }),
    ),
    gauge(
      'pigeonpost_quota_lasts_seconds',
      'Time until the requests that reading may use run out at the present intervals; absent if they last until the window ends.',
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
      'Imports of registrants, by state.',
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
 * Returns an age in seconds; 0 if nothing waits, so that alert rules always have a value. Null instants are ignored.
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
export interface Figure {
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

/** Formats metrics in Prometheus' text format. */
export async function formatFigures(figures: readonly Figure[]): Promise<string> {
  const registry = new Registry();
  for (const { name, help, type, samples } of figures) {
    // Without label names, the library would report 0 for a metric that has no sample.
    const labelNames = samples.length === 0 ? ['none'] : Object.keys(samples[0]!.labels);
    const Metric = type === 'gauge' ? Gauge : Counter;
    const metric = new Metric({ name, help, labelNames, registers: [registry] });
    for (const { labels, value } of samples) metric.inc(labels, value);
  }
  return await registry.metrics();
}
