import { type ConnectForm, quoted } from '../connect.js';

export const postgresForm: ConnectForm = {
  title: 'PostgreSQL',
  makes: 'a table for each list',
  name: 'warehouse',
  secrets: 'WAREHOUSE_',
  reads: [],
  fields: [
    {
      key: 'url',
      label: 'URL of the database',
      kind: 'secret',
      hint: 'postgres://user:password@host:5432/database. The user may create the schema.',
      suggested: 'WAREHOUSE_URL',
      standIn: 'postgres://stand-in@127.0.0.1/stand-in',
    },
    {
      key: 'schema',
      label: 'Schema for the tables',
      kind: 'text',
      hint: 'It is created if necessary, and belongs only to this sink.',
      suggested: 'engagement',
      standIn: 'engagement',
    },
  ],
  lines: ({ url, schema }) => ['type: postgres', `url: ${url}`, `schema: ${quoted(schema ?? '')}`],
};
