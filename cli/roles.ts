/** What a token may be for, as `api/rights.ts` knows them. */
export const roles = ['viewer', 'importer', 'operator', 'privacy', 'admin'] as const;
