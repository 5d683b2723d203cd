import { randomUUID } from 'node:crypto';
import { decideHold, openHolds } from '../../reading/holds.js';
import { forecastNeeds } from '../../reading/demand.js';
import { PigeonholeReader } from '../../reading/pigeonhole-reader.js';
import type { Database } from '../../ledger/drivers/database.js';
import { LedgerError } from '../../ledger/ledger-error.js';
import { pigeonholeNumberOf } from '../../ledger/pigeonholes.js';
import { pollNow, sweepNow } from '../../ledger/streams-due.js';
import { writeProgress } from '../../ledger/streams-progress.js';
import { ServiceGate } from '../../requests/service-gate.js';
import { forgetEverything } from '../kit/forget-everything.js';
import { mortalDatabase, ProcessDied } from '../kit/mortal-database.js';
import { openScene, type Scene } from '../kit/scene.js';
import { SimulatedTime } from '../kit/simulated-time.js';
import type { History, HistoryStep } from './history.js';
import { type Meaning, meaningOf } from './meaning.js';
import { ModelService } from './model-service.js';
import { mutate } from './model/mutation.js';
import { ModelWorld } from './model/world.js';
import { watched, type WatchedDatabase } from './watched-database.js';

/** The ledger after a life, and the changes after each of its steps. */
export interface Lived {
  readonly meaning: Meaning;
  readonly changes: readonly string[];
  readonly requests: number;
  /** Number of rounds that sent no statement but those for permits. */
  readonly quietRounds: number;
}

const pigeonholeId = 101;
const startsAt = new Date('2026-01-12T09:00:00.000Z');
/** No multiple of the steps' times, so that nothing becomes due while another list is read. */
const liveMs = 5003;
const minute = 60_000;
const hour = 60 * minute;
/** Periods at the end in which nothing changes, until every missing item is proved to be deleted. */
const quietTime: readonly number[] = [25 * hour, 25 * hour, 25 * hour, hour];
const maxRounds = 40;
const never = new AbortController().signal;

export interface LifeOptions {
  /** False: each round has a reader of its own. */
  readonly remembers: boolean;
  /** True: after the history, nothing changes until every rule has applied. */
  readonly endsQuietly: boolean;
}

/** Lets a reader live through a history, on an empty store. */
export async function liveThrough(
  history: History,
  store: Database,
  { remembers, endsQuietly }: LifeOptions,
): Promise<Lived> {
  await forgetEverything(store);
  const time = await SimulatedTime.start(store, startsAt);
  const random = Math.random;
  Math.random = () => 0.5; // waits after failures are random
  const db = watched(time.db);
  const world = new ModelWorld(history.shape);
  for (const mutation of history.start) mutate(world, mutation);
  const service = new ModelService(world);
  let lastMs = 0;
  service.now = () => (lastMs = Math.max(lastMs + 1, time.now())); // no two requests in the same millisecond
  service.onSent = () => time.pass(1);
  try {
    const scene = await openScene({
      db,
      baseUrl: 'http://127.0.0.1:9',
      client: service,
      sync: `lists: [${history.list}]\nevery: { live: ${liveMs}ms }`,
    });
    try {
      const life = new Life(history, { scene, service, time, db }, remembers);
      for (const step of history.steps) await life.take(step);
      if (endsQuietly) await life.quiet();
      return await life.end();
    } finally {
      await db.untilIdle();
      await scene.close();
    }
  } finally {
    Math.random = random;
    time.stop();
  }
}

interface Surroundings {
  readonly scene: Scene;
  readonly service: ModelService;
  readonly time: SimulatedTime;
  readonly db: WatchedDatabase;
}

/** A process: what ends it, and the reader that it keeps. */
interface Process {
  readonly stopping: AbortController;
  readonly die: () => void;
  readonly isDead: () => boolean;
  readonly newReader: () => PigeonholeReader;
  kept: PigeonholeReader | undefined;
}

class Life {
  #process: Process;
  readonly #changes: string[] = [];
  #quietRounds = 0;
  #statements = 0;

  constructor(
    private readonly history: History,
    private readonly around: Surroundings,
    private readonly remembers: boolean,
  ) {
    this.#process = this.#newProcess();
  }

  async take(step: HistoryStep): Promise<void> {
    const { service, scene } = this.around;
    const { world } = service;
    await this.#pass(step.passMs);
    for (const mutation of step.before) mutate(world, mutation);
    await scene.discover();
    await this.#ask(step.asked);
    const { end } = step;
    const process = this.#process;
    let requests = 0;
    service.onArrival = (list) => {
      if (list.list !== this.history.list) return undefined;
      requests += 1;
      if (end.kind === 'stopped' && end.at === requests) process.stopping.abort();
      if (end.kind === 'dies' && end.at === requests) process.die();
      const now = step.during.filter(({ request }) => request === requests).map(({ happen }) => happen);
      for (const happen of now) if (typeof happen !== 'string') mutate(world, happen);
      return now.find((happen) => typeof happen === 'string');
    };
    await this.#readDue();
    for (const { request, happen } of step.during) {
      if (request > requests && typeof happen !== 'string') mutate(world, happen);
    }
    service.onArrival = () => undefined;
    if (end.kind === 'beat') await this.#beat();
    if (process.isDead()) this.#process = this.#newProcess();
    else if (end.kind === 'ends' || process.stopping.signal.aborted) await this.#restart();
    this.#changes.push(await changesOf(this.around.db));
  }

