import { setMaxListeners } from 'node:events';
import { performance } from 'node:perf_hooks';
import { Alarm } from '../base/alarm.js';
import { messageOf } from '../base/errors.js';
import { anotherConfiguration } from '../ledger/configurations.js';
import { LedgerError } from '../ledger/ledger-error.js';
import {
  type Beat,
  beat,
  endEmptyReader,
  type ReaderLease,
  type ReaderMember,
  returnReader,
  takeReader,
} from '../ledger/readers.js';
import { type Permission, requestPermission } from '../ledger/workspaces.js';
import { writeProgress } from '../ledger/streams-progress.js';
import type { Collaborators } from '../cycles/collaborators.js';
import { startStayTime, type StayResult, type StayTime } from '../cycles/cycle-results.js';
import { readersWake } from '../cycles/wakes.js';
import { PigeonholeReader } from './pigeonhole-reader.js';

/** Interval between two beats. A wake makes the next one earlier. */
const beatEveryMs = 1000;
/** If the store answers no beat for this long, the stay ends. */
const longestSilenceMs = 10_000;
/** At the end of a stay, requests in progress have this time to end by themselves, and rounds the other time after that. */
const requestsEndMs = 1000;
const roundsEndMs = 2000;
/** Wait after a failed round: doubles with each further failure. */
const retryMs = 1000;
const longestRetryMs = 30_000;

/**
 * Stays with the pigeonholes of a reader for about two minutes, and reads each of them whenever it is due (decision
 * 0088):
 *
 *     taking (a new epoch) ─► reading (rounds and beats) ─► returning (no new request; last beat) ─► ended
 *
 * A second call takes the reader from the first one, which then ends.
 * @param signal aborted when Temporal no longer wants this attempt
 * @param leftMs the time that is left of the stay
 * @throws {LedgerError} kind `configuration` if another configuration is current; the error of the store if it has
 * failed for 10 s
 */
export async function readGroup(
  deps: Collaborators,
  number: number,
  signal: AbortSignal,
  leftMs: StayTime = startStayTime(),
): Promise<StayResult> {
  if (deps.stopping.aborted) return { state: 'working', reason: 'stopping' };
  if (leftMs() === 0) return { state: 'working', reason: 'time' };
  const lease = await takeReader(deps.ledger, number, deps.owner);
  if (lease === undefined) return { state: 'finished', reason: 'empty' };
  return await new Stay(deps, lease, signal, leftMs).run();
}

/** Why a stay ends. */
type Ending =
  | { readonly kind: 'time' | 'stopping' | 'superseded' | 'empty' }
  | { readonly kind: 'configuration'; readonly current: number }
  | { readonly kind: 'store'; readonly error: unknown };

class Stay {
  readonly #members = new Map<number, Member>();
  /** Ends a wait early: a beat is due, or the stay ends. */
  readonly #alarm = new Alarm();
  /** Aborted to end the requests of all rounds. */
  readonly #cut = new AbortController();
  #ending: Ending | undefined;
  #isBeating = false;
  #isBeatDue = true;
  /** Time of the first beat that the store has not answered. */
  #unansweredSince: number | undefined;
  #failure: unknown = new Error('the store does not answer');

