import { readUrl, serverName } from './read-url.js';

describe('the URL of a database', () => {
  it('names server, user, password and database, each decoded', () => {
    const server = readUrl('postgresql://app%40acme:p%3Aw@db.example.com:6432/ware%20house?sslmode=require');
    expect(server).toEqual({
      host: 'db.example.com',
      port: 6432,
      user: 'app@acme',
      password: 'p:w',
      database: 'ware house',
      sslMode: 'require',
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
    ['postgres://u@db.example.com/d?sslmode=disable', 'disable'],
  ])('%s is reached with sslmode %s', (url, sslMode) => expect(readUrl(url)).toMatchObject({ sslMode }));

  it('is accepted as hosts and tools hand it out: what is known is understood, and what means nothing here is named', () => {
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
    ['postgres://u:s3cret/d@db', 'is no URL'],
    ['postgres://u:s3%cret@db/d', 'percent-encode'],
    ['postgres://:s3cret@db/d', 'names no user'],
    ['postgres://u:s3cret@db', 'one database'],
    ['postgres://u:s3cret@db/d?sslmode=prefer', 'allowed: disable, require, verify-ca, verify-full'],
    ['postgres://u:s3cret@db/d?sslkeys=s3cret', 'allowed: sslmode, sslrootcert, sslcert, sslkey, channel_binding'],
    ['postgres://u:s3cret@db/d?connect_timeout=s3', 'connect_timeout that is no number of seconds'],
  ])('%s is refused, and nothing of it repeated', (url, reason) => {
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
