import { messageOf } from '../../base/errors.js';
import { randomUUID } from 'node:crypto';
import type { Log } from '../../base/log.js';
import { LeaseWatch, type Clocks, Stopwatch, systemClocks, whileHeld } from '../../base/lease.js';
import type { StatusSources } from '../read-status.js';
import type { Config, AlertReceiver } from '../../config/config.js';
import type { Ledger } from '../../ledger/ledger.js';
import {
  dropOldMessages,
  endReceiverLeases,
  forgetRaised,
  knowReceivers,
  noteDelivered,
  noteFailed,
  releaseReceiver,
  takeMessage,
  readAlerts,
  receiverStates,
} from './alert-store.js';
import { LedgerError } from '../../ledger/ledger-error.js';
import { currentConfiguration } from '../../ledger/configurations.js';
import { isEvent, messageTraits, problemCodes } from '../problems.js';
import { alertText, testText } from './alert-text.js';
import { defaultRecoveryDelays, defaultRateLimit } from './judge-alert.js';
import { checkAlerts } from './check-alerts.js';
import {
  type OpenReceiver,
  receiverKey,
  receiverTimeoutMs,
  openSlackReceiver,
  openWebhookReceiver,
  openSmtpReceiver,
} from './receivers.js';
import { networkSettings } from '../../delivering/open-sinks.js';
import { grouped } from '../../base/words.js';
import { alertsSchema as configuredAlerts } from '../../config/schema/operations.js';
import { formatDuration } from '../../config/values.js';
import { z } from '@hono/zod-openapi';
import { instant } from '../../base/printable.js';

/** Raised alerts and the state of the receivers, as the API shows them. */
export const alertsSchema = z
  .object({
    raised: z
      .array(
        z.object({
          occasion: z.string().describe('Key of `alerts.when` in the configuration.'),
          problem: z
            .enum(problemCodes)
            .nullable()
            .describe('Code of the problem, as in `GET /api/status` and `pigeonpost_problems`.'),
          subject: z.string().describe('Name of a sink or a workspace, or `<workspace>/<id>` of a pigeonhole.'),
          since: instant().describe('When the condition was noticed; if it is over, when that was noticed.'),
          isOver: z
            .boolean()
            .describe('Whether the condition no longer holds. The recovery is reported if it does not return soon.'),
          title: z.string(),
          todo: z.string().nullable().describe('What to do.'),
        }),
      )
      .readonly()
      .describe('Raised alerts whose recovery was not reported yet, oldest first.'),
    receivers: z
      .array(
        z.object({
          receiver: z.string().describe('Type and address of the receiver, without credentials.'),
          waiting: z.int().describe('Number of alerts that it has not accepted yet.'),
          failingSince: instant().nullable(),
          failure: z.string().nullable(),
          deliveredAt: instant().nullable(),
        }),
      )
      .readonly()
      .describe('In the order of the configuration; empty: nobody receives alerts.'),
    when: z
      .array(
        z.object({
          occasion: z.string().describe('Key of `alerts.when` in the configuration.'),
          on: z.boolean().describe('Whether the configuration wants this alert.'),
          limit: z.string().nullable().describe('The number or duration in the configuration; null: it has none.'),
          says: z.string().describe('The condition, as a sentence.'),
        }),
      )
      .readonly()
      .describe('The conditions that the configuration can select.'),
  })
  .openapi('Alerts');

export type AlertsView = z.infer<typeof alertsSchema>;

/** Duration of the lease with which one process sends to a receiver; longer than any attempt. */
const leaseMs = receiverTimeoutMs * 3;
/** An alert that a receiver has not accepted within this time is dropped. */
const giveUpAfterMs = 24 * 60 * 60_000;

const defaultAlertTimes = {
  checkEveryMs: 5000,
  calm: defaultRecoveryDelays,
  pace: defaultRateLimit,
};

