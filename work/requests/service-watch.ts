import type { Outages } from './outages.js';

/**
 * Interval between two calls of `tick`, which detect an outage within seconds even if the service hangs and no request
 * fails. Time is counted in ticks so that a suspension of the process does not look like an outage of the service.
 * After a suspension, the process gets one late tick. Before the next tick, it reads the responses that have arrived.
 */
export const watchEveryMs = 500;

const ticks = (ms: number): number => Math.ceil(ms / watchEveryMs);
/**
 * Minimum time without a response after which a request is suspected to hang. Then a second, cheap request is sent (its
 * witness). With the default live interval of 5 s, an outage is detected at most 8 s after it starts, so that the page
 * and the metrics show it within 10 s.
 */
const suspectAfter = ticks(1000);
/** A witness without a response for this long confirms the outage. */
const confirmAfter = ticks(2000);
/**
 * Length of a period. A request is suspected to hang only after twice the time of the slowest response in the current
 * and the previous period, at most `longestPatience`, which is the deadline of a request.
 */
const patiencePeriod = ticks(10 * 60_000);
const longestPatience = ticks(30_000);
/** Maximum number of witnesses after failed requests until a response arrives. */
const maxWitnesses = 5;
/**
 * Interval between requests that check whether the service is back; longer after 10 min of outage, but short enough
 * that the end of an outage is reported within 10 s.
 */
const askBackEveryMs = 5000;
const askBackLaterMs = 10_000;
const longOutageMs = 10 * 60_000;

/** Returns the interval between two requests that check whether the service is back. Pure. @param downMs duration so far */
export function checkIntervalMs(downMs: number): number {
  return downMs < longOutageMs ? askBackEveryMs : askBackLaterMs;
}

interface PendingRequest {
  readonly startedAt: number;
  /** Ticks since it was sent. */
  age: number;
  /** Ticks since it was sent or since the last response to another request. */
  quiet: number;
  /** Ticks without a response after which it is suspected to hang. Doubles each time its witness gets a response. */
  patience: number;
  /** True if it is suspected to hang. */
  isSuspected: boolean;
}

interface Watched {
  readonly pending: Set<PendingRequest>;
  /** `patience` of the next request. */
  patience: number;
  /** Ticks that the slowest response of this period took. */
  slowest: number;
  periodEndsIn: number;
  /** Number of ticks since the first failed request; 0 after a response. */
  suspectedFor: number;
  /** Number of ticks since the outage was detected; 0 if there is none. */
  downFor: number;
  /** True while a witness is in progress. */
  hasWitness: boolean;
}

/** Watches the requests in progress of each workspace. The process calls `tick` every `watchEveryMs`. */
export class ServiceWatch {
  readonly #workspaces = new Map<string, Watched>();

  /** @param now the clock of `outages` */
  constructor(
    private readonly outages: Pick<Outages, 'isDown' | 'isSuspected' | 'silent'>,
    private readonly now: () => number,
  ) {}

  /**
   * Notes that a request is sent.
   * @returns a function to call when the response has arrived or the request has ended; its argument is true if the
   *   service responded. Only the first call has an effect
   */
  sent(workspace: string): (isAnswered: boolean) => void {
    const watched = this.#of(workspace);
    const { patience } = watched;
    const request: PendingRequest = { startedAt: this.now(), age: 0, quiet: 0, patience, isSuspected: false };
    watched.pending.add(request);
    return (isAnswered) => {
      if (!watched.pending.delete(request) || !isAnswered) return;
      for (const other of watched.pending) {
        if (other.isSuspected) other.patience = Math.min(2 * other.patience, longestPatience);
        other.isSuspected = false;
        other.quiet = 0;
      }
      watched.slowest = Math.max(watched.slowest, request.age);
      watched.patience = Math.max(watched.patience, patienceAfter(watched.slowest));
    };
  }

  /** Checks each workspace once. @param ask sends one cheap request, which goes through `sent` like any other */
  async tick(ask: (workspace: string) => Promise<unknown>): Promise<void> {
    for (const [workspace, watched] of this.#workspaces) {
      const isWitnessWanted = await this.#judge(workspace, watched);
      if (!isWitnessWanted || watched.hasWitness) continue;
      watched.hasWitness = true;
      const done = (): void => {
        watched.hasWitness = false;
      };
      ask(workspace).then(done, done); // the code that sends requests notes the outcome
    }
  }

  /** @returns whether to send a witness */
  async #judge(workspace: string, watched: Watched): Promise<boolean> {
    for (const each of watched.pending) {
      each.age += 1;
      each.quiet += 1;
    }
    watched.periodEndsIn -= 1;
    if (watched.periodEndsIn === 0) {
      watched.patience = patienceAfter(watched.slowest);
      watched.slowest = 0;
      watched.periodEndsIn = patiencePeriod;
    }
    if (this.outages.isDown(workspace)) {
      watched.downFor += 1;
      return watched.downFor % ticks(checkIntervalMs(watched.downFor * watchEveryMs)) === 0;
    }
    watched.downFor = 0;
    const pending = [...watched.pending];
    const hanging = pending.find(({ quiet, patience }) => quiet >= patience + confirmAfter);
    if (hanging !== undefined && pending.some((each) => each !== hanging && each.quiet >= confirmAfter)) {
      const seconds = Math.floor((hanging.quiet * watchEveryMs) / 1000);
      const problem = `none of ${pending.length} requests was answered within ${seconds} s`;
      await this.outages.silent(
        workspace,
        { message: problem, problem, status: null, requestId: null },
        hanging.startedAt,
      );
      return false;
    }
    const suspected = pending.filter(({ quiet, patience, isSuspected }) => !isSuspected && quiet >= patience);
    // A witness is needed even if several requests are in progress, because all of them may be for slow lists.
    if (suspected.length > 0) {
      for (const each of suspected) each.isSuspected = true;
      return true;
    }
    watched.suspectedFor = this.outages.isSuspected(workspace) ? watched.suspectedFor + 1 : 0;
    const { suspectedFor } = watched;
    return suspectedFor > 0 && suspectedFor % suspectAfter === 0 && suspectedFor <= maxWitnesses * suspectAfter;
  }

  #of(workspace: string): Watched {
    const known = this.#workspaces.get(workspace);
    if (known !== undefined) return known;
    const fresh = {
      pending: new Set<PendingRequest>(),
      patience: suspectAfter,
      slowest: 0,
      periodEndsIn: patiencePeriod,
      suspectedFor: 0,
      downFor: 0,
      hasWitness: false,
    };
    this.#workspaces.set(workspace, fresh);
    return fresh;
  }
}

/** Returns the patience with requests if the slowest response took this number of ticks. */
function patienceAfter(slowest: number): number {
  return Math.min(Math.max(suspectAfter, 2 * slowest), longestPatience);
}
