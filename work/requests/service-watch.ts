import type { Outages } from './outages.js';

/**
 * Interval between two ticks. Outages are detected within seconds, even if the service hangs and no request fails. Time is
 * counted in ticks: a process that was suspended gets one late tick, and the responses arrive before the next one, so the
 * suspension does not look like an outage of the service.
 */
export const watchEveryMs = 500;

const ticks = (ms: number): number => Math.ceil(ms / watchEveryMs);
/** A request without a response for this long is suspected to hang: a second request (its witness) is sent. */
const doubtAfter = ticks(2000);
/** A witness without a response for this long confirms the outage. */
const confirmAfter = ticks(3000);
/** With this many requests in progress no witness is needed. */
const minWithoutWitness = 3;
/** A slow response doubles the patience with its duration, up to a request's deadline, for 10 min. */
const longestPatience = ticks(30_000);
const patienceLasts = ticks(10 * 60_000);
/** Maximum number of witnesses after failed requests until a response arrives. */
const maxWitnesses = 5;
/** Interval between requests that check whether the service is back; longer after 10 min of outage. */
const askBackEvery = ticks(5000);
const askBackLater = ticks(30_000);
const longOutage = ticks(10 * 60_000);

interface PendingRequest {
  readonly startedAt: number;
  /** Ticks since it was sent. */
  age: number;
  /** Ticks since it was sent or since the last response to another request. */
  quiet: number;
  /** A witness was sent for it. */
  doubted: boolean;
}

interface Watched {
  readonly pending: Set<PendingRequest>;
  /** Ticks without a response after which a request is suspected to hang. */
  patience: number;
  /** Ticks until `patience` returns to its default. */
  patienceFor: number;
  /** Ticks since a request failed, without a response since. */
  suspectedFor: number;
  downFor: number;
  /** A witness is in progress. */
  asks: boolean;
}

/** Watches the requests in progress of each workspace. The process calls `tick` every `watchEveryMs`. */
export class ServiceWatch {
  readonly #workspaces = new Map<string, Watched>();

  /** @param now the clock of `outages` */
  constructor(
    private readonly outages: Pick<Outages, 'isDown' | 'isSuspected' | 'silent'>,
    private readonly now: () => number,
  ) {}

  /** Notes that a request is sent. @returns a function to call when it has ended, with whether the service responded */
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

  /** Checks each workspace once. @param ask sends one cheap request, which goes through `sent` like any other */
  async tick(ask: (workspace: string) => Promise<unknown>): Promise<void> {
    for (const [workspace, watched] of this.#workspaces) {
      // oxlint-disable-next-line no-await-in-loop -- few workspaces, and only an outage takes time
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
    return suspectedFor > 0 && suspectedFor % doubtAfter === 0 && suspectedFor <= maxWitnesses * doubtAfter;
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