interface AlertDeskOptions {
  /** The current sources: another configuration may have other receivers. */
  readonly sources: () => StatusSources;
  /** Name of this process among those that use the ledger. */
  readonly owner: string;
  /** No other process uses the ledger. */
  readonly isAlone: boolean;
  /** Public address of this installation, without a final slash; null: not known. */
  readonly publicUrl: () => string | null;
  readonly log: Log;
  readonly times?: typeof defaultAlertTimes;
  /** The system's, unless a test passes others. */
  readonly clocks?: Clocks;
}

/** Result of a test message at one receiver. */
interface TestedReceiver {
  readonly receiver: string;
  readonly delivered: boolean;
  /** Why it failed, as a sentence without secrets; null: it arrived. */
  readonly detail: string | null;
}

/**
 * Sends alerts (decision 0030). Every few seconds, one of the processes checks all conditions, and writes the messages
 * and the incidents to the ledger. Each receiver gets its messages separately, so that a receiver that fails or hangs delays no other.
 * The ledger holds all state, so the process may end at any instant.
 */
export class AlertDesk {
  readonly #stopping = new AbortController();
  #opened: { readonly config: Config; readonly receivers: readonly OpenReceiver[] } | undefined;
  #opening: Promise<unknown> = Promise.resolve();
  readonly #sending = new Map<string, Promise<void>>();
  #checking: Promise<void> | undefined;
  /** Closes receivers that another configuration has replaced. */
  #closing: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly options: AlertDeskOptions) {}

