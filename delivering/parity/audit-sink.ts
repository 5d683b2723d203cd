import { numberedLanes, syncsTo } from '../lane-plans.js';
import type { Collaborators } from '../../cycles/collaborators.js';
import { sinkWake } from '../../cycles/wakes.js';
import type { DeliveryResult } from '../../cycles/cycle-results.js';
import { pauseOfSink } from '../../ledger/pauses.js';
import { selectedPigeonholes } from '../../ledger/pigeonholes.js';
import { auditLane } from './audit-lane.js';
import { duePass } from './parity-store.js';

/** Minimum time between two checks for an audit that is due. */
const lookEveryMs = 2000;
/** Pause between two slices of a pass that nobody requested. */
const restMs = 1000;
/** If deliveries are due, a slice in progress has this time to end. */
const yieldMs = 1000;

/**
 * Audits a sink between its delivery cycles: one slice after each cycle that leaves nothing due (decision 0109). Its
 * requests share the limits of the sink, and a wake of the sink ends the slice.
 */
export class SinkAuditor {
  #nextAt = 0;

  constructor(
    private readonly deps: Collaborators,
    private readonly name: string,
  ) {}

  /**
   * Runs the next slice if one is due.
   * @param cycle the delivery cycle that has just ended
   * @returns the time until the next slice may be due, in ms; `Infinity` if the sink cannot be audited now
   */
  async next(cycle: DeliveryResult, signal: AbortSignal): Promise<number> {
    const { deps, name } = this;
    const open = deps.sinks.get(name);
    if (open?.sink.readBack === undefined || cycle.nextDueInMs === 0) return Infinity;
    if (cycle.reason === 'observe' || cycle.reason === 'failing') return Infinity;
    const waitMs = this.#nextAt - performance.now();
    if (waitMs > 0) return waitMs;
    this.#nextAt = performance.now() + lookEveryMs;
    const isPaused = cycle.state === 'paused';
    // A pause by a cause, such as a file that was cut, stops deliveries. An audit that an operator requests shows the damage.
    if (isPaused && (await pauseOfSink(deps.ledger, open))?.pausedBy === 'person') return Infinity;
    const lanes = await numberedLanes(deps, name, await selectedPigeonholes(deps.ledger, syncsTo(deps.config, name)));
    const everyMs = isPaused || deps.config.sinks[name]!.audit === 'never' ? null : deps.config.sinks[name]!.audit;
    const due = await duePass(deps.ledger, {
      sinkId: open.id,
      pigeonholeNumbers: [...lanes.keys()],
      everyMs,
    });
    if (due === undefined) return lookEveryMs;
    const { lists, ...lane } = lanes.get(due.pigeonholeNumber)!;
    const place = { workspace: lane.workspace, pigeonholeId: lane.pigeonholeId };
    const result = await this.#whileNothingIsDue(signal, (ends) => auditLane(deps, { open, place, lists, due }, ends));
    if (result === 'busy') return lookEveryMs;
    const pauseMs = due.isRequested || result === 'waits' ? 0 : restMs;
    this.#nextAt = performance.now() + pauseMs;
    return pauseMs;
  }

  async #whileNothingIsDue<T>(signal: AbortSignal, work: (ends: AbortSignal) => Promise<T>): Promise<T> {
    const yielding = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const stopListening = this.deps.wakes.listen(sinkWake(this.name), () => {
      timer ??= setTimeout(() => yielding.abort(), yieldMs);
    });
    try {
      return await work(AbortSignal.any([signal, yielding.signal, this.deps.stopping]));
    } finally {
      clearTimeout(timer);
      stopListening();
    }
  }
}
