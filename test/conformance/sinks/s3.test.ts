import { gunzipSync, gzipSync } from 'node:zlib';
import { Secret } from '../../../config/secret.js';
import type { Change, ErasedItems } from '../../../sinks/change.js';
import { operationsFor } from '../../../sinks/plan-of.test-kit.js';
import { s3ConfigSchema } from '../../../sinks/s3/config.js';
import { createS3Sink, s3SinkType } from '../../../sinks/s3/s3.js';
import type { S3Operation } from '../../../sinks/s3/objects.js';
import type { Lane, Outcome, ReadBack, Sink } from '../../../sinks/sink.js';
import {
  errorAnswer,
  freshAccount,
  type BucketOptions,
  type Right,
  startS3Double,
  type S3Double,
} from '../../../sandbox/s3/start-s3-double.js';
import { Courier, type Destination, type Fault } from './destination.js';
import { storyOf } from './generated-changes.js';
import { describeLogReadBack } from './log-read-back.js';
import { Gate, type GateMode } from './gate.js';
import { describeSink } from './sink-conformance.js';
import { environmentOf, laneOf as laneWith } from '../../../sinks/sink-environment.test-kit.js';

/*
 * What the delivery engine relies on, for objects in a bucket of the S3 stand-in: each line once, whatever is lost or
 * killed. One file although it is long: the suite of all sinks and the tests of this one share its helpers.
 */

/** Behind all changes of the tests, so that none is put off. */
const nowMs = Date.parse('2027-01-15T12:00:30Z');
const now = (): number => nowMs;
const signal = new AbortController().signal;
const [key] = freshAccount.keys;

interface S3Destination extends Destination {
  readonly double: S3Double;
  readonly gate: Gate;
}

function sinkAt(
  port: number | string,
  keys: Record<string, unknown> = {},
  { clock = now, requestTimeoutMs = 60_000 } = {},
): Sink<S3Operation> {
  const config = s3ConfigSchema.parse({
    bucket: freshAccount.bucket,
    region: freshAccount.region,
    prefix: 'live/2026',
    endpoint: `http://127.0.0.1:${port}`,
    accessKeyId: key!.id,
    secretAccessKey: new Secret(key!.secret),
    ...keys,
  });
  return createS3Sink(config, environmentOf('lake', { now: clock, requestTimeoutMs }));
}

const portOf = ({ url }: S3Double): string => new URL(url).port;

const linesOf = (double: S3Double): string[] =>
  [...double.texts().values()].flatMap((text) => text.split('\n').slice(0, -1));

async function startDestination(): Promise<S3Destination> {
  const double = await startS3Double({ now });
  const gate = new Gate(Number(portOf(double)));
  const port = await gate.open();
  const patient = sinkAt(port);
  /** A sink with a short timeout, for a store that never answers. */
  const hurried = sinkAt(port, {}, { requestTimeoutMs: 400 });
  const fitting = (): Sink<S3Operation> => (gate.mode === 'silent' ? hurried : patient);
  return {
    sink: {
      ...patient,
      send: (...given) => fitting().send(...(given as Parameters<Sink<S3Operation>['send']>)),
      recover: (...given) => fitting().recover!(...(given as Parameters<Sink<S3Operation>['send']>)),
      check: (...given) => fitting().check(...given),
    },
    double,
    gate,
    secrets: [key!.secret],
    received: async () => linesOf(double).map((line) => ({ change: JSON.parse(line) as Change, bytes: line })),
    close: async () => {
      await patient.close();
      await hurried.close();
      await gate.close();
      await double.close();
    },
  };
}

const failing = (name: string, mode: GateMode): Fault<S3Destination> => ({
  name,
  begin: async ({ gate }) => gate.setMode(mode),
  repair: async ({ gate }) => gate.setMode('open'),
});

const refusing = (name: string, status: number, code: string): Fault<S3Destination> => ({
  name,
  begin: async ({ double }) =>
    double.faults.add({ effect: { kind: 'answer', answer: errorAnswer(status, code) }, times: 1000 }),
  repair: async ({ double }) => double.faults.clear(),
});

