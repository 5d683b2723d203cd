import { randomUUID } from 'node:crypto';
import type { Log } from '../../work/collaborators.js';
import { LeaseWatch } from '../../work/lease-watch.js';
import { Stopwatch, systemClocks } from '../../base/stopwatch.js';
import type { AlertsView } from '../../api/alerts.js';
import type { StatusSources } from '../../api/status.js';
import type { Config } from '../../config/config.js';
import type { Ledger } from '../../ledger/ledger.js';
import {
  dropOldMessages,
  endReceiverLeases,
  knowReceivers,
  noteDelivered,
  noteFailed,
  releaseReceiver,
  takeMessage,
} from './messages.js';
import { LedgerError } from '../../ledger/ledger-error.js';
import { currentConfiguration } from '../../ledger/configurations.js';
import { whileHeld } from '../../sinks/while-held.js';
import { alertText, testText } from './alert-text.js';
import { type Calm, usualCalm } from './judge-alert.js';
import { look } from './look.js';
import { type Pace, usualPace } from './pace-messages.js';
import { openReceivers } from './receivers/open-receivers.js';
import type { OpenReceiver } from './receivers/receiver.js';
import { receiverKey } from './receivers/receiver-key.js';
import { receiverTimes } from './receivers/receiver-times.js';
import { retryWaitMs } from './retry-wait.js';
import { viewAlerts } from './view-alerts.js';

/** How one process at a time has the right to send to a receiver: longer than any attempt takes. */
const leaseMs = receiverTimes.requestTimeoutMs * 3;
/** What a receiver has not taken for so long is no news any more. */
const giveUpAfterMs = 24 * 60 * 60_000;

export interface AlertTimes {
  readonly lookEveryMs: number;
  readonly calm: Calm;
  readonly pace: Pace;
}

export const usualAlertTimes: AlertTimes = { lookEveryMs: 5000, calm: usualCalm, pace: usualPace };

export interface AlertDeskOptions {
  /** Those of this moment: another configuration may have other receivers. */
  readonly sources: () => StatusSources & { readonly config: Config };
  /** This process among all that use the ledger. */
  readonly owner: string;
  /** No other process uses the ledger. */
  readonly isAlone: boolean;
  /** By which people reach this installation, without a slash at its end; null: not known. */
  readonly publicUrl: () => string | null;
  readonly log: Log;
  readonly times?: AlertTimes;
}

/** What became of a test at one receiver. */
export interface TestedReceiver {
  readonly receiver: string;
  readonly delivered: boolean;
  /** Why not; a sentence without secrets. */
  readonly detail: string | null;
}

/**
 * Tells people what is worth telling (decision 0030). Looks every few seconds, one process of all; sends what the ledger
 * says is to be sent, to each receiver by itself, so that one that fails or hangs holds nobody up. Everything it knows
 * stands in the ledger: it may end at any instant.
 */
export class AlertDesk {
  readonly #stopping = new AbortController();
  #opened: { readonly config: Config; readonly receivers: readonly OpenReceiver[] } | undefined;
  readonly #sending = new Map<string, Promise<void>>();
  #looking: Promise<void> | undefined;
  /** Of receivers that another configuration has replaced. */
  #closing: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly options: AlertDeskOptions) {}

