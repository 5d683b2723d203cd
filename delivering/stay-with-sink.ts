import { Alarm } from '../base/alarm.js';
import type { Collaborators } from '../cycles/collaborators.js';
import { startStayTime, type StayResult, type StayTime } from '../cycles/cycle-results.js';
import { sinkWake } from '../cycles/wakes.js';
import { deliverToSink } from './deliver-to-sink.js';
import { SinkAuditor } from './parity/audit-sink.js';

/** Maximum time between two cycles, in case a wake is lost. */
const longestWaitMs = 5000;
/** At the end of a process, calls in progress have this time to end by themselves. */
const callsEndMs = 1000;

/**
 * Delivers to a sink for about two minutes, and waits in the process between the cycles (decision 0088). A wake ends the
 * wait. A cycle holds no lane longer than it sends, so a second call at the same time only shares the work. Between the
 * cycles, audits the destination slice by slice, and only while nothing is due (`SinkAuditor`).
 * @param signal aborted when Temporal no longer wants this attempt
 * @param leftMs the time that is left of the stay
 * @throws {LedgerError} kind `configuration` if another configuration is current; any error of a cycle
 */
export async function stayWithSink(
  deps: Collaborators,
  sink: string,
  signal: AbortSignal,
  leftMs: StayTime = startStayTime(),
): Promise<StayResult> {
  const alarm = new Alarm();
  const ring = (): void => alarm.ring();
  const stopListening = deps.wakes.listen(sinkWake(sink), ring);
  const cut = new AbortController();
  let cutting: NodeJS.Timeout | undefined;
  const stop = (): void => {
    ring();
    cutting = setTimeout(() => cut.abort(), callsEndMs);
  };
  const cancel = (): void => {
    ring();
    cut.abort();
  };
  deps.stopping.addEventListener('abort', stop);
  signal.addEventListener('abort', cancel);
  const auditor = new SinkAuditor(deps, sink);
  const timer = setTimeout(() => alarm.ring(), leftMs());
  const auditsEnd = AbortSignal.any([cut.signal, AbortSignal.timeout(leftMs())]);
  try {
    for (;;) {
      if (deps.stopping.aborted || signal.aborted) return { state: 'working', reason: 'stopping' };
      if (leftMs() === 0) return { state: 'working', reason: 'time' };
      const cycle = await deps.tracer.span('deliver', { sink }, () => deliverToSink(deps, sink, cut.signal));
      if (cycle.state === 'finished') return { state: cycle.state, reason: 'removed' };
      deps.onCycle(`deliver ${sink}`, null);
      const auditInMs = await auditor.next(cycle, auditsEnd);
      await alarm.wait(Math.min(cycle.nextDueInMs, longestWaitMs, auditInMs));
    }
  } finally {
    clearTimeout(timer);
    clearTimeout(cutting);
    stopListening();
    deps.stopping.removeEventListener('abort', stop);
    signal.removeEventListener('abort', cancel);
  }
}
