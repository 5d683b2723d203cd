import type { ImportDesk } from './import-desk.js';

/** Returns an import desk with only these operations. Every other call fails the test. */
export function deskOf(given: Partial<ImportDesk> = {}): ImportDesk {
  const unasked = (): never => {
    throw new Error('not asked for here');
  };
  return {
    target: unasked,
    check: unasked,
    generatedCodes: unasked,
    start: unasked,
    list: unasked,
    find: unasked,
    tokenOf: unasked,
    report: unasked,
    reportCsv: unasked,
    act: unasked,
    mappings: unasked,
    ...given,
  };
}
