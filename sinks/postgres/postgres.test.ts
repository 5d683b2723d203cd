import { Pool } from 'pg';
import { Secret } from '../../config/secret.js';
import { postgresConfigSchema } from './config.js';
import { createPostgresSink } from './postgres.js';
import { environmentOf } from '../sink-environment.test-kit.js';

jest.mock('pg', () => ({ Pool: jest.fn() }));

/** Answers each query of `check` as an empty database in which the user may create a schema. */
const client = {
  query: async (sql: string) => ({
    rows: sql.includes('server_version_num')
      ? [{ version: 15, user: 'app', encrypted: true, standby: false, may_create_schema: true }]
      : [],
  }),
  release: () => undefined,
};

const poolType = Pool as unknown as jest.Mock;

function sinkWith(parameters: string) {
  poolType
    .mockReset()
    .mockReturnValue({ on: () => undefined, connect: async () => client, end: async () => undefined });
  const url = new Secret(`postgres://app:s3cret@db.example.com/warehouse?${parameters}`);
  const config = postgresConfigSchema.parse({ url, schema: 'engagement' });
  return createPostgresSink(config, environmentOf('warehouse'));
}

async function checkWith(parameters: string) {
  const sink = sinkWith(parameters);
  try {
    return await sink.check(AbortSignal.timeout(10_000));
  } finally {
    await sink.close();
  }
}

describe('the check of a postgres sink', () => {
  it('names URL parameters that have no effect, but not their values', async () => {
    expect(await checkWith('pgbouncer=true&sslmode=require&connection_limit=17')).toEqual([
      { ok: true, text: 'PostgreSQL at db.example.com:5432 answers as "app", version 15, encrypted' },
      { ok: true, warning: true, text: 'these parameters of "url" have no effect: pgbouncer, connection_limit' },
      { ok: true, text: 'schema "engagement" does not exist yet: pigeonpost creates what is missing' },
    ]);
  });

  it('does not mention parameters if all have an effect', async () => {
    const texts = (await checkWith('sslmode=require&connect_timeout=3')).map(({ text }) => text);
    expect(texts).toHaveLength(2);
    expect(texts.join()).not.toContain('parameters');
  });
});

describe('the connections of a postgres sink', () => {
  it.each([
    ['connect_timeout=3', 3_000],
    ['connect_timeout=0', 10_000],
    ['sslmode=require', 10_000],
  ])('fail after the connect timeout: %s', (parameters, connectionTimeoutMillis) => {
    sinkWith(parameters);
    expect(poolType).toHaveBeenCalledWith(expect.objectContaining({ connectionTimeoutMillis }));
  });
});