describeLogReadBack('s3', async () => {
  const destination = await startDestination();
  const { bucket } = destination.double;
  return {
    sink: destination.sink,
    lines: () => linesOf(destination.double),
    edit(edit) {
      for (const [name, text] of destination.double.texts()) {
        const edited = text.split('\n').slice(0, -1).flatMap(edit);
        const bytes = gzipSync(edited.map((line) => `${line}\n`).join(''));
        bucket.put(name, { ...bucket.objects.get(name)!, bytes });
      }
    },
    close: () => destination.close(),
  };
});

describeSink('s3', {
  type: s3SinkType,
  start: startDestination,
  faults: [
    failing('refuses connections', 'cut'),
    failing('never answers', 'silent'),
    failing('answers nonsense', 'garbage'),
    failing('stores and loses its answers', 'answer-lost'),
    refusing('asks to slow down', 503, 'SlowDown'),
    refusing('has an error of its own', 500, 'InternalError'),
    refusing('does not know the key', 403, 'InvalidAccessKeyId'),
    {
      name: 'stores objects and refuses their manifests',
      begin: async ({ double }) =>
        double.faults.add({
          effect: { kind: 'answer', answer: errorAnswer(503, 'SlowDown') },
          path: 'manifests',
          times: 1000,
        }),
      repair: async ({ double }) => double.faults.clear(),
    },
  ],
});

let double: S3Double;
const sinks: Sink<S3Operation>[] = [];

async function start(options: BucketOptions = {}): Promise<void> {
  double = await startS3Double({ now, ...options });
}

function newSink(keys: Record<string, unknown> = {}, clock = now): Sink<S3Operation> {
  const sink = sinkAt(portOf(double), keys, { clock });
  sinks.push(sink);
  return sink;
}

/** A lane as the ledger keeps it: `memory` is what was committed, so it outlives the sink that remembered it. */
function laneOf(memory: Record<string, unknown> = {}): Lane & { memory: Record<string, unknown> } {
  return {
    workspace: 'acme',
    pigeonholeId: 101,
    ledgerId: 'ledger-1',
    memory,
    remember: (more) => Promise.resolve(void Object.assign(memory, more)),
  };
}

afterEach(async () => {
  await Promise.all(sinks.splice(0).map((sink) => sink.close()));
  await double?.close();
});

/** A new process takes the lane over: it recovers, then sends what is left until nothing is. */
async function takeOver(changes: readonly Change[], lane: ReturnType<typeof laneOf>, keys = {}): Promise<Outcome[]> {
  const sink = newSink(keys);
  const operations = await operationsFor(sink, changes);
  const recovered = await sink.recover!(operations, lane, signal);
  Object.assign(lane.memory, recovered.memory);
  const left = operations.filter((_, at) => recovered.outcomes[at]?.kind !== 'delivered');
  if (left.length > 0) {
    const sent = await sink.send(left, lane, signal);
    Object.assign(lane.memory, sent.memory);
    expect(sent.outcomes.map(({ kind }) => kind)).toEqual(left.map(() => 'delivered'));
  }
  return [...recovered.outcomes];
}

function expectManifestsName(): void {
  const named = [...double.bucket.objects]
    .filter(([name]) => name.includes('/manifests/'))
    .flatMap(([, { bytes }]) => (JSON.parse(bytes.toString('utf8')) as { entries: { url: string }[] }).entries)
    .map(({ url }) => url.replace(`s3://${freshAccount.bucket}/`, ''));
  expect(named.toSorted()).toEqual([...double.texts().keys()]);
}

describe('an object that the store has only in part', () => {
  it('does not count as delivered, and is written again', async () => {
    await start();
    const { objects } = double.bucket;
    const put = objects.set.bind(objects);
    let damaged = 0;
    objects.set = (name, object) => {
      const isFirst = name.includes('.ndjson') && (damaged += 1) === 1;
      return put(name, isFirst ? { ...object, bytes: object.bytes.subarray(0, 9) } : object);
    };
    const lane = laneOf();
    const changes = storyOf({ items: 2, revisions: 1 });
    const sink = newSink();
    const sent = await sink.send(await operationsFor(sink, changes), lane, signal);
    expect(sent.outcomes[0]).toEqual({
      kind: 'unknown',
      detail: expect.stringContaining('does not have all of its bytes'),
    });
    Object.assign(lane.memory, sent.memory);
    await takeOver(changes, lane);
    expect(
      linesOf(double)
        .map((line) => (JSON.parse(line) as Change).id)
        .toSorted(),
    ).toEqual(changes.map(({ id }) => id).toSorted());
  });
});

