import { createDeferred } from '../../base/deferred.js';
import { randomUUID } from 'node:crypto';
import type { Collaborators } from '../../cycles/collaborators.js';
import { decideHold, openHolds } from '../../reading/holds.js';
import { readPigeonhole } from '../../reading/read-pigeonhole.js';
import { planReading } from '../../reading/reading-plan.js';
import { ServiceGate } from '../../requests/service-gate.js';
import { forecastNeeds } from '../../reading/demand.js';
import type { Database } from '../../ledger/drivers/database.js';
import { LedgerError } from '../../ledger/ledger-error.js';
import type { PigeonholeListName } from '../../base/lists.js';
import { forgetEverything } from '../kit/forget-everything.js';
import { mortalDatabase, ProcessDied } from '../kit/mortal-database.js';
import { openScene, type Scene } from '../kit/scene.js';
import { type Faults, Judge } from './judge.js';
import { ledgerChanges, ledgerItems } from './ledger-view.js';
import { ModelService, type Occasion } from './model-service.js';
import type { Fault, Glitch } from './model/fault.js';
import { mutate } from './model/mutation.js';
import { ModelWorld } from './model/world.js';
import { passTime } from '../kit/pass-time.js';
import { withWallClock } from '../kit/wrong-clock.js';
import type { Script, Step, TurnEnd } from './script.js';
import { unwalked } from './unwalked.js';
import { watched, type WatchedDatabase } from './watched-database.js';

/** The result of a script. */
export interface Played {
  readonly faults: Faults;
  readonly requests: number;
  readonly turns: number;
  readonly changes: number;
  readonly deletions: number;
  readonly disturbed: Disturbances;
}

/** Number of times that each planned disturbance happened. */
export interface Disturbances {
  changedBetweenRequests: number;
  died: number;
  cancelled: number;
  stopped: number;
  overtaken: number;
  refused: number;
  /** Number of short, empty and unfiltered answers. */
  misshown: number;
  /** Number of machines that were paused during another cycle. */
  paused: number;
  /** Jumps of the wall clock during a turn. */
  clockJumps: number;
}

/** Returns the counts before the first disturbance. */
export function noDisturbances(): Disturbances {
  return {
    changedBetweenRequests: 0,
    died: 0,
    cancelled: 0,
    stopped: 0,
    overtaken: 0,
    refused: 0,
    misshown: 0,
    paused: 0,
    clockJumps: 0,
  };
}

const minute = 60_000;
const hour = 60 * minute;

/**
 * Maximum number of answers in a life that a pigeonhole or session does not exist. A third such answer, ten minutes
 * after the first, would mark the stream as gone.
 */
const maxGone = 2;

/** Plays a script on an empty store, waits until everything is read, and judges the ledger. */
export async function play(script: Script, db: Database): Promise<Played> {
  await forgetEverything(db);
  const store = watched(db);
  const world = new ModelWorld(script.shape);
  const service = new ModelService(world, script.delays);
  for (const mutation of script.start) mutate(world, mutation);
  const scene = await openScene({
    db: store,
    baseUrl: 'http://127.0.0.1:9',
    client: service,
    sync: `lists: [${script.lists.join(', ')}]`,
  });
  service.now = scene.ledger.clock.nowMs; // like a client that the process opens
  try {
    const life = new Life(scene, service, store);
    for (const step of script.steps) await life.take(step);
    await life.quiet();
    return life.played();
  } finally {
    await store.untilIdle();
    await scene.close();
  }
}

class Life {
  readonly #judge: Judge;
  readonly #heard = new Map<number, number>();
  readonly #lists: ReadonlySet<PigeonholeListName>;
  #turns = 0;
  #changes = 0;
  #deletions = 0;
  #gone = 0;
  readonly #disturbed = noDisturbances();

  constructor(
    readonly scene: Scene,
    readonly service: ModelService,
    readonly store: WatchedDatabase,
  ) {
    this.#judge = new Judge(service.world);
    const { lists } = planReading(scene.deps.config, ['events'], 'pigeonhole');
    this.#lists = new Set(lists as readonly PigeonholeListName[]);
  }