  /** Lets time pass until every rule has applied. */
  async quiet(): Promise<void> {
    const { scene } = this.around;
    for (const ms of quietTime) {
      await this.#pass(ms);
      await this.#ask('sweep');
      for (let polls = 0; polls < 8; polls += 1) {
        await scene.discover();
        await this.#readDue();
        for (const { id } of await openHolds(scene.ledger)) {
          await decideHold(scene.ledger, id, 'confirmed');
          this.#process.kept?.forget();
        }
        await this.#pass(polls < 4 ? 6000 : 10 * minute);
      }
    }
  }

  /** Stores what the reader remembers, and returns the ledger. */
  async end(): Promise<Lived> {
    const { db, service } = this.around;
    await this.#restart();
    this.#changes.push(await changesOf(db));
    return {
      meaning: await meaningOf(db),
      changes: this.#changes,
      requests: service.requests,
      quietRounds: this.#quietRounds,
    };
  }

  #newProcess(): Process {
    const { deps } = this.around.scene;
    const stopping = new AbortController();
    let isDead = false;
    const mortal = mortalDatabase(this.around.db, ({ sql }) => {
      if (!isOfPoll(sql)) this.#statements += 1;
      return isDead;
    });
    const ledger = { ...deps.ledger, db: mortal };
    // Timers are real, so a slow machine must not make a list slow or silent.
    const gate = new ServiceGate(ledger, deps.log, forecastNeeds, { after: () => () => undefined });
    gate.slowLists.hasRoom = () => false;
    const owner = randomUUID();
    const own = { ...deps, gate, ledger, owner, stopping: stopping.signal };
    return {
      stopping,
      die: () => void (isDead = true),
      isDead: () => isDead,
      newReader: () => new PigeonholeReader(own, { workspace: 'acme', pigeonholeId }, null),
      kept: undefined,
    };
  }

  /**
   * Lets time pass until the same part of a second. Each request takes a millisecond, so concurrent ones end in any
   * order within the next half of a second, in which no tick (`untilNextRead`) lies.
   */
  async #pass(ms: number): Promise<void> {
    const { time } = this.around;
    const to = Math.floor((time.now() + ms) / 1000) * 1000 + 300;
    await time.pass(to - time.now());
  }

  /** Ends the process in order, and starts another one. */
  async #restart(): Promise<void> {
    await this.#process.kept?.close();
    this.#process = this.#newProcess();
  }

  /** Requests a read, of which the reader hears. */
  async #ask(asked: HistoryStep['asked']): Promise<void> {
    if (asked === 'nothing') return;
    const { ledger } = this.around.scene;
    const pigeonholeNumber = await pigeonholeNumberOf(ledger, 'acme', pigeonholeId);
    if (asked === 'poll') await pollNow(ledger, pigeonholeNumber);
    else await sweepNow(ledger, pigeonholeNumber, null);
    this.#process.kept?.forget();
  }

  async #beat(): Promise<void> {
    const { kept } = this.#process;
    if (kept === undefined) return;
    kept.progressRefused(await writeProgress(this.around.db, null, kept.takeProgress()));
  }

  /** Runs rounds until nothing is due. */
  async #readDue(): Promise<void> {
    const process = this.#process;
    for (let rounds = 0; rounds < maxRounds; rounds += 1) {
      const reader = process.kept ?? process.newReader();
      if (this.remembers) process.kept = reader;
      try {
        this.#statements = 0;
        const { nextDueInMs, pages } = await reader.round(never);
        if (pages > 0 && this.#statements === 0) this.#quietRounds += 1;
        if (!this.remembers) await reader.close();
        if (nextDueInMs > 0 || process.stopping.signal.aborted) return;
      } catch (error) {
        if (error instanceof ProcessDied && process.isDead()) return;
        if (error instanceof LedgerError) throw new Error(`round ${rounds} failed`, { cause: error });
        throw error;
      } finally {
        await this.around.db.untilIdle();
      }
      await this.#pass(1000);
    }
  }
}

/** The statements that the permits and the wait of the workspace take. */
const isOfPoll = (sql: string): boolean => /\bquotas\b|from workspaces/.test(sql);

async function changesOf(db: Database): Promise<string> {
  const rows = await db.query(
    `select list, key, revision, kind, session_id, visibility, snapshot::text from changes order by 1, 2, 3`,
  );
  return JSON.stringify(rows);
}