/** The second store refuses `If-None-Match`, so a request that carries it is noticed. */
const stores: readonly (readonly [string, BucketOptions, Record<string, unknown>])[] = [
  ['a store with conditional writes', {}, {}],
  ['a store without conditional writes', { conditions: 'refused' }, { conditionalWrites: false }],
];

describe.each(stores)('the s3 sink after a kill, with %s', (_, options, keys) => {
  const story = storyOf({ items: 5, revisions: 6 });
  const [committed, inFlight] = [story.slice(0, 10), story.slice(10)];
  const expected = story.map(({ id }) => id).toSorted();
  const isConditional = options.conditions === undefined;
  const idsIn = (): string[] =>
    linesOf(double)
      .map((line) => (JSON.parse(line) as Change).id)
      .toSorted();

  beforeEach(() => start(options));

  async function sendCommitted(): Promise<ReturnType<typeof laneOf>> {
    const lane = laneOf();
    await sendParts([await operationsFor(newSink(keys), committed)], lane);
    return lane;
  }

  /** Sends and dies: nothing that the sink returns is committed. */
  async function die(lane: Lane, changes = inFlight): Promise<void> {
    const sink = newSink(keys);
    await sink.send(await operationsFor(sink, changes), lane, signal);
  }

  /** Sends batches as the engine does: what a batch leaves unsent is sent before the next one. */
  async function sendParts(parts: readonly (readonly S3Operation[])[], lane: ReturnType<typeof laneOf>): Promise<void> {
    const sink = newSink(keys);
    for (const part of parts) {
      for (let left = part; left.length > 0;) {
        const sent = await sink.send(left, lane, signal);
        Object.assign(lane.memory, sent.memory);
        const next = left.filter((__, at) => sent.outcomes[at]!.kind === 'unsent');
        expect(sent.outcomes.filter(({ kind }) => kind === 'delivered')).toHaveLength(left.length - next.length);
        expect(next.length).toBeLessThan(left.length);
        left = next;
      }
    }
  }

  /** Dies before any object is written. Returns the last request to write one, which arrives later. */
  async function dieWithLateRequest(lane: Lane, changes = inFlight) {
    double.faults.add({ effect: { kind: 'dropBefore' }, method: 'PUT', times: 1000 });
    await die(lane, changes);
    double.faults.clear();
    return double.requests.findLast(({ method, path }) => method === 'PUT' && !path.includes('_pigeonpost'))!;
  }

  async function recover(lane: ReturnType<typeof laneOf>, operations: readonly S3Operation[]): Promise<void> {
    Object.assign(lane.memory, (await newSink(keys).recover!(operations, lane, signal)).memory);
  }

  it.each(['dropBefore', 'dropAfter'] as const)(
    'has every line once, at whichever request it was killed (%s)',
    async (kind) => {
      const first = await sendCommitted();
      const before = double.requests.length;
      await die(first);
      const requests = double.requests.length - before;
      const seen = new Set<number>();
      for (let killedAt = 0; killedAt <= requests; killedAt += 1) {
        await double.close();
        await start(options);
        const lane = await sendCommitted();
        double.faults.add({ effect: { kind }, skip: killedAt, times: 1000 });
        await die(lane);
        double.faults.clear();
        const outcomes = await takeOver(inFlight, lane, keys);
        seen.add(outcomes.filter((outcome) => outcome.kind === 'delivered').length);
        expect([killedAt, idsIn()]).toEqual([killedAt, expected]);
        expectManifestsName();
      }
      expect(seen.size).toBeGreaterThan(2); // nothing, some objects, all
    },
  );

  it.each(['before', 'after'])(
    'has every line once if a request of the killed process arrives %s a repeat with more changes',
    async (when) => {
      const lane = await sendCommitted();
      const late = await dieWithLateRequest(lane, inFlight.slice(0, 3));
      const operations = await operationsFor(newSink(), inFlight);
      await recover(lane, operations.slice(0, 3));
      if (when === 'before') double.bucket.answer(late);
      await sendParts([operations], lane);
      if (when === 'after') expect(double.bucket.answer(late).status).toBe(isConditional ? 412 : 200);
      expect(idsIn()).toEqual(expected);
      expectManifestsName();
    },
  );

  it.each(['before', 'after'])(
    'loses no line if a request of the killed process arrives %s a repeat in smaller batches',
    async (when) => {
      const lane = await sendCommitted();
      const late = await dieWithLateRequest(lane);
      const operations = await operationsFor(newSink(), inFlight);
      await recover(lane, operations);
      if (when === 'before') double.bucket.answer(late);
      await sendParts([operations.slice(0, 3), operations.slice(3)], lane);
      if (when === 'after') expect(double.bucket.answer(late).status).toBe(isConditional ? 412 : 200);
      // Without conditional writes, the late request replaces the first of the smaller objects.
      const hasDoubles = when === 'after' && !isConditional;
      expect(hasDoubles ? [...new Set(idsIn())] : idsIn()).toEqual(expected);
      expectManifestsName();
    },
  );

  it('has every line once if a request arrives after the process was killed twice', async () => {
    const lane = await sendCommitted();
    const late = await dieWithLateRequest(lane);
    const operations = await operationsFor(newSink(), inFlight);
    const parts = [operations.slice(0, 3), operations.slice(3)];
    await recover(lane, operations);
    double.faults.add({ effect: { kind: 'dropBefore' }, method: 'PUT', times: 1000 });
    await newSink(keys).send(parts[0]!, lane, signal); // killed: nothing that it returns is committed
    double.faults.clear();
    await recover(lane, operations);
    double.bucket.answer(late);
    await sendParts(parts, lane);
    expect(idsIn()).toEqual(expected);
    expectManifestsName();
  });

  it('removes an object with a person who is no longer visible, and sends the current lines', async () => {
    const lane = await sendCommitted();
    await die(lane);
    const hidden = inFlight.map((change) => ({ ...change, data: { text: 'hidden' } }));
    await takeOver(hidden, lane, keys);
    expect(idsIn()).toEqual(expected);
    const lines = linesOf(double).filter((line) => line.includes('Ada Lovelace'));
    expect(lines).toHaveLength(committed.length);
    expectManifestsName();
  });

  it('stops after a restore instead of overwriting earlier objects of the ledger', async () => {
    const lane = await sendCommitted();
    const restored = laneOf(structuredClone(lane.memory));
    const sink = newSink(keys);
    Object.assign(lane.memory, (await sink.send(await operationsFor(sink, inFlight), lane, signal)).memory);
    const before = double.texts();
    const { outcomes } = await sink.send(await operationsFor(sink, inFlight.slice(5)), restored, signal);
    expect(outcomes[0]).toMatchObject({ kind: 'pause', cause: 'destination' });
    expect((outcomes[0] as { detail: string }).detail).toContain('after a restore');
    expect(double.texts()).toEqual(before);
  });
});

