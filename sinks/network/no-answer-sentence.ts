import { failureSentence } from './failure-sentence.js';
import { CutShort } from './within-deadline.js';

export interface Asked {
  readonly host: string;
  /** As a person calls it. */
  readonly name: string;
  readonly timeoutMs: number;
  /** What was asked for, where that helps a person. */
  readonly what?: string;
}

/** Why a call made by `withinDeadline` has no answer, as a sentence without path, query or secret. */
export function noAnswerSentence(error: unknown, asked: Asked): string {
  if (!(error instanceof CutShort)) return failureSentence(error, asked.host);
  return error.reason === 'stopped' ? `stopped before ${asked.name} answered` : lateSentence(asked);
}

export function lateSentence({ host, timeoutMs, what }: Omit<Asked, 'name'>): string {
  return `${host} did not answer ${what === undefined ? '' : `${what} `}within ${timeoutMs / 1000} s`;
}
