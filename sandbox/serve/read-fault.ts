import type { Fault, FaultEffect } from './faults.js';

/** Builds the effect of a vendor's named fault (`locked`, `dailyLimit`…); `undefined` for a name it does not know. */
export type NamedFaults = (name: string) => FaultEffect | undefined;

/**
 * A fault from the JSON of `POST /_double/faults`: `{"fault": "locked", "path": "/batch/", "times": 2}` with a name of
 * the vendor's README, or `{"effect": {"kind": "slow", "delayMs": 500}}` with an effect of its own.
 * @throws {TypeError} naming the field that cannot be read
 */
export function readFault(json: unknown, named: NamedFaults): Fault {
  if (typeof json !== 'object' || json === null) throw new TypeError('a fault is a JSON object');
  const { fault, effect, method, path, bodyHas, skip, times } = json as Record<string, unknown>;
  return {
    effect: typeof fault === 'string' ? namedEffect(fault, named) : ownEffect(effect),
    ...(method !== undefined && { method: text('method', method) }),
    ...(path !== undefined && { path: text('path', path) }),
    ...(bodyHas !== undefined && { bodyHas: text('bodyHas', bodyHas) }),
    ...(skip !== undefined && { skip: count('skip', skip) }),
    ...(times !== undefined && { times: count('times', times) }),
  };
}

function namedEffect(name: string, named: NamedFaults): FaultEffect {
  if (name === 'dropBefore' || name === 'dropAfter') return { kind: name };
  const effect = named(name);
  if (effect === undefined) throw new TypeError(`no fault is called "${name}"; the double's README lists them`);
  return effect;
}

function ownEffect(effect: unknown): FaultEffect {
  const kind = (effect as { kind?: unknown } | undefined)?.kind;
  if (kind === 'dropBefore' || kind === 'dropAfter') return { kind };
  if (kind === 'slow') return { kind, delayMs: count('effect.delayMs', (effect as { delayMs?: unknown }).delayMs) };
  if (kind === 'answer' || kind === 'answerAfter') {
    const { answer } = effect as { answer?: { status?: unknown; json?: unknown; text?: unknown } };
    return {
      kind,
      answer: {
        status: count('effect.answer.status', answer?.status),
        ...(answer?.json !== undefined && { json: answer.json }),
        ...(answer?.text !== undefined && { text: text('effect.answer.text', answer.text) }),
      },
    };
  }
  throw new TypeError('a fault has a name in "fault", or an "effect" with a known "kind"');
}

function text(field: string, value: unknown): string {
  if (typeof value !== 'string') throw new TypeError(`"${field}" of a fault is a string`);
  return value;
}

function count(field: string, value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw new TypeError(`"${field}" of a fault is a whole number of 0 or more`);
  }
  return value;
}
