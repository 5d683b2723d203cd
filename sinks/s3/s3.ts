import { mayReachPrivate } from '../network/address-policy.js';
import { createDispatcher } from '../network/create-dispatcher.js';
import { underOwnSignal } from '../network/within-deadline.js';
import type { EraseResult, Lane, SendResult, Sink, SinkEnvironment, SinkType } from '../sink.js';
import { checkStore } from './check.js';
import type { Failure } from './classify.js';
import { bucketUrl, S3Client } from './client.js';
import { s3ConfigSchema, type S3Config } from './config.js';
import { eraseObjects } from './erase.js';
import { claimPrefix, readMarker, refusal, type Store } from './store.js';
import { compareLine, type HeldObjectLine, ObjectFinder, readLines } from './read-back.js';
import { acceptObjects, removeLines } from './repair-objects.js';
import { deferralMs, previewOf, type S3Operation, toS3Operation } from './objects.js';
import { recoverBatch, writeBatch } from './send.js';
import { putWholeObject, removeWholeObject } from './whole-object.js';
import { s3Causes, s3Reasons } from './reasons.js';

const CONNECT_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 60_000;
/** Maximum number of connections, for lanes that send at the same time and for the reads of an erasure. */
const CONNECTIONS = 16;

/**
 * Creates the sink that writes NDJSON objects by list and day. It writes each change exactly once; README.md explains
 * how.
 */
export function createS3Sink(config: S3Config, environment: SinkEnvironment): Sink<S3Operation> {
  const { now, requestTimeoutMs = REQUEST_TIMEOUT_MS } = environment;
  const url = bucketUrl(config);
  const dispatcher = createDispatcher(url, environment.network, {
    allowPrivateAddresses: mayReachPrivate(url, config),
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    connections: CONNECTIONS,
  });
  const store: Store = { config, client: new S3Client({ config, dispatcher, requestTimeoutMs, now }) };
  const finder = new ObjectFinder(store);
  let isClaimed = false;

  async function claim({ ledgerId }: Pick<Lane, 'ledgerId'>, signal: AbortSignal): Promise<Failure | undefined> {
    if (isClaimed) return undefined;
    const refusal = await claimPrefix(store, { ledgerId, sink: environment.name }, signal);
    isClaimed = refusal === undefined;
    return refusal;
  }

  return {
    traits: {
      order: 'pigeonhole',
      needsContext: false,
      revisions: 'every',
      repeats: 'lookUp',
      batchSize: config.maxLines,
    },
    check: (signal) => underOwnSignal(signal, (own) => checkStore(store, environment.name, own)),
    plan: (subjects) =>
      Promise.resolve(subjects.map((subject) => ({ kind: 'send', operation: toS3Operation(subject) }))),
    preview: (operation) => [previewOf(operation, config)],
    async send(operations, lane, signal): Promise<SendResult> {
      if (signal.aborted || operations.length === 0) return { outcomes: operations.map(() => ({ kind: 'unsent' })) };
      const { maxAge: maxAgeMs, maxLines } = config;
      const afterMs = deferralMs(operations, { maxAgeMs, maxLines, nowMs: now() });
      if (afterMs !== undefined) return { outcomes: operations.map(() => ({ kind: 'unsent', afterMs })) };
      return await underOwnSignal(signal, async (own) => {
        const refusal = await claim(lane, own);
        if (refusal !== undefined) {
          const first = toRepeat(refusal);
          return { outcomes: operations.map((_, at) => (at === 0 ? first : { kind: 'unsent' })) };
        }
        return await writeBatch(store, operations, lane, own);
      });
    },
    recover(operations, lane, signal) {
      if (signal.aborted) {
        const outcome = { kind: 'unknown', detail: 'stopped before the look-up' } as const;
        return Promise.resolve({ outcomes: operations.map(() => outcome) });
      }
      return underOwnSignal(signal, (own) => recoverBatch(store, operations, lane, own));
    },
    erase: (erased, lane, signal): Promise<EraseResult> =>
      underOwnSignal(signal, (own) => eraseObjects(store, erased, lane, own)),
    async readBack(wanted, lane, signal) {
      return await underOwnSignal(signal, async (own) => {
        const refused = await refusalOf(lane, own);
        const isForeign = refused?.kind === 'pause' && refused.cause === 'destination';
        return isForeign ? wanted.map(() => refused) : await readLines(store, finder, wanted, { lane, signal: own });
      });
    },
    compareHeld: (operation, held) => compareLine(operation, held as HeldObjectLine),
    async acceptHeld(lane, signal) {
      return await underOwnSignal(
        signal,
        async (own) => (await refusalOf(lane, own)) ?? (await acceptObjects(store, lane, own)),
      );
    },
    async removeHeld(extras, lane, signal) {
      return await underOwnSignal(signal, async (own) => {
        const refused = await refusalOf(lane, own);
        if (refused === undefined) return await removeLines(store, finder, extras, { lane, signal: own });
        return extras.map(() => refused);
      });
    },
    putFile: ({ name, bytes }, ledgerId, signal) =>
      underOwnSignal(signal, async (own) => {
        const failure = (await claim({ ledgerId }, own)) ?? (await putWholeObject(store, name, bytes, own));
        return failure === undefined ? { kind: 'delivered' } : toRepeat(failure);
      }),
    removeFile: (name, signal) =>
      underOwnSignal(signal, async (own) => {
        const failure = await removeWholeObject(store, name, own);
        return failure === undefined ? { kind: 'delivered' } : toRepeat(failure);
      }),
    close: () => dispatcher.close(),
  };

  /** Returns why this sink may not read or change the objects under its prefix; undefined if it may. */
  async function refusalOf({ ledgerId }: Lane, signal: AbortSignal): Promise<Refusal | undefined> {
    const refused = refusal(await readMarker(store, signal), { ledgerId, sink: environment.name }, config.prefix);
    return refused && toRepeat(refused);
  }
}

type Refusal = Exclude<Failure, { readonly kind: 'unknown' }>;

/** A request that can be repeated without harm failed, even if it took effect. */
function toRepeat(failure: Failure): Refusal {
  return failure.kind === 'unknown' ? { kind: 'retry', detail: failure.detail } : failure;
}

export const s3SinkType: SinkType<S3Config> = {
  type: 's3',
  configSchema: s3ConfigSchema,
  acceptsByDefault: ['obtained'],
  mappingKeys: [],
  reasons: s3Reasons,
  causes: s3Causes,
  lists: () => 'all',
  destination: (config) => `${bucketUrl(config).href}${config.prefix}`,
  create: createS3Sink,
};
