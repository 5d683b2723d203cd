import { SalesforceRefusal } from './salesforce-refusal.js';

/** A record that is refused though nothing is wrong with it: a row that another transaction holds. */
export interface RecordFault {
  readonly object: string;
  readonly code: string;
  readonly message: string;
  /** Records of the object that pass first; 0 by default. */
  readonly skip?: number;
  /** Records that are refused after those; 1 by default. */
  readonly times?: number;
}

/** `UNABLE_TO_LOCK_ROW` for so many records of an object. */
export function lockedRow(object: string, times = 1, skip = 0): RecordFault {
  return {
    object,
    code: 'UNABLE_TO_LOCK_ROW',
    message: 'unable to obtain exclusive access to this record or 1 records',
    times,
    skip,
  };
}

/** Faults of single records, counted as records are written; deterministic. */
export class RecordFaults {
  private planned: { readonly fault: RecordFault; seen: number }[] = [];

  add(...faults: readonly RecordFault[]): void {
    this.planned.push(...faults.map((fault) => ({ fault, seen: 0 })));
  }

  clear(): void {
    this.planned = [];
  }

  /** @throws {SalesforceRefusal} the fault that befalls this record */
  befall(object: string): void {
    for (const planned of this.planned) {
      const { fault } = planned;
      const last = (fault.skip ?? 0) + (fault.times ?? 1);
      if (fault.object !== object || planned.seen >= last) continue;
      planned.seen += 1;
      if (planned.seen > (fault.skip ?? 0)) throw new SalesforceRefusal(fault.code, fault.message);
    }
  }
}