  /** Starts to check and to send. */
  start(): void {
    const { checkEveryMs } = this.options.times ?? defaultAlertTimes;
    this.#timer = setInterval(() => {
      // No check starts while the previous one is in progress.
      this.#checking ??= this.check()
        .catch((error: unknown) => {
          this.options.log.warn({ error: messageOf(error) }, 'alert check failed');
        })
        .finally(() => {
          this.#checking = undefined;
        });
    }, checkEveryMs);
  }

  /** Checks once and starts to send the waiting messages; does not wait for the receivers. */
  async check(): Promise<void> {
    const sources = this.options.sources();
    const receivers = await this.#receivers(sources.config);
    const { alerts } = sources.config;
    // A process with another configuration would forget the alerts of conditions that it does not check.
    if ((await currentConfiguration(sources.ledger)) !== sources.configuration) return;
    await this.#giveUpOldOnes(sources.ledger); // including messages for receivers that are no longer configured
    if (alerts === undefined) await forgetRaised(sources.ledger); // nothing would find that their conditions are over
    const { checkEveryMs, calm, pace } = this.options.times ?? defaultAlertTimes;
    const keys = receivers.map((receiver) => receiverKey(sources.ledger, receiver));
    const written = await checkAlerts(sources, alerts, {
      receivers: [...new Set(keys)],
      everyMs: checkEveryMs,
      calm,
      pace,
    });
    if (written > 0) {
      this.options.log.info({ alerts: written, receivers: keys.length }, 'alerts written');
    }
    for (const receiver of receivers) this.#send(sources.ledger, receiver);
  }

  /** Resolves when the messages in progress have arrived or failed. */
  async sent(): Promise<void> {
    await Promise.all(this.#sending.values());
  }

  /** Sends one test message to each receiver. */
  async test(): Promise<TestedReceiver[]> {
    const receivers = await this.#receivers(this.options.sources().config);
    return await testReceivers(receivers, this.options.publicUrl(), this.#stopping.signal);
  }

  async view(): Promise<AlertsView> {
    const { ledger, config } = this.options.sources();
    return { ...(await viewAlerts(ledger, await this.#receivers(config))), when: viewConditions(config) };
  }

  /** Returns the name of each configured receiver by its key in the ledger. */
  async receiverNames(): Promise<ReadonlyMap<string, string>> {
    const { ledger, config } = this.options.sources();
    const receivers = await this.#receivers(config);
    return new Map(receivers.map((receiver) => [receiverKey(ledger, receiver), receiver.name]));
  }

  /** Aborts the messages being sent; the next process sends them again. A second call does nothing. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#stopping.abort();
    await this.#checking;
    await this.sent();
    await this.#opening;
    await this.#closing;
    const opened = this.#opened;
    this.#opened = undefined;
    await closeAll(opened?.receivers ?? []);
  }

  /** Returns the receivers of this configuration. One call after another, so that each receiver is opened and closed once. */
  #receivers(config: Config): Promise<readonly OpenReceiver[]> {
    const mine = this.#opening.then(() => this.#open(config));
    this.#opening = mine.catch(() => undefined);
    return mine;
  }

  /** Opens the receivers unless they are open. Messages in progress to the previous receivers finish first. */
  async #open(config: Config): Promise<readonly OpenReceiver[]> {
    if (this.#opened?.config === config) return this.#opened.receivers;
    const before = this.#opened;
    const { ledger } = this.options.sources();
    const receivers = openReceivers(config, ledger.clock.nowMs);
    const keys = receivers.map((receiver) => receiverKey(ledger, receiver));
    if (keys.length > 0) await knowReceivers(ledger, keys);
    if (before === undefined && this.options.isAlone) await endReceiverLeases(ledger);
    this.#opened = { config, receivers };
    if (before !== undefined) this.#closing = this.sent().then(() => closeAll(before.receivers));
    return receivers;
  }

  #send(ledger: Ledger, receiver: OpenReceiver): void {
    const key = receiverKey(ledger, receiver);
    if (this.#sending.has(key) || this.#stopping.signal.aborted) return;
    const sending = this.#sendAll(ledger, receiver, key)
      .catch((error: unknown) => {
        this.options.log.warn({ receiver: receiver.name, error: messageOf(error) }, 'sending alerts failed');
      })
      .finally(() => this.#sending.delete(key));
    this.#sending.set(key, sending);
  }

  /** Sends the waiting messages of a receiver in their order, until one fails. */
  async #sendAll(ledger: Ledger, receiver: OpenReceiver, key: string): Promise<void> {
    const { owner, log, clocks = systemClocks } = this.options;
    const { signal } = this.#stopping;
    for (;;) {
      const takenAt = new Stopwatch(clocks);
      const message = await takeMessage(ledger, key, { owner, leaseMs });
      if (message === undefined) return;
      const { id, createdAt: at, code, kind, subjects } = message;
      const { occasion } = messageTraits(code);
      const text = alertText(message, this.options.publicUrl());
      const watch = new LeaseWatch(
        async () => {
          const again = await takeMessage(ledger, key, { owner, leaseMs });
          if (again?.number !== message.number) throw new LedgerError('stale', 'another process sends these alerts');
        },
        clocks,
        takenAt,
      );
      const outcome = await whileHeld(
        () => watch.confirm(),
        () => receiver.send({ id, at, occasion, kind, subjects, ...text }, signal),
      );
      const facts = { receiver: receiver.name, alert: id, occasion, kind, subjects: subjects.length };
      if (outcome.kind === 'delivered') {
        await noteDelivered(ledger, key, { message, owner });
        log.info(facts, 'alert delivered');
        continue;
      }
      if (signal.aborted) {
        await releaseReceiver(ledger, key, owner); // the receiver did not fail, so nothing is counted against it
        return;
      }
      const retryInMs = retryWaitMs(message.failures, outcome.afterMs);
      const isNoted = await noteFailed(ledger, key, { detail: outcome.detail, retryInMs, owner });
      await this.#giveUpOldOnes(ledger);
      if (isNoted && message.failures === 0)
        log.warn({ ...facts, detail: outcome.detail, retryInMs }, 'alert not delivered');
      return;
    }
  }

  async #giveUpOldOnes(ledger: Ledger): Promise<void> {
    const dropped = await dropOldMessages(ledger, giveUpAfterMs);
    if (dropped > 0) this.options.log.error({ alerts: dropped }, 'alerts dropped: not accepted for a day');
  }
}

/** Sends a test message to each receiver. Never throws. */
async function testReceivers(
  receivers: readonly OpenReceiver[],
  publicUrl: string | null,
  signal: AbortSignal,
): Promise<TestedReceiver[]> {
  const alert = { id: randomUUID(), at: new Date(), occasion: 'test', kind: 'happened', subjects: [] } as const;
  return await Promise.all(
    receivers.map(async (receiver) => {
      const outcome = await receiver.send({ ...alert, ...testText(publicUrl) }, signal);
      const detail = outcome.kind === 'delivered' ? null : outcome.detail;
      return { receiver: receiver.name, delivered: outcome.kind === 'delivered', detail };
    }),
  );
}

async function closeAll(receivers: readonly OpenReceiver[]): Promise<void> {
  await Promise.all(receivers.map((receiver) => receiver.close()));
}

/** Returns the raised alerts and the state of the configured receivers. */
async function viewAlerts(ledger: Ledger, receivers: readonly OpenReceiver[]): Promise<Omit<AlertsView, 'when'>> {
  const keys = receivers.map((receiver) => receiverKey(ledger, receiver));
  const [rows, states] = await Promise.all([readAlerts(ledger), receiverStates(ledger, keys)]);
  return {
    raised: rows
      .filter(({ announced, code }) => announced && !isEvent(code))
      .toSorted((a, b) => a.since.getTime() - b.since.getTime())
      .map((row) => {
        const { title, todo, problem } = alertText({ ...row, subjects: [row.subject], kind: 'raised' }, null);
        const { code, subject, since, holds } = row;
        const { occasion } = messageTraits(code);
        return { occasion, problem, subject, since: since.toISOString(), isOver: !holds, title, todo };
      }),
    receivers: receivers.map(({ name }, position) => {
      const state = states.find(({ receiver }) => receiver === keys[position]);
      return {
        receiver: name,
        waiting: state?.waiting ?? 0,
        failingSince: state?.failingSince?.toISOString() ?? null,
        failure: state?.failure ?? null,
        deliveredAt: state?.deliveredAt?.toISOString() ?? null,
      };
    }),
  };
}

/** Without receivers, no condition is selected. */
function viewConditions({ alerts }: Pick<Config, 'alerts'>): AlertsView['when'] {
  const { shape } = configuredAlerts.unwrap().shape.when.unwrap();
  return Object.entries(shape).map(([occasion, schema]) => {
    const value = alerts?.when[occasion as keyof typeof shape] ?? false;
    const limit =
      typeof value !== 'number' ? null : occasion === 'dead-letters' ? grouped(value) : formatDuration(value);
    return { occasion, on: value !== false, limit, says: schema.description ?? '' };
  });
}

const firstMs = 5_000;
const longestMs = 10 * 60_000;

/**
 * Returns the time before the next attempt: 5 s, doubled with each failure in a row up to 10 min, and at least the time
 * that the receiver requested. Pure.
 * @param failures in a row before this one
 */
function retryWaitMs(failures: number, afterMs = 0): number {
  return Math.max(afterMs, Math.min(longestMs, firstMs * 2 ** Math.min(failures, 20)));
}

/**
 * Opens the receivers of a configuration, in its order, without connecting to them. The caller closes them.
 * @param now the clock that stamps messages: Unix time in ms
 */
function openReceivers(config: Config, now: () => number): OpenReceiver[] {
  const network = networkSettings(config);
  const open = (receiver: AlertReceiver): OpenReceiver => {
    switch (receiver.type) {
      case 'slack':
        return openSlackReceiver(receiver, network, now);
      case 'webhook':
        return openWebhookReceiver(receiver, network, now);
      case 'smtp':
        return openSmtpReceiver(receiver, network);
      default:
        return receiver satisfies never;
    }
  };
  return (config.alerts?.to ?? []).map(open);
}

/** Sends a test message to the receivers of a configuration. Needs neither a store nor a running process. */
export async function testAlerts(config: Config): Promise<TestedReceiver[]> {
  const receivers = openReceivers(config, Date.now);
  try {
    return await testReceivers(receivers, config.server.publicUrl ?? null, new AbortController().signal);
  } finally {
    await closeAll(receivers);
  }
}