  get #world(): ModelWorld {
    return this.service.world;
  }

  async take(step: Step): Promise<void> {
    const from = this.#world.tick;
    await this.#passTime(step.passMs);
    for (const mutation of step.before) mutate(this.#world, mutation);
    await this.scene.discover();
    const pigeonholeId = this.#world.shape.pigeonholeIds[step.where % this.#world.shape.pigeonholeIds.length]!;
    await withWallClock(step.clockAheadMs, (jump) => this.#takeTurn(pigeonholeId, step, jump));
    // Events that were planned for requests that did not happen take place anyway.
    const rest = step.during.filter((each) => this.service.left.some(({ of }) => of === each));
    this.#disturbed.changedBetweenRequests += step.during.length - rest.length;
    this.service.plan([]);
    for (const { mutation } of rest) mutate(this.#world, mutation);
    await this.#hear(from);
  }

  async #takeTurn(pigeonholeId: number, step: Step, jump: (byMs: number) => void): Promise<void> {
    const { end } = step;
    const cancelled = new AbortController();
    const stopping = new AbortController();
    const gate = createDeferred();
    const reached = createDeferred();
    const ends: Record<Exclude<TurnEnd['kind'], 'well' | 'dies'>, Occasion['happen']> = {
      cancelled: () => cancelled.abort(),
      stopped: () => stopping.abort(),
      overtaken: () => (reached.resolve(), gate.promise),
    };
    const occasions: Occasion[] = [
      ...step.during.map((each) => ({
        request: each.request,
        happen: () => mutate(this.#world, each.mutation),
        of: each,
      })),
      ...step.faults.map(({ request, fault }) => ({ request, happen: () => this.#mayFail(fault) })),
      ...step.glitches.flatMap(({ request, glitch, times }) =>
        Array.from({ length: times }, (_, index) => ({
          request: request + index,
          happen: () => this.#mayMisshow(glitch),
        })),
      ),
      ...step.clockJumps.map(({ request, byMs }) => ({
        request,
        happen: () => {
          this.#disturbed.clockJumps += 1;
          jump(byMs);
        },
      })),
    ];
    if (end.kind !== 'well' && end.kind !== 'dies') {
      const happen = (): ReturnType<Occasion['happen']> => {
        this.#disturbed[end.kind] += 1;
        return ends[end.kind]();
      };
      occasions.push({ request: end.at, happen });
    }
    this.service.plan(occasions);
    const db = end.kind === 'dies' ? mortalDatabase(this.store, ({ n }) => n >= end.at) : this.store;
    const first = this.#read(pigeonholeId, { db, stopping: stopping.signal }, cancelled.signal);
    if (end.kind === 'overtaken') {
      const isHeld = await Promise.race([first.then(() => false), reached.promise.then(() => true)]);
      if (isHeld) {
        await this.#untilIdle(1);
        await this.#pause(end.pausedMs);
        for (const mutation of end.meanwhile) mutate(this.#world, mutation);
        await this.#read(pigeonholeId, { db: this.store, stopping: this.scene.deps.stopping });
      }
      gate.resolve();
    }
    await first;
    await this.#untilIdle();
  }

  async #passTime(ms: number): Promise<void> {
    await passTime(this.store, ms);
    this.service.pass(ms);
  }

  /**
   * Lets time pass only for the ledger: the process on the paused machine could notice it only by asking the ledger.
   */
  async #pause(ms: number): Promise<void> {
    if (ms === 0) return;
    this.#disturbed.paused += 1;
    await this.store.alone((db) => passTime(db, ms));
    this.service.pass(ms);
  }

  #mayFail(fault: Fault): Fault | undefined {
    if (fault === 'pigeonhole not found' || fault === 'session not found') {
      this.#gone += 1;
      if (this.#gone > maxGone) return undefined;
    }
    this.#disturbed.refused += 1;
    return fault;
  }

  #mayMisshow(glitch: Glitch): Glitch {
    this.#disturbed.misshown += 1;
    return glitch;
  }

  /** Runs one attempt of a cycle as a separate process. Returns whether more is due now. */
  async #read(
    pigeonholeId: number,
    { db, stopping }: { db: Database; stopping: AbortSignal },
    signal: AbortSignal = new AbortController().signal,
  ): Promise<boolean> {
    this.#turns += 1;
    const { deps } = this.scene;
    // With a shared gate, a request could wait for one that asks and is held here until the end.
    const gate = new ServiceGate(deps.ledger, deps.log, forecastNeeds);
    const attempt: Collaborators = { ...deps, gate, ledger: { ...deps.ledger, db }, owner: randomUUID(), stopping };
    try {
      return (await readPigeonhole(attempt, { workspace: 'acme', pigeonholeId }, signal)).nextDueInMs === 0;
    } catch (error) {
      const died = error instanceof ProcessDied;
      if (died) this.#disturbed.died += 1;
      if (died || (error instanceof LedgerError && error.kind === 'stale')) return false;
      throw error;
    }
  }

  /**
   * Waits until only `held` requests are in progress: for the other streams of a failed attempt to end, or before time
   * passes, because simulated time does not reach an answer that was received but not stored.
   */
  async #untilIdle(held = 0): Promise<void> {
    for (let calm = 0; calm < 3; calm += 1) {
      await this.store.untilIdle();
      if (this.service.underWay > held) calm = 0;
      await new Promise(setImmediate);
    }
  }

  async #hear(from: number): Promise<void> {
    for (const pigeonholeId of this.#world.shape.pigeonholeIds) {
      const changes = await ledgerChanges(this.store, pigeonholeId, this.#heard.get(pigeonholeId) ?? 0);
      if (changes.length === 0) continue;
      this.#heard.set(pigeonholeId, changes.at(-1)!.sequence);
      this.#changes += changes.length;
      this.#deletions += changes.filter(({ kind }) => kind === 'deleted').length;
      this.#judge.hear(changes, { from, to: this.#world.tick });
    }
  }

  /** Stops all changes and advances the clock until every rule has applied. */
  async quiet(): Promise<void> {
    this.service.plan([]);
    for (const ms of quietTime) {
      await this.#passTime(ms);
      await this.#sweepAll();
      await this.#confirmHeld();
    }
    const { lost, kept } = this.#judge.differences(await ledgerItems(this.store), this.#lists);
    this.#judge.faults.lost.push(...lost);
    this.#judge.faults.kept.push(...kept);
  }

  /** Decides like an operator who sees that the service no longer shows the items. */
  async #confirmHeld(): Promise<void> {
    const from = this.#world.tick;
    for (const { id } of await openHolds(this.scene.ledger)) await decideHold(this.scene.ledger, id, 'confirmed');
    await this.#hear(from);
  }

  /** Lets time pass and polls until every stream has been walked completely. */
  async #sweepAll(): Promise<void> {
    const begin = this.service.answered.length;
    for (let polls = 0; polls < maxPolls; polls += 1) {
      const from = this.#world.tick;
      await this.scene.discover();
      for (const pigeonholeId of this.#world.shape.pigeonholeIds) {
        for (let turns = 0; turns < maxTurns; turns += 1) {
          if (!(await this.#read(pigeonholeId, { db: this.store, stopping: this.scene.deps.stopping }))) break;
        }
      }
      await this.#hear(from);
      const left = unwalked(this.#world, this.#lists, this.service.answered.slice(begin));
      if (left.length === 0) return;
      if (polls === maxPolls - 1) this.#judge.faults.lost.push(...left.map((stream) => `${stream} is not swept`));
      await this.#passTime(polls < shortPolls ? pollMs : longPollMs);
    }
  }

  played(): Played {
    return {
      faults: this.#judge.faults,
      requests: this.service.requests,
      turns: this.#turns,
      changes: this.#changes,
      deletions: this.#deletions,
      disturbed: this.#disturbed,
    };
  }
}

/**
 * Periods at the end that end every wait and keep missing rows missing for as long as the rules require. A walk that
 * had already started may use up the first period. After the next two, walks a day apart show the same pages. In the
 * last one, the cycle after a walk of one session's list reports what that walk proves about an item of another
 * session.
 */
const quietTime: readonly number[] = [25 * hour, 25 * hour, 25 * hour, hour];
/** Longer than the interval of a live list, and than waits after a long walk. */
const pollMs = 6000;
const longPollMs = 30 * minute;
/** Number of polls for a sweep that reads one page with each poll. */
const shortPolls = 20;
const maxPolls = 90;
const maxTurns = 20;
