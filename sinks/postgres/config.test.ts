import { Secret } from '../../config/secret.js';
import { postgresConfigSchema, readUrl, serverName } from './config.js';
import { postgresSinkType } from './postgres.js';

const parse = (url: unknown, schema = 'engagement') => postgresConfigSchema.safeParse({ url, schema });
const messagesOf = (result: ReturnType<typeof parse>) => result.error?.issues.map(({ message }) => message) ?? [];

describe('the configuration of a postgres sink', () => {
  it('accepts a URL from the environment and a schema', () => {
    expect(parse(new Secret('postgres://app:pw@db.example.com/warehouse')).success).toBe(true);
  });

  it('refuses a URL in the file, because it contains a password', () => {
    expect(messagesOf(parse('postgres://app:pw@db.example.com/warehouse'))).toEqual([
      expect.stringContaining('must not be in this file'),
    ]);
  });

  it('reports a problem of the URL without quoting it', () => {
    const messages = messagesOf(parse(new Secret('postgres://app:s3cret@db.example.com')));
    expect(messages).toEqual([expect.stringContaining('must name one database')]);
    expect(messages.join()).not.toContain('s3cret');
  });

  it('reports which file of the URL cannot be read, but not its path', () => {
    const messages = messagesOf(
      parse(new Secret('postgres://app:s3cret@db.example.com/d?sslrootcert=/nowhere/ca.pem')),
    );
    expect(messages).toEqual(['this URL names a file in sslrootcert that cannot be read (ENOENT)']);
  });

  it.each(['Engagement', 'pg_stuff', 'a-b', '', '1st', 'x'.repeat(64)])('rejects a schema named %j', (schema) => {
    expect(parse(new Secret('postgres://u@db/d'), schema).success).toBe(false);
  });
});

describe('the destination of a postgres sink', () => {
  const destinationOf = (url: string) =>
    postgresSinkType.destination({ url: new Secret(url), schema: 'engagement' }, { baseFolder: '/' });

  it('does not change with the user and password, but with the database', () => {
    expect(destinationOf('postgres://b:2@db/d')).toBe(destinationOf('postgres://a:1@db:5432/d'));
    expect(destinationOf('postgres://a:1@db/e')).not.toBe(destinationOf('postgres://a:1@db/d'));
  });
});

describe('the URL of a database', () => {
  it('contains server, user, password and database, each decoded', () => {
    const server = readUrl('postgresql://app%40acme:p%3Aw@db.example.com:6432/ware%20house?sslmode=require');
    expect(server).toEqual({
      host: 'db.example.com',
      port: 6432,
      user: 'app@acme',
      password: 'p:w',
      database: 'ware house',
      tlsMode: 'verify-full',
      channelBinding: false,
      options: undefined,
      connectTimeoutMs: undefined,
      applicationName: undefined,
      certificates: {},
      ignored: [],
    });
    expect(serverName(server)).toBe('PostgreSQL at db.example.com:6432');
  });

  it.each([
    ['postgres://u@db.example.com/d', 'verify-full'],
    ['postgres://u@10.0.0.1/d', 'verify-full'],
    ['postgres://u@localhost/d', 'disable'],
    ['postgres://u@[::1]/d', 'disable'],
    ['postgres://u@localhost/d?sslmode=verify-ca', 'verify-ca'],
    ['postgres://u@db.example.com/d?sslmode=require', 'verify-full'],
    ['postgres://u@db.example.com/d?sslmode=prefer', 'verify-full'],
    ['postgres://u@db.example.com/d?sslmode=no-verify', 'no-verify'],
    ['postgres://u@db.example.com/d?sslmode=disable', 'disable'],
  ])('%s uses sslmode %s', (url, tlsMode) => expect(readUrl(url)).toMatchObject({ tlsMode }));

  it('may have the parameters of hosting providers and tools, of which irrelevant ones are reported', () => {
    const url =
      'postgres://u@db.example.com/d?pgbouncer=true&connection_limit=1&connect_timeout=15&sslmode=require' +
      '&sslrootcert=/etc/ca.pem&application_name=lake&schema=public';
    expect(readUrl(url)).toMatchObject({
      connectTimeoutMs: 15_000,
      applicationName: 'lake',
      certificates: { ca: '/etc/ca.pem' },
      ignored: ['pgbouncer', 'connection_limit', 'schema'],
    });
    expect(readUrl('postgres://u@db/d?sslrootcert=system&connect_timeout=0')).toMatchObject({
      connectTimeoutMs: undefined,
      certificates: {},
    });
  });

  it.each([
    ['mysql://u:s3cret@db/d', 'must begin with postgres://'],
    ['postgres://u:s3cret/d@db', 'is not valid'],
    ['postgres://u:s3%cret@db/d', 'percent-encode'],
    ['postgres://:s3cret@db/d', 'names no user'],
    ['postgres://u:s3cret@db', 'one database'],
    ['postgres://u:s3cret@db/d?sslmode=allow', 'allowed: verify-full, require, prefer, verify-ca, no-verify, disable'],
    ['postgres://u:s3cret@db/d?sslkeys=s3cret', 'allowed: sslmode, sslrootcert, sslcert, sslkey, channel_binding'],
    ['postgres://u:s3cret@db/d?connect_timeout=s3', 'connect_timeout that is not a number of seconds'],
  ])('%s is rejected without being quoted', (url, reason) => {
    let message = '';
    try {
      readUrl(url);
    } catch (error) {
      ({ message } = error as Error);
    }
    expect(message).toContain(reason);
    expect(message).not.toContain('s3');
  });
});