describe('objects of the s3 sink', () => {
  it('are named by list, day and lane, and compressed without a content encoding', async () => {
    await start();
    await new Courier(newSink(), storyOf({ items: 1, revisions: 30 })).sendAll();
    expect([...double.texts().keys()]).toEqual([
      'live/2026/questions/day=2026-11-21/acme-101-00000000.ndjson.gz',
      'live/2026/questions/day=2026-11-22/acme-101-00000000.ndjson.gz',
    ]);
  });

  it('collect changes for the period of maxAge, all until the same instant', async () => {
    await start();
    let clockMs = nowMs;
    const sink = newSink({ maxAge: '1m', maxLines: 100 }, () => clockMs);
    const fresh = storyOf({ items: 1, revisions: 3 }).map((change) => ({
      ...change,
      timestamp: new Date(clockMs - 1000).toISOString(),
    }));
    const operations = await operationsFor(sink, fresh);
    const first = await sink.send(operations.slice(0, 1), laneOf(), signal);
    expect(first.outcomes).toEqual([{ kind: 'unsent', afterMs: 30_000 }]);
    clockMs += 20_000;
    expect((await sink.send(operations, laneOf(), signal)).outcomes[0]).toEqual({ kind: 'unsent', afterMs: 10_000 });
    expect(linesOf(double)).toEqual([]);
    clockMs += 10_000;
    const due = await sink.send(operations, laneOf(), signal);
    expect(due.outcomes.map(({ kind }) => kind)).toEqual(['delivered', 'delivered', 'delivered']);
    expect(double.texts().size).toBe(1);
  });

  it('are written immediately when the number of changes reaches maxLines', async () => {
    await start();
    const sink = newSink({ maxLines: 100 });
    const changes = storyOf({ items: 1, revisions: 100 }).map((change) => ({
      ...change,
      timestamp: new Date(nowMs).toISOString(),
    }));
    const { outcomes } = await sink.send(await operationsFor(sink, changes), laneOf(), signal);
    expect(outcomes.every(({ kind }) => kind === 'delivered')).toBe(true);
  });

  it('lose only the lines of an erased person, even if the erasure runs twice', async () => {
    await start();
    const story = storyOf({ items: 5, revisions: 4 });
    const lane = laneOf();
    const sink = newSink();
    for (const part of [story.slice(0, 10), story.slice(10)]) {
      Object.assign(lane.memory, (await sink.send(await operationsFor(sink, part), lane, signal)).memory);
    }
    const erased: ErasedItems = { keys: new Map([['questions', new Set(['k0'])]]), questions: new Set() };
    expect(await sink.erase!(erased, lane, signal)).toEqual({ kind: 'erased', count: 4, missing: 0 });
    expect(await sink.erase!(erased, lane, signal)).toEqual({ kind: 'erased', count: 0, missing: 0 });
    const left = linesOf(double).map((line) => (JSON.parse(line) as Change).key);
    expect([left.length, left.includes('k0')]).toEqual([16, false]);
    expectManifestsName();
  });

  it('of another sink are not changed', async () => {
    await start();
    await new Courier(newSink(), storyOf({ items: 1, revisions: 1 })).sendAll();
    const lane = { ...laneOf(), ledgerId: 'ledger-2' };
    const sink = newSink();
    const { outcomes } = await sink.send(await operationsFor(sink, storyOf({ items: 1, revisions: 2 })), lane, signal);
    expect(outcomes[0]).toMatchObject({ kind: 'pause', detail: expect.stringContaining('belongs to another ledger') });
  });
});

