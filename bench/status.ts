import { monitorEventLoopDelay } from 'node:perf_hooks';
import { readLedgerText } from '../api/metrics/serve-metrics.js';
import { outcomeCounts } from '../delivering/read-lanes.js';
import { openDatabase } from '../ledger/drivers/open-database.js';
import type { Ledger } from '../ledger/ledger.js';
import { checkAlerts } from '../operations/alerts/check-alerts.js';
import { defaultRateLimit, defaultRecoveryDelays } from '../operations/alerts/judge-alert.js';
import { readSnapshot, readStatus, type StatusSources } from '../operations/read-status.js';
import { StatusMemory } from '../operations/status-memory.js';
import { viewQuotas } from '../operations/status-view.js';
import { forecastNeeds } from '../reading/demand.js';
import { rememberForecast } from '../requests/remembered-forecast.js';
import { withStage } from './processes/stage.js';
import { type Bench, type BenchReport, median, storeKinds } from './report.js';
import { fillLedger, type LedgerSize, openFilled } from './status/fill-ledger.js';

const sizes: Readonly<Record<(typeof storeKinds)[number], number>> = { postgres: 10_000_000, embedded: 400_000 };
const rounds = 7;

/**
 * Measures the answers for operators and their monitoring: how long each takes, and for how long the process does nothing
 * else. Runs in this process, on a synthetic ledger in which one of the sinks is down.
 */
export const status: Bench = {
  name: 'status',
  about: 'status, metrics and alerts with 1,000 pigeonholes and 8 sinks; --items: deliveries in the ledger',
  async run(options, report) {
    await withStage({ attendees: 1, pigeonholes: 1 }, async (stage) => {
      for (const kind of options.store === undefined ? storeKinds : [options.store]) {
        const folder = stage.nextFolder();
        const size: LedgerSize = { pigeonholes: 1000, sinks: 8, deliveries: options.items ?? sizes[kind] };
        const db = await openDatabase(await stage.freshStore(kind, folder));
        try {
          const filled = await openFilled(db, folder, size);
          const startedMs = performance.now();
          await fillLedger(filled.ledger, size);
          const forecast = rememberForecast(forecastNeeds);
          const seconds = Math.round((performance.now() - startedMs) / 1000);
          report.note(`${kind}: ${size.deliveries.toLocaleString('en')} deliveries written in ${seconds} s`);
          await measure(
            {
              ...filled,
              memory: new StatusMemory(),
              trouble: () => null,
              quotas: () => viewQuotas(filled.config, filled.ledger, filled.ledger.clock.nowMs(), forecast),
            },
            kind,
            report,
          );
        } finally {
          await db.close();
        }
      }
    });
  },
};

type Measured = StatusSources & Required<Pick<StatusSources, 'memory'>>;

async function measure(sources: Measured, kind: string, report: BenchReport): Promise<void> {
  const { ledger, config, memory } = sources;
  const asked: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['status', async () => JSON.stringify(await readStatus(sources, false))],
    ['/metrics', () => readLedgerText({ ...sources, version: '0' })],
    [
      'alert round',
      () =>
        checkAlerts(sources, config.alerts!, {
          receivers: [],
          everyMs: 0,
          calm: defaultRecoveryDelays,
          pace: defaultRateLimit,
        }),
    ],
    ['outcomes of the sink that is down', () => outcomesOf(sources)],
    ['status --counts', async () => JSON.stringify(await readStatus(sources, true))],
  ];
  for (const [what, ask] of asked) {
    const times: number[] = [];
    const pauses: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      await readAll(ledger);
      memory.forget(); // otherwise, the answer of the previous round would be shared
      const watch = monitorEventLoopDelay({ resolution: 1 });
      watch.enable();
      const startedMs = performance.now();
      await ask();
      times.push(performance.now() - startedMs);
      watch.disable();
      pauses.push(watch.max / 1e6);
    }
    const has = what === 'status --counts' ? {} : { must: { atMost: 200 }, aim: { atMost: 50 } };
    report.figure({ what: `${kind}: ${what}`, value: median(times), unit: 'ms', ...has });
    report.figure({
      what: `${kind}: ${what}, longest pause of the event loop`,
      value: median(pauses),
      unit: 'ms',
      must: { atMost: 50 },
      aim: { atMost: 20 },
    });
  }
}

async function outcomesOf(sources: Measured): Promise<unknown> {
  const sink = Object.keys(sources.config.sinks).at(-1)!;
  const { lanes } = await readSnapshot(sources, null);
  const behind = lanes.filter((lane) => lane.sink === sink);
  return await outcomeCounts(sources.ledger, { sink, workspace: null, behind, sentBy: sources.config });
}

/** Makes all lists up to date, as reading would. Otherwise, more and more of them would be late. */
async function readAll(ledger: Ledger): Promise<void> {
  await ledger.db.query(`update streams set polled_at = now(), due_at = now() + every_ms * interval '1 millisecond'`);
}