  /** Begins to look and to send. */
  start(): void {
    const { lookEveryMs } = this.options.times ?? usualAlertTimes;
    this.#timer = setInterval(() => {
      // A look that takes long is not asked for twice.
      this.#looking ??= this.turn()
        .catch((error: unknown) => {
          const message = error instanceof Error ? error.message : String(error);
          this.options.log.warn({ error: message }, 'looking for what to alert failed');
        })
        .finally(() => {
          this.#looking = undefined;
        });
    }, lookEveryMs);
  }

  /** Looks once, and begins to send whatever waits; does not wait for receivers. */
  async turn(): Promise<void> {
    const sources = this.options.sources();
    const receivers = await this.#receivers(sources.config);
    const { alerts } = sources.config;
    if (alerts === undefined) return;
    // A process with another file than the current one would forget what it does not look for, and tell others.
    if ((await currentConfiguration(sources.ledger)) !== sources.configuration) return;
    const { lookEveryMs, calm, pace } = this.options.times ?? usualAlertTimes;
    const keys = receivers.map((receiver) => receiverKey(sources.ledger, receiver));
    const written = await look(sources, alerts, { receivers: [...new Set(keys)], everyMs: lookEveryMs, calm, pace });
    if (written > 0) {
      this.options.log.info({ alerts: written, receivers: keys.length }, 'alerts written');
      await this.#giveUpOldOnes(sources.ledger); // those to receivers that are no longer configured among them
    }
    for (const receiver of receivers) this.#send(sources.ledger, receiver);
  }

  /** Ends when what is being sent has arrived or failed; for tests, which must not wait for a time. */
  async sent(): Promise<void> {
    await Promise.all(this.#sending.values());
  }

  /** Sends everybody a message that says that it is a test, at once and once. */
  async test(): Promise<TestedReceiver[]> {
    const receivers = await this.#receivers(this.options.sources().config);
    return await testReceivers(receivers, this.options.publicUrl(), this.#stopping.signal);
  }

  async view(): Promise<AlertsView> {
    const { ledger, config } = this.options.sources();
    return await viewAlerts(ledger, await this.#receivers(config));
  }

  /** What is being sent is cut short and sent again by whoever comes next. A second call does nothing. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#stopping.abort();
    await this.#looking;
    await this.sent();
    await this.#closing;
    const opened = this.#opened;
    this.#opened = undefined;
    await closeAll(opened?.receivers ?? []);
  }

  /** Those of this configuration, opened when it is new. What is sent to those before ends by itself. */
  async #receivers(config: Config): Promise<readonly OpenReceiver[]> {
    if (this.#opened?.config === config) return this.#opened.receivers;
    const before = this.#opened;
    const { ledger } = this.options.sources();
    const receivers = openReceivers(config);
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
        const message = error instanceof Error ? error.message : String(error);
        this.options.log.warn({ receiver: receiver.name, error: message }, 'sending alerts failed');
      })
      .finally(() => this.#sending.delete(key));
    this.#sending.set(key, sending);
  }

  /** Everything that waits for a receiver, in its order, until it fails. */
  async #sendAll(ledger: Ledger, receiver: OpenReceiver, key: string): Promise<void> {
    const { owner, log } = this.options;
    const { signal } = this.#stopping;
    for (;;) {
      const takenAt = new Stopwatch();
      // oxlint-disable-next-line no-await-in-loop -- one after another, in their order
      const message = await takeMessage(ledger, key, { owner, leaseMs });
      if (message === undefined) return;
      const { id, createdAt: at, occasion, kind, subjects } = message;
      const text = alertText(message, this.options.publicUrl());
      const watch = new LeaseWatch(
        async () => {
          const again = await takeMessage(ledger, key, { owner, leaseMs });
          if (again?.number !== message.number) throw new LedgerError('stale', 'another process sends these alerts');
        },
        systemClocks,
        takenAt,
      );
      // oxlint-disable-next-line no-await-in-loop
      const outcome = await whileHeld(
        () => watch.confirm(),
        () => receiver.send({ id, at, occasion, kind, subjects, ...text }, signal),
      );
      const facts = { receiver: receiver.name, alert: id, occasion, kind, subjects: subjects.length };
      if (outcome.kind === 'delivered') {
        // oxlint-disable-next-line no-await-in-loop
        await noteDelivered(ledger, key, message);
        log.info(facts, 'alert delivered');
        continue;
      }
      if (signal.aborted) {
        // oxlint-disable-next-line no-await-in-loop
        await releaseReceiver(ledger, key, owner); // no fault of the receiver's
        return;
      }
      const retryInMs = retryWaitMs(message.failures, outcome.afterMs);
      // oxlint-disable-next-line no-await-in-loop
      await noteFailed(ledger, key, { detail: outcome.detail, retryInMs });
      // oxlint-disable-next-line no-await-in-loop
      await this.#giveUpOldOnes(ledger);
      if (message.failures === 0) log.warn({ ...facts, detail: outcome.detail, retryInMs }, 'alert not delivered');
      return;
    }
  }

  async #giveUpOldOnes(ledger: Ledger): Promise<void> {
    const dropped = await dropOldMessages(ledger, giveUpAfterMs);
    if (dropped > 0) this.options.log.error({ alerts: dropped }, 'alerts given up: not taken for a day');
  }
}

/** Sends each of them a test. Never throws. */
export async function testReceivers(
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