describe('the check of the s3 sink', () => {
  const check = async (keys: Record<string, unknown> = {}, clock = now): Promise<string[]> =>
    (await newSink(keys, clock).check(signal)).map(({ ok, text }) => `${ok ? 'ok' : 'bad'} ${text}`);
  const markerName = 'live/2026/_pigeonpost/ledger.json';
  const putMarker = (text: string): void => {
    const { objects } = double.bucket;
    objects.set(markerName, { ...objects.get(markerName)!, bytes: Buffer.from(text) });
  };

  it.each<[Right, RegExp]>([
    ['put', /^bad writing an object in the object store failed \(HTTP 403 AccessDenied.*allow s3:PutObject/],
    ['get', /^bad .*allow s3:GetObject/],
    ['delete', /^bad deleting an object in the object store failed \(HTTP 403 AccessDenied/],
    ['list', /^bad the object store refuses a request for an object that does not exist \(HTTP 403\).*s3:ListBucket/],
  ])('names the right to %s where it is missing', async (right, sentence) => {
    await start({ rights: freshAccount.rights.filter((each) => each !== right) });
    const lines = await check();
    expect(lines[0]).toMatch(sentence);
  });

  it.each<[string, Record<string, unknown>, BucketOptions, RegExp]>([
    ['another region', { region: 'us-west-2' }, {}, /the bucket is in eu-central-1: set "region: eu-central-1"/],
    ['another secret', { secretAccessKey: new Secret('wrong') }, {}, /SignatureDoesNotMatch.*check "secretAccessKey"/],
    ['another key', { accessKeyId: 'AKIAOTHER' }, {}, /InvalidAccessKeyId.*check "accessKeyId"/],
    ['another bucket', { bucket: 'acme-other' }, {}, /NoSuchBucket.*check "bucket"/],
    [
      'a store that ignores conditions',
      {},
      { conditions: 'ignored' },
      /ignores If-None-Match: set "conditionalWrites: false"/,
    ],
    ['a store without conditions', {}, { conditions: 'refused' }, /set "conditionalWrites: false"/],
  ])('says what to do about %s', async (_, keys, options, sentence) => {
    await start(options);
    expect((await check(keys)).join('\n')).toMatch(sentence);
    expect(double.bucket.objects.size).toBe(0);
  });

  it('reports a prefix that belongs to another sink', async () => {
    await start();
    expect(await check()).toEqual([expect.stringMatching(/^ok /)]);
    await new Courier(newSink(), storyOf({ items: 1, revisions: 1 })).sendAll();
    expect(await check()).toEqual([expect.stringMatching(/^ok /)]);
    putMarker('{"ledgerId":"ledger-1","sink":"warehouse"}\n');
    expect((await check()).at(-1)).toBe(
      `bad ${markerName} says that the prefix belongs to the sink "warehouse": set another "prefix"`,
    );
  });

  it('reports a marker in a format that pigeonpost does not write', async () => {
    await start();
    await new Courier(newSink(), storyOf({ items: 1, revisions: 1 })).sendAll();
    putMarker('{"version":2}\n');
    expect((await check()).at(-1)).toBe(
      `bad ${markerName} is not a marker that pigeonpost wrote: set another "prefix"`,
    );
  });

  it('reports a marker that cannot be read', async () => {
    await start();
    const effect = { kind: 'answer', answer: { status: 503, text: '' } } as const;
    double.faults.add({ effect, method: 'GET', path: markerName });
    expect((await check()).at(-1)).toMatch(/^bad reading the marker in the object store failed \(HTTP 503/);
  });

  it('reports that the clock of this machine is wrong', async () => {
    await start();
    expect((await check({}, () => nowMs + 20 * 60_000)).join('\n')).toMatch(
      /RequestTimeTooSkewed.*clock of this machine/,
    );
  });

  it('deletes the versions that it created and warns about old versions', async () => {
    await start({ versioning: true });
    expect(await check()).toEqual([
      expect.stringMatching(/^ok .* lets this sink write, read and delete objects$/),
      expect.stringMatching(/^ok acme-engagement keeps old versions/),
    ]);
    expect([double.bucket.objects.size, double.bucket.oldVersions.size]).toEqual([0, 0]);
  });

  it('passes with a store without conditional writes if the configuration allows it', async () => {
    await start({ conditions: 'ignored' });
    expect(await check({ conditionalWrites: false })).toEqual([expect.stringMatching(/^ok /)]);
  });

  it('accepts temporary credentials', async () => {
    await start({ keys: [{ ...key!, sessionToken: 'session+token==' }] });
    expect((await check())[0]).toMatch(/InvalidToken/);
    expect(await check({ sessionToken: new Secret('session+token==') })).toEqual([expect.stringMatching(/^ok /)]);
  });
});

describe('objects that a colleague changed', () => {
  const story = storyOf({ items: 30, revisions: 4 });
  let double: S3Double;
  let memory: Record<string, unknown>;

  const lane = (): Lane => laneWith(memory);

  async function open(options: BucketOptions = {}, keys: Record<string, unknown> = {}): Promise<Sink<S3Operation>> {
    double = await startS3Double({ now, pageSize: 2, ...options });
    memory = {};
    const sink = sinkAt(portOf(double), keys);
    for (const some of [story.slice(0, 50), story.slice(50, 60), story.slice(60)]) {
      const result = await sink.send(await operationsFor(sink, some), lane(), signal);
      Object.assign(memory, result.memory);
    }
    return sink;
  }

  afterEach(() => double.close());

  async function differencesOf(sink: Sink<S3Operation>): Promise<Record<string, number>> {
    const operations = await operationsFor(sink, story);
    const wanted = story.map((change, at): ReadBack<S3Operation> => ({
      change,
      expected: 'content',
      operation: operations[at]!,
      object: null,
      removal: null,
    }));
    const counts: Record<string, number> = {};
    for (const [at, result] of (await sink.readBack!(wanted, lane(), signal)).entries()) {
      const names = result.kind === 'held' ? sink.compareHeld!(operations[at]!, result.held) : [result.kind];
      const copies = 'copies' in result && result.copies !== undefined ? [`copies: ${result.copies.length}`] : [];
      for (const name of [...names, ...copies]) counts[name] = (counts[name] ?? 0) + 1;
    }
    return counts;
  }

  const firstObject = (): string => [...double.texts().keys()][0]!;

  it.each(['gzip', 'none'])(
    '(%s) miss the lines of a deleted object, and a repair makes its name a gap',
    async (compression) => {
      const sink = await open({}, { compression });
      expect(await differencesOf(sink)).toEqual({});
      const name = firstObject();
      const lost = double.texts().get(name)!.split('\n').length - 1;
      double.bucket.put(name, null);
      expect(await differencesOf(sink)).toEqual({ missing: lost });
      expect(await sink.acceptHeld!(lane(), signal)).toEqual({ kind: 'delivered' });
      const manifests = [...double.bucket.objects].filter(([key]) => key.includes('manifests/'));
      const listed = manifests.flatMap(([, { bytes }]) =>
        (JSON.parse(bytes.toString()) as { entries: { url: string }[] }).entries.map(({ url }) => url),
      );
      expect(listed.toSorted()).toEqual([...double.texts().keys()].map((key) => `s3://${freshAccount.bucket}/${key}`));
      await sink.close();
    },
  );

  it('differ in their manifest if it was removed or lacks an object, and a repair writes it again', async () => {
    const sink = await open();
    const manifests = [...double.bucket.objects.keys()].filter((key) => key.includes('manifests/'));
    double.bucket.put(manifests[0]!, null);
    const { manifest = 0, ...others } = await differencesOf(sink);
    expect(others).toEqual({});
    expect(manifest).toBeGreaterThan(0);
    expect(await sink.acceptHeld!(lane(), signal)).toEqual({ kind: 'delivered' });
    expect(await differencesOf(sink)).toEqual({});
    const puts = double.requests.filter(({ method }) => method === 'PUT').length;
    await sink.acceptHeld!(lane(), signal);
    expect(double.requests.filter(({ method }) => method === 'PUT')).toHaveLength(puts);
    await sink.close();
  });

  it('count as copies under another name if they carry the mark of the sink, and a repair removes only these', async () => {
    const sink = await open();
    const name = firstObject();
    const folder = name.replace(/[^/]+$/, '');
    const object = double.bucket.objects.get(name)!;
    const copied = double.texts().get(name)!.split('\n').length - 1;
    double.bucket.put(`${folder}copy of monday.ndjson.gz`, object); // CopyObject keeps the metadata
    double.bucket.put(`${folder}extract.ndjson.gz`, { bytes: object.bytes }); // uploaded by another program
    double.bucket.put(`${folder}acme-102-00000000.ndjson.gz`, object); // another pigeonhole
    expect(await differencesOf(sink)).toEqual({ [`copies: 1`]: copied });
    const operations = await operationsFor(sink, story);
    const extras = story.map((change, at) => ({
      change,
      expected: 'content' as const,
      operation: operations[at]!,
      object: null,
      removal: null,
      copies: ['a copy'],
    }));
    const before = new Map(double.bucket.objects);
    await sink.removeHeld!(extras, lane(), signal);
    expect(await differencesOf(sink)).toEqual({});
    before.delete(`${folder}copy of monday.ndjson.gz`);
    expect(new Map(double.bucket.objects)).toEqual(before);
    await sink.close();
  });

  it('tell when an object was replaced', async () => {
    const sink = await open();
    const name = firstObject();
    const text = gunzipSync(double.bucket.objects.get(name)!.bytes).toString();
    double.bucket.put(name, { bytes: gzipSync(text.replaceAll('"text":"revision', '"text":"edited')) });
    const { id } = JSON.parse(text.split('\n')[0]!) as Change;
    const change = story.find((each) => each.id === id)!;
    const [operation] = await operationsFor(sink, [change]);
    const wanted = { change, expected: 'content', operation: operation!, object: null, removal: null } as const;
    const [result] = await sink.readBack!([wanted], lane(), signal);
    expect(result).toMatchObject({ kind: 'held', changedAt: new Date(nowMs).toISOString() });
    expect(sink.compareHeld!(operation!, (result as { held: unknown }).held)).toEqual(['data.text']);
    await sink.close();
  });

  it.each([
    ['list', 'listing the bucket'],
    ['get', 'reading an object'],
  ] as const)('cannot be read without the right "%s", which the result says', async (right, sentence) => {
    const rights = [...freshAccount.rights];
    const sink = await open({ rights });
    rights.splice(rights.indexOf(right), 1);
    const operations = await operationsFor(sink, story.slice(0, 1));
    const [result] = await sink.readBack!(
      [{ change: story[0]!, expected: 'content', operation: operations[0]!, object: null, removal: null }],
      lane(),
      signal,
    );
    expect(result).toMatchObject({ kind: 'unreadable', cause: 'no-read-right' });
    expect((result as { detail: string }).detail).toContain(sentence);
    await sink.close();
  });
});
