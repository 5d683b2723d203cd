import { isSame, type Shown } from './looks.js';

/** A field that the service shows otherwise than the file has it. */
export interface Difference {
  readonly field: string;
  readonly inFile: unknown;
  readonly atService: unknown;
}

/** What the file has otherwise than the service shows it. A field that it does not show cannot be compared. Pure. */
export function findDifferences(fields: Readonly<Record<string, unknown>>, shown: Shown): Difference[] {
  return Object.entries(fields)
    .filter(([field, value]) => shown[field] !== undefined && !isSame(value, shown[field]))
    .map(([field, value]) => ({ field, inFile: value, atService: shown[field] }));
}
