import type { FieldError } from '../../pigeonhole/api-error.js';
import { readComplaints } from './judge-import-failure.js';
import type { Answer } from './settle-answer.js';

/** The behaviour that the specification leaves open. */
export interface ServiceBehavior {
  readonly atomic: boolean;
  readonly errors: 'indexed' | 'from-one' | 'first-only' | 'named' | 'none';
  readonly duplicates: 'refuse-row' | 'refuse-chunk' | 'ignore' | 'upsert';
  readonly maxRows: number;
}

/** A person in an imported file. */
export interface Person {
  readonly code: string;
  readonly isBad: boolean;
}

/** Whether a request is answered, lost before it reaches the service, or answered without the response arriving. */
export type Fate = 'answered' | 'lost-before' | 'lost-after';

/** A bulk create in memory, written from the specification. It shares only types with the code under test. */
export class ModelService {
  readonly registered = new Map<string, number>();
  requests = 0;
  /** Whether row numbers start at 0 or 1, known from the first refusal on. */
  #indexBase: 0 | 1 | null = null;

  constructor(
    private readonly manners: ServiceBehavior,
    private readonly isBadCode: (code: string) => boolean,
  ) {}

  post(codes: readonly string[], fate: Fate): Answer {
    this.requests += 1;
    if (fate === 'lost-before') return { kind: 'unknown' };
    const answer = this.#answer(codes);
    return fate === 'lost-after' ? { kind: 'unknown' } : answer;
  }

  #answer(codes: readonly string[]): Answer {
    const { atomic, duplicates, maxRows } = this.manners;
    const refuse = (errors: readonly FieldError[]): Answer => {
      const complaints = readComplaints(errors, null, codes.length, this.#indexBase);
      this.#indexBase = complaints.indexBase;
      return { kind: 'refused', complaints };
    };
    if (codes.length > maxRows) return refuse([{ field: 'data', message: `must hold at most ${maxRows}` }]);
    const isTaken = (code: string): boolean => this.registered.has(code);
    if (duplicates === 'refuse-chunk' && codes.some(isTaken)) {
      return refuse(this.manners.errors === 'none' ? [] : [{ field: 'data', message: 'holds codes that exist' }]);
    }
    const wrong = codes.flatMap((code, index) => {
      if (this.isBadCode(code)) return [{ index, field: 'Name', message: 'must be a string' }];
      const isRefused = duplicates === 'refuse-row' && isTaken(code);
      return isRefused ? [{ index, field: 'attendeeCode', message: 'has already been taken' }] : [];
    });
    if (wrong.length === 0 || !atomic) {
      const refused = new Set(wrong.map(({ index }) => index));
      for (const [index, code] of codes.entries()) if (!refused.has(index)) this.#register(code);
    }
    return wrong.length === 0 ? { kind: 'created' } : refuse(this.#inForm(wrong));
  }

  #register(code: string): void {
    if (!this.registered.has(code)) this.registered.set(code, 0);
    this.registered.set(code, this.registered.get(code)! + 1);
  }

  #inForm(wrong: readonly { index: number; field: string; message: string }[]): FieldError[] {
    const indexed = wrong.map(({ index, field, message }) => ({ field: `data[${index}].${field}`, message }));
    switch (this.manners.errors) {
      case 'indexed':
        return indexed;
      case 'from-one':
        return wrong.map(({ index, field, message }) => ({ field: `data[${index + 1}].${field}`, message }));
      case 'first-only':
        return indexed.slice(0, 1);
      case 'named':
        return wrong.map(({ field, message }) => ({ field, message }));
      case 'none':
        return [];
    }
  }
}
