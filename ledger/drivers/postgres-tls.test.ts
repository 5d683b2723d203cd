import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runInThisContext } from 'node:vm';
import { Client } from 'pg';
import { localhostCertificate, localhostKey } from '../../sinks/network/localhost-certificate.test-kit.js';
import { hasPostgres, startPostgres, type TestPostgres } from '../../test/postgres.js';
import { until } from '../../test/until.js';
import { storeErrorOf } from './both-databases.test-kit.js';
import { openPostgres, storeTls } from './postgres.js';

/** Node's own object. Jest gives tests a copy, which Node's TLS never reads. */
const { env: environment } = runInThisContext('process') as NodeJS.Process;

describe('the TLS mode of a store', () => {
  it.each([
    ['postgres://u:p@db.example.com/d', 'verify-full'],
    ['postgres://u:p@10.0.0.1:5432/d', 'verify-full'],
    ['postgres://u:p@localhost.example.com/d', 'verify-full'],
    ['postgres://u:p@localhost/d?host=db.example.com', 'verify-full'],
    ['postgres://u:p@db.example.com/d?sslmode=require', 'verify-full'],
    ['postgres://u:p@db.example.com/d?sslmode=verify-ca', 'verify-ca'],
    ['postgres://u:p@db.example.com/d?sslmode=no-verify', 'no-verify'],
    ['postgres://u:p@db.example.com/d?sslmode=disable', 'disable'],
    ['postgres://u:p@db.example.com/d?ssl=true', 'verify-full'],
    ['postgres://u:p@localhost/d', 'disable'],
    ['postgres://u:p@127.0.0.1:5432/d', 'disable'],
    ['postgres://u:p@[::1]/d', 'disable'],
    ['postgres://u:p@%2Fvar%2Frun%2Fpostgresql/d', 'disable'],
    ['postgres:///d?host=/var/run/postgresql', 'disable'],
    ['postgres://u:p@localhost/d?sslmode=verify-full', 'verify-full'],
  ])('for %s is %s', (url, mode) => expect(storeTls(url)).toMatchObject({ mode }));

  it('comes only from the URL, whose TLS parameters the driver does not receive', () => {
    const { url, ssl } = storeTls(
      'postgres://u:p@db/d?sslmode=verify-full&ssl=0&application_name=x&uselibpqcompat=true',
    );
    expect(url).toBe('postgres://u:p@db/d?application_name=x');
    expect(ssl).toMatchObject({ rejectUnauthorized: true, minVersion: 'TLSv1.2' });
  });

  it('is refused with an unknown sslmode or a missing file, without quoting the URL', () => {
    for (const [parameters, says] of [
      ['sslmode=allow', /sslmode that is not known: allowed are verify-full/],
      ['sslrootcert=/there/is/none.pem', /none\.pem.*ENOENT/],
    ] as const) {
      let message = '';
      try {
        storeTls(`postgres://u:s3cret@db.example.com/d?${parameters}`);
      } catch (error) {
        ({ message } = error as Error);
      }
      expect(message).toMatch(says);
      expect(message).not.toContain('s3cret');
    }
  });
});

(hasPostgres() ? describe : describe.skip)('a store over TLS', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-store-tls-'));
  let server: TestPostgres;
  const urlWith = (parameters: string, host = 'localhost'): string => {
    const url = new URL(server.url);
    url.hostname = host;
    return `${url.href}?${parameters}`;
  };

  beforeAll(async () => {
    server = (await startPostgres())!;
    writeFileSync(join(folder, 'ca.pem'), localhostCertificate);
  });
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  });
  afterEach(() => {
    delete environment['NODE_TLS_REJECT_UNAUTHORIZED'];
    delete environment['PGSSLMODE'];
  });

  it('fails if the server does not offer it, and the message says what to do', async () => {
    const error = await storeErrorOf(openPostgres({ url: urlWith('sslmode=verify-full') }));
    expect(error).toMatchObject({
      kind: 'unreachable',
      message: expect.stringMatching(/offers no TLS.*sslmode=disable/),
    });
  });

  describe('with a server that offers TLS', () => {
    beforeAll(async () => {
      const superuser = new Client({ connectionString: server.url });
      await superuser.connect();
      for (const [file, text] of [
        ['server.crt', localhostCertificate],
        ['server.key', localhostKey],
      ]) {
        const base64 = Buffer.from(text!).toString('base64');
        await superuser.query(`copy (select '${base64}') to program 'umask 077; base64 -d > ${file}'`);
      }
      await superuser.query('alter system set ssl = on');
      await superuser.query('select pg_reload_conf()');
      await superuser.end();
      await until('the server offers TLS', async () => {
        const opened = await openPostgres({ url: urlWith('sslmode=no-verify') }).catch(() => undefined);
        await opened?.close();
        return opened !== undefined;
      });
    });

    const isEncrypted = async (url: string): Promise<boolean> => {
      const db = await openPostgres({ url });
      const [row] = await db.query<{ ssl: boolean }>('select ssl from pg_stat_ssl where pid = pg_backend_pid()');
      await db.close();
      return row!.ssl;
    };

    it('trusts the authority in sslrootcert', async () => {
      expect(await isEncrypted(urlWith(`sslmode=verify-full&sslrootcert=${join(folder, 'ca.pem')}`))).toBe(true);
      expect(await isEncrypted(urlWith('sslmode=no-verify'))).toBe(true);
      expect(await isEncrypted(urlWith('sslmode=disable'))).toBe(false);
    });

    it.each(['verify-full', 'require', 'verify-ca'])(
      'trusts no other authority with sslmode=%s, regardless of the environment',
      async (sslmode) => {
        environment['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
        environment['PGSSLMODE'] = 'no-verify';
        const error = await storeErrorOf(openPostgres({ url: urlWith(`sslmode=${sslmode}`) }));
        expect(error).toMatchObject({
          kind: 'unreachable',
          message: expect.stringMatching(/certificate\b.*sslrootcert=FILE/),
        });
      },
    );

    it('checks the name in the certificate unless the URL disables this', async () => {
      const ca = `sslrootcert=${join(folder, 'ca.pem')}`;
      // another address of this machine, which the certificate does not name
      const error = await storeErrorOf(openPostgres({ url: urlWith(`sslmode=verify-full&${ca}`, '0.0.0.0') }));
      expect(error.message).toMatch(/certificate for another name/);
      expect(await isEncrypted(urlWith(`sslmode=verify-ca&${ca}`, '0.0.0.0'))).toBe(true);
    });
  });
});
