import { type Causes, commonReasons, contentRejected, type Reasons } from '../reasons.js';

export const postgresReasons = {
  ...commonReasons('forget-by-hand'),
  'no-table': {
    short: 'from a list without a table',
    sentence: 'the sink has no table for its list',
    kind: 'settled',
    nothingLeft: true,
  },
} as const satisfies Reasons;

export const postgresCauses: Causes = { 'key-not-storable': contentRejected, 'postgres:*': contentRejected };
