import type { Outages } from './outages.js';

/**
 * Finds out within seconds that the service does not answer, also where it hangs and no request fails. It counts ticks and
 * not milliseconds: a process that stood still gets one late tick, and its answers before the next one, so it does not
 * blame the service for its own pause.
 */
export const watchEveryMs = 500;

const ticks = (ms: number): number => Math.ceil(ms / watchEveryMs);
/** A request without an answer for this long is doubted: another one is sent as its witness. */
const doubtAfter = ticks(2000);
/** A witness without an answer for this long confirms the doubt. */
const confirmAfter = ticks(3000);
/** Several requests of its own are as good as a witness. */
const minWithoutWitness = 3;
/** A service that just took long is given twice that time, up to the deadline of a request, for a while. */
const longestPatience = ticks(30_000);
const patienceLasts = ticks(10 * 60_000);
/** Failed requests are followed by no more witnesses than these until one is answered. */
const mostWitnesses = 5;
/** While the service is down it is asked this often whether it is back; after ten minutes less often. */
const askBackEvery = ticks(5000);
const askBackLater = ticks(30_000);
const longOutage = ticks(10 * 60_000);

interface PendingRequest {
  readonly startedAt: number;
  /** Ticks since it was sent. */
  age: number;
  /** Ticks since it was sent or since the last answer to any other request. */
  quiet: number;
  /** A witness was sent for it. */
  doubted: boolean;
}

interface Watched {
  readonly pending: Set<PendingRequest>;
  /** Ticks without an answer after which a request is doubted. */
  patience: number;
  /** Ticks until `patience` is the usual one again. */
  patienceFor: number;
  /** Ticks since a request failed and none was answered. */
  suspectedFor: number;
  downFor: number;
  /** A witness is in progress. */
  asks: boolean;
}

/** The requests in progress, by workspace. `tick` judges them; whoever owns the process calls it every `watchEveryMs`. */
export class ServiceWatch {
  readonly #workspaces = new Map<string, Watched>();

  /** @param now the clock of `outages` */
  constructor(
    private readonly outages: Pick<Outages, 'isDown' | 'isSuspected' | 'silent'>,
    private readonly now: () => number,
  ) {}

  /** Notes that a request is sent. @returns what to call once it has ended, with whether the service answered it */
  sent(workspace: string): (isAnswered: boolean) => void {
    const watched = this.#of(workspace);
    const request: PendingRequest = { startedAt: this.now(), age: 0, quiet: 0, doubted: false };
    watched.pending.add(request);
    return (isAnswered) => {
      watched.pending.delete(request);
      if (!isAnswered) return;
      for (const other of watched.pending) other.quiet = 0;
      if (2 * request.age <= watched.patience) return;
      watched.patience = Math.min(2 * request.age, longestPatience);
      watched.patienceFor = patienceLasts;
    };
  }

  /** Judges every workspace once. @param ask sends one cheap request, which goes through `sent` as any other */
  async tick(ask: (workspace: string) => Promise<unknown>): Promise<void> {
    for (const [workspace, watched] of this.#workspaces) {
      // oxlint-disable-next-line no-await-in-loop -- a handful, and only an outage makes one wait
      const isWitnessWanted = await this.#judge(workspace, watched);
      if (!isWitnessWanted || watched.asks) continue;
      watched.asks = true;
      const done = (): void => {
        watched.asks = false;
      };
      ask(workspace).then(done, done); // its outcome is noted where requests are made
    }
  }

  /** @returns whether to send a witness */
  async #judge(workspace: string, watched: Watched): Promise<boolean> {
    for (const each of watched.pending) {
      each.age += 1;
      each.quiet += 1;
    }
    if (watched.patienceFor > 0) watched.patienceFor -= 1;
    else watched.patience = doubtAfter;
    if (this.outages.isDown(workspace)) {
      watched.downFor += 1;
      return watched.downFor % (watched.downFor < longOutage ? askBackEvery : askBackLater) === 0;
    }
    watched.downFor = 0;
    const [oldest, next] = [...watched.pending].toSorted((one, other) => other.quiet - one.quiet);
    if (oldest !== undefined && next !== undefined) {
      if (oldest.quiet >= watched.patience + confirmAfter && next.quiet >= confirmAfter) {
        const seconds = Math.floor((oldest.quiet * watchEveryMs) / 1000);
        const message = `none of ${watched.pending.size} requests was answered within ${seconds} s`;
        await this.outages.silent(workspace, { message, requestId: null }, oldest.startedAt);
        return false;
      }
    }
    if (oldest !== undefined && !oldest.doubted && oldest.quiet >= watched.patience) {
      oldest.doubted = true;
      return watched.pending.size < minWithoutWitness;
    }
    watched.suspectedFor = this.outages.isSuspected(workspace) ? watched.suspectedFor + 1 : 0;
    const { suspectedFor } = watched;
    return suspectedFor > 0 && suspectedFor % doubtAfter === 0 && suspectedFor <= mostWitnesses * doubtAfter;
  }

  #of(workspace: string): Watched {
    const known = this.#workspaces.get(workspace);
    if (known !== undefined) return known;
    const fresh = {
      pending: new Set<PendingRequest>(),
      patience: doubtAfter,
      patienceFor: 0,
      suspectedFor: 0,
      downFor: 0,
      asks: false,
    };
    this.#workspaces.set(workspace, fresh);
    return fresh;
  }
}