  constructor(
    private readonly deps: Collaborators,
    private readonly lease: ReaderLease,
    private readonly signal: AbortSignal,
    private readonly leftMs: StayTime,
  ) {
    setMaxListeners(0, this.#cut.signal); // each round listens
  }

  async run(): Promise<StayResult> {
    const { deps, signal } = this;
    const stopListening = deps.wakes.listen(readersWake, () => {
      this.#isBeatDue = true;
      this.#alarm.ring();
    });
    const stop = (): void => this.#end({ kind: 'stopping' });
    const signals = [deps.stopping, signal];
    for (const each of signals) each.addEventListener('abort', stop);
    const timer = setTimeout(() => this.#end({ kind: 'time' }), this.leftMs());
    if (signals.some(({ aborted }) => aborted)) stop();
    while (this.#ending === undefined) {
      if (this.#isBeatDue && !this.#isBeating) this.#beat().catch(unexpected);
      await this.#alarm.wait(beatEveryMs);
      this.#isBeatDue = true;
      const silentMs = performance.now() - (this.#unansweredSince ?? performance.now());
      if (silentMs > longestSilenceMs) this.#end({ kind: 'store', error: this.#failure });
    }
    clearTimeout(timer);
    stopListening();
    for (const each of signals) each.removeEventListener('abort', stop);
    await this.#return(this.#ending);
    return this.#result(this.#ending);
  }

  #end(ending: Ending): void {
    this.#ending ??= ending;
    this.#alarm.ring();
  }

  /** Writes the progress since the last beat, and follows the answer. Never rejects. */
  async #beat(): Promise<void> {
    const { deps, lease } = this;
    this.#isBeating = true;
    this.#isBeatDue = false;
    this.#unansweredSince ??= performance.now();
    try {
      await this.#storeProgress();
      const answer = await beat(deps.ledger, lease);
      this.#unansweredSince = undefined;
      if (this.#ending === undefined) await this.#follow(answer);
    } catch (error) {
      this.#failure = error;
    } finally {
      this.#isBeating = false;
      if (this.#isBeatDue) this.#alarm.ring(); // something has changed since the beat was sent
    }
  }

  async #follow(answer: Beat | undefined): Promise<void> {
    if (answer === undefined) return this.#end({ kind: 'superseded' });
    const { configuration, members } = answer;
    if (configuration !== this.deps.configuration) return this.#end({ kind: 'configuration', current: configuration });
    this.deps.onCycle(`reader ${this.lease.number}`, null); // a failure of an earlier stay is over now
    for (const [pigeonholeNumber, member] of this.#members) {
      if (members.some((each) => each.pigeonholeNumber === pigeonholeNumber)) continue;
      this.#members.delete(pigeonholeNumber);
      member.leave();
      member.close().catch(unexpected);
    }
    for (const each of members) {
      const known = this.#members.get(each.pigeonholeNumber);
      if (known !== undefined) known.hear(each);
      else
        this.#members.set(
          each.pigeonholeNumber,
          new Member(this.deps, each, this.lease, this.#cut.signal, this.#onDoubt),
        );
    }
    if (members.length === 0 && (await endEmptyReader(this.deps.ledger, this.lease))) this.#end({ kind: 'empty' });
  }

  /** A round found that another stay or another configuration may have taken over; the next beat decides. */
  readonly #onDoubt = (): void => {
    this.#isBeatDue = true;
    this.#alarm.ring();
  };

  async #storeProgress(): Promise<void> {
    const members = [...this.#members.values()];
    const rows = members.flatMap((member) => member.reader.takeProgress());
    const refused = await writeProgress(this.deps.ledger.db, this.lease, rows);
    if (refused.length === 0) return;
    for (const { reader } of members) reader.progressRefused(refused);
  }

  /** Ends the rounds, and gives the pigeonholes back. Never rejects, and takes at most about three seconds. */
  async #return({ kind }: Ending): Promise<void> {
    const members = [...this.#members.values()];
    for (const member of members) member.leave();
    const cutting = setTimeout(() => this.#cut.abort(), requestsEndMs);
    const giveBack = async (): Promise<void> => {
      await Promise.all(members.map(({ ended }) => ended));
      if (kind === 'superseded' || kind === 'empty') return;
      await this.#storeProgress();
      await Promise.all(members.map((member) => member.close()));
      await returnReader(this.deps.ledger, this.lease);
    };
    const late = new Alarm();
    const { number } = this.lease;
    const given = giveBack().catch((error: unknown) =>
      this.deps.log.warn({ reader: number, error: messageOf(error) }, 'a reader could not be returned'),
    );
    await Promise.race([given.then(() => late.ring()), late.wait(requestsEndMs + roundsEndMs)]);
    clearTimeout(cutting);
    this.#cut.abort();
  }

  #result(ending: Ending): StayResult {
    switch (ending.kind) {
      case 'configuration':
        throw anotherConfiguration(this.deps.configuration, ending.current);
      case 'store':
        throw ending.error;
      case 'empty':
        return { state: 'finished', reason: ending.kind };
      default:
        return { state: 'working', reason: ending.kind };
    }
  }
}

/** A pigeonhole during a stay: runs its rounds one after another, each when it is due. */
class Member {
  readonly reader: PigeonholeReader;
  /** Resolves when its last round has ended. */
  readonly ended: Promise<void>;
  readonly #alarm = new Alarm();
  readonly #stop = new AbortController();
  #asked: number;
  /** Whether the last beat showed that the workspace waits. */
  #waits: boolean;
  #failures = 0;

  constructor(
    private readonly deps: Collaborators,
    private readonly place: ReaderMember,
    lease: ReaderLease,
    private readonly signal: AbortSignal,
    private readonly onDoubt: () => void,
  ) {
    this.#asked = place.asked;
    this.#waits = place.waits;
    const permission = async (): Promise<Permission> =>
      this.#waits ? await requestPermission(deps.ledger, place.workspace) : { kind: 'ask', workspaceWait: null };
    this.reader = new PigeonholeReader({ ...deps, stopping: this.#stop.signal }, place, lease, permission);
    this.ended = this.#keep();
  }

  /** Learns the answer of a beat. If the number has changed, something outside concerns this pigeonhole. */
  hear({ asked, waits }: Pick<ReaderMember, 'asked' | 'waits'>): void {
    const isWaitOver = this.#waits && !waits;
    this.#waits = waits;
    if (asked !== this.#asked) this.reader.forget();
    if (asked !== this.#asked || isWaitOver) this.#alarm.ring();
    this.#asked = asked;
  }

  /** Starts no further request. The round in progress ends at its next safe point. */
  leave(): void {
    this.#stop.abort();
    this.#alarm.ring();
  }

  /** Waits for the end of the round in progress. Never rejects. */
  async close(): Promise<void> {
    await this.ended;
    await this.reader.close().catch((error: unknown) => this.#warn(error, 'a pigeonhole could not be released'));
  }

  #warn(error: unknown, event: string, facts: { readonly retryInMs?: number } = {}): void {
    const { workspace, pigeonholeId: pigeonhole } = this.place;
    this.deps.log.warn({ workspace, pigeonhole, error: messageOf(error), ...facts }, event);
  }

  async #keep(): Promise<void> {
    const { rounds } = this.deps;
    const { workspace } = this.place;
    const { signal } = this.#stop;
    let waitMs = 0;
    for (;;) {
      await this.#alarm.wait(waitMs);
      waitMs = (await rounds.run({ kind: this.reader.nextKind, workspace }, signal, () => this.#round())) ?? 0;
      if (signal.aborted) return;
    }
  }

  /** @returns milliseconds until the next round */
  async #round(): Promise<number> {
    const { deps } = this;
    const { workspace, pigeonholeId: pigeonhole } = this.place;
    const cycle = `read ${workspace} ${pigeonhole}`;
    try {
      const run = () => this.reader.round(this.signal);
      const { state, nextDueInMs } = await deps.tracer.span('read', { workspace, pigeonhole }, run);
      deps.onCycle(cycle, null);
      this.#failures = 0;
      return state === 'finished' ? Number.POSITIVE_INFINITY : nextDueInMs;
    } catch (error) {
      this.reader.forget();
      if (error instanceof LedgerError) this.onDoubt();
      if (this.#stop.signal.aborted) return 0;
      deps.onCycle(cycle, messageOf(error));
      const retryInMs = Math.min(longestRetryMs, retryMs * 2 ** this.#failures);
      this.#failures += 1;
      this.#warn(error, 'a round of reading failed', { retryInMs });
      return retryInMs;
    }
  }
}

/** For promises that never reject. */
function unexpected(error: unknown): never {
  throw error;
}
