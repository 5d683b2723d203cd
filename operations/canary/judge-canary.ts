import type { Settlement } from '../../delivering/send-batch.js';
import type { ReadyCheck } from '../ready/readiness.js';
import type { Canary } from '../../delivering/canaries.js';
import type { CanaryTraits } from '../../sinks/sink.js';
import { canaryName } from './invented-item.js';
import type { Withdrawal } from './canary-flight.js';

/** A sent canary with its results. */
export interface FlownCanary {
  readonly sink: string;
  readonly type: string;
  readonly list: string;
  readonly mark: number;
  readonly sent: Settlement;
  readonly withdrawal: Withdrawal;
  readonly traits: CanaryTraits;
}

/** One line of the list for a canary that was sent. Pure. */
export function judgeCanary({ sink, type, list, mark, sent, withdrawal, traits }: FlownCanary): ReadyCheck {
  const about = aboutCanary(sink, type);
  const what = `"${canaryName(mark)}" (${list})`;
  const back = describeWithdrawal(withdrawal, sent, traits);
  const help = withdrawalHelp(withdrawal, mark);
  switch (sent.kind) {
    case 'delivered': {
      const says = `${what} was sent${told(sent.detail)}${back}`;
      if (help !== undefined) return { ...about, state: 'warning', says, todo: help };
      return { ...about, state: 'ok', says };
    }
    case 'rejected': {
      if (traits.refusesUnknown?.includes(sent.cause) === true) {
        const says = `it was reached, and knows nobody as invented as ${what}: nothing was written${told(sent.detail)}`;
        return { ...about, state: 'warning', says, ...(help !== undefined && { todo: help }) };
      }
      const says = `${what} was refused: ${sent.detail}${back}`;
      const todo =
        help ??
        'fix it there or in the mapping, unless it concerns a value that only real people have; then send another';
      return { ...about, state: 'failed', says, todo };
    }
    case 'pause':
      return { ...about, state: 'failed', says: `takes nothing: ${sent.detail}${back}`, todo: help ?? fixAndRetry };
    case 'retry':
    case 'unknown':
      return {
        ...about,
        state: 'failed',
        says: `${what} did not get through: ${sent.detail}${back}`,
        todo: help ?? fixAndRetry,
      };
    case 'unsent':
      return { ...about, state: 'unknown', says: `${what} got no turn in its time`, todo: 'send another in a minute' };
    case 'unplannable':
      return { ...about, state: 'failed', says: `the mapping fails: ${sent.detail}`, todo: 'correct the mapping' };
    case 'nothing':
      return notTried(sink, type, describeNothing(sent.reason, list));
  }
}

const fixAndRetry = 'fix it there or in pigeonpost.yaml, then send another';

/** A sink to which nothing was sent, and why: a sentence. Pure. */
export function notTried(sink: string, type: string, says: string, todo?: string): ReadyCheck {
  return {
    ...aboutCanary(sink, type),
    state: 'warning',
    says: `nothing was sent: ${says}`,
    ...(todo !== undefined && { todo }),
  };
}

/** A canary of which something may still stand at a sink. Pure. */
export function judgeLeftCanary({ sink, mark, state, detail }: Canary, type: string): ReadyCheck {
  const about = aboutCanary(sink, type);
  const says = `"${canaryName(mark)}" was sent and may still be there${detail === null ? '' : `: ${detail}`}`;
  const withdrawal = { kind: state === 'left' ? 'left' : 'waiting', detail: '' } as const;
  return { ...about, state: 'warning', says, todo: withdrawalHelp(withdrawal, mark)! };
}

/** Why a mapping makes nothing of an invented item. */
export function describeNothing(reason: string, list: string): string {
  switch (reason) {
    case 'condition':
      return `no condition of the mapping takes what can be invented of ${list}`;
    case 'not-its-own':
      return `what the mapping makes of ${list} is found by a value that real people may have`;
    default:
      return `the mapping makes nothing of what can be invented of ${list} (${reason})`;
  }
}

function aboutCanary(sink: string, type: string): Pick<ReadyCheck, 'id' | 'label'> {
  return { id: `canary:${sink}`, label: `Canary through ${sink} (${type})` };
}

function told(detail: string | null | undefined): string {
  return detail == null ? '' : ` (${detail})`;
}

function describeWithdrawal(withdrawal: Withdrawal, { kind }: Settlement, { stays }: CanaryTraits): string {
  switch (withdrawal.kind) {
    case 'none':
      return kind === 'delivered' ? ', and made nothing that could be taken back' : '';
    case 'withdrawn':
      return `${kind === 'delivered' ? ' and' : '; what had arrived was'} taken back${told(withdrawal.detail)}${stays === undefined ? '' : `; ${stays}`}`;
    case 'waiting':
      return `, and is not taken back yet: ${withdrawal.detail}`;
    case 'left':
      return `, and cannot be taken back: ${whyLeft(withdrawal.detail)}`;
  }
}

/** A sink's own words, or its word for having nothing that it could do. */
function whyLeft(detail: string): string {
  return detail === 'not-editable' ? 'what was posted there can be neither edited nor deleted' : detail;
}

function withdrawalHelp({ kind }: Pick<Withdrawal, 'kind'>, mark: number): string | undefined {
  if (kind === 'waiting') {
    return `it is tried again all the time and with the next canary; by hand: look there for ${mark} and remove it`;
  }
  return kind === 'left' ? `look there for ${mark} and remove it by hand` : undefined;
}
