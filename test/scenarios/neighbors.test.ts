import { createDeferred } from '../../base/deferred.js';
import { assignReaders, readerNumbers } from '../../ledger/readers.js';
import type { PigeonholeClient } from '../../pigeonhole/client.js';
import { discoverWorkspace } from '../../reading/discover.js';
import { adoptSyncs } from '../../operations/editions.js';
import { readGroup } from '../../reading/read-group.js';
import type { Collaborators } from '../../cycles/collaborators.js';
import { RoundQueue } from '../../cycles/round-queue.js';
import { Wakes } from '../../cycles/wakes.js';
import { attendee } from '../kit/items.js';
import { kinds } from '../kit/scenario-kinds.js';
import { type Item, useStages } from '../kit/stage.js';
import { until } from '../until.js';

const stages = useStages();
const never = new AbortController().signal;

const perPage = 100;

/** A service whose pigeonholes have only attendees. */
interface Service {
  readonly pigeonholes: number;
  /** Number of pages of attendees in each. */
  readonly pages: number;
  /** Called when a page of attendees is requested. Its answer waits for the result. */
  readonly onRequest: () => void | Promise<void>;
}

function clientOf({ pigeonholes, pages, onRequest }: Service): PigeonholeClient {
  const refused = (): Promise<never> => Promise.reject(new Error('only pages are requested'));
  const place = (n: number): Item => ({
    id: 101 + n,
    name: `Pigeonhole ${n}`,
    status: 'live',
    startDate: '2026-01-01',
  });
  let requests = 0;
  return {
    async page(list, { cursor = null, signal } = {}) {
      const number = cursor === null ? 0 : Number(cursor);
      const isOfPlace = list.list === 'attendees';
      if (isOfPlace) await onRequest();
      signal?.throwIfAborted();
      const first = isOfPlace ? 1 + number * perPage : 0;
      const items = isOfPlace
        ? Array.from({ length: perPage }, (_, n) => attendee(first + n))
        : list.list === 'pigeonholes'
          ? Array.from({ length: pigeonholes }, (_, n) => place(n))
          : [];
      const hasMore = isOfPlace && number + 1 < pages;
      requests += 1;
      return {
        items,
        irregular: [],
        cursor,
        nextCursor: hasMore ? String(number + 1) : null,
        hasMore,
        perPage,
        requestId: `request-${requests}`,
        requestedAt: Date.now(),
        quota: null,
        bytes: 100,
        digest: `${list.list} ${number}`,
      };
    },
    pages: refused as never,
    getPigeonhole: refused,
    createPigeonhole: refused,
    createSession: refused,
    createRegistrants: refused,
    close: async () => undefined,
  };
}

/**
 * A process that stays with the pigeonholes of two workspaces: a live one that is polled each second, and a neighbor
 * with more pigeonholes than the process has places.
 */
async function startBeside(
  kind: (typeof kinds)[number],
  services: { readonly live: Service; readonly other: Service },
) {
  const stage = await stages.open(kind);
  const scene = await stage.scene({ sync: 'lists: [attendees]\nevery: { live: 1s, sweep: 1h }' });
  const { config } = scene.deps;
  const acme = config.workspaces['acme']!;
  const events = config.syncs['events']!;
  const stopping = new AbortController();
  const deps: Collaborators = {
    ...scene.deps,
    config: {
      ...config,
      workspaces: { live: acme, other: acme },
      syncs: { events: { ...events, workspace: 'live' }, others: { ...events, workspace: 'other' } },
    },
    clients: new Map([
      ['live', clientOf(services.live)],
      ['other', clientOf(services.other)],
    ]),
    rounds: new RoundQueue(8),
    wakes: new Wakes(null, scene.deps.log),
    stopping: stopping.signal,
  };
  await adoptSyncs(deps.config, scene.ledger);
  for (const workspace of ['live', 'other']) await discoverWorkspace(deps, workspace, never);
  await assignReaders(scene.ledger);
  const stays = (await readerNumbers(scene.ledger)).map((number) => readGroup(deps, number, never));
  const stop = async (): Promise<void> => {
    stopping.abort();
    await Promise.all(stays);
  };
  return { stage, stop };
}

describe.each(kinds)('a live pigeonhole, on %s', (kind) => {
  it('is polled while another workspace is read for the first time', async () => {
    const slicePages = 40;
    let polls = 0;
    /** Number of polls before each slice of pages of the other workspace. */
    const pollsBefore: number[] = [];
    let pages = 0;
    /** The wait at the end of a slice, during which the other workspace answers nothing. */
    let held: Promise<unknown> = Promise.resolve();
    const other = { pigeonholes: 12, pages: 20 };
    const { stage, stop } = await startBeside(kind, {
      live: { pigeonholes: 1, pages: 1, onRequest: () => void (polls += 1) },
      other: {
        ...other,
        async onRequest() {
          await held;
          pages += 1;
          if (pages % slicePages !== 0) return;
          // Without a place for the live pigeonhole, this would never end.
          const before = polls;
          held = until('the live pigeonhole is polled during the first read', () => polls > before);
          await held;
          pollsBefore.push(polls);
        },
      },
    });
    const isRead = async (): Promise<boolean> => {
      const [row] = await stage.db.query<{ n: number }>(
        `select count(*)::int as n from items join pigeonholes using (pigeonhole_number) where workspace = 'other'
           and list = 'attendees'`,
      );
      return row!.n === other.pigeonholes * other.pages * perPage;
    };
    await until('the other workspace is read', isRead);
    await stop();
    expect(pollsBefore.length).toBeGreaterThanOrEqual(6);
    expect(pollsBefore).toEqual([...new Set(pollsBefore)]); // another poll for each slice
  });

  it('is polled while the service of another workspace does not answer', async () => {
    let polls = 0;
    let waiting = 0;
    const answers = createDeferred();
    const { stop } = await startBeside(kind, {
      live: { pigeonholes: 1, pages: 1, onRequest: () => void (polls += 1) },
      other: {
        pigeonholes: 12,
        pages: 1,
        async onRequest() {
          waiting += 1;
          await answers.promise;
        },
      },
    });
    await until('the other service has requests to answer', () => waiting > 0);
    const before = polls;
    await until('the live pigeonhole is polled four times', () => polls >= before + 4);
    expect(waiting).toBeLessThanOrEqual(2); // a quarter of the places
    answers.resolve();
    await stop();
  });
});
