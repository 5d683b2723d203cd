import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** PEM texts. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

/** A certificate authority for one test, in its own folder. Uses OpenSSL, because Node cannot create certificates. */
export class Authority {
  readonly certificate: string;
  readonly #own: string;

  constructor(private readonly folder: string) {
    this.#own = join(folder, 'authority');
    openssl(
      'req',
      '-x509',
      ...newKey(this.#own),
      '-subj',
      '/CN=an authority',
      '-out',
      `${this.#own}.crt`,
      '-days',
      '2',
    );
    this.certificate = readFileSync(`${this.#own}.crt`, 'utf8');
  }

  /** Issues a certificate for 127.0.0.1 and localhost, for a server or a client. */
  issue(name: string): KeyPair {
    const base = join(this.folder, name);
    openssl('req', ...newKey(base), '-subj', `/CN=${name}`, '-out', `${base}.csr`);
    writeFileSync(`${base}.ext`, 'subjectAltName=IP:127.0.0.1,DNS:localhost\nextendedKeyUsage=serverAuth,clientAuth\n');
    const signing = ['-CA', `${this.#own}.crt`, '-CAkey', `${this.#own}.key`, '-CAcreateserial', '-days', '2'];
    openssl('x509', '-req', '-in', `${base}.csr`, ...signing, '-extfile', `${base}.ext`, '-out', `${base}.crt`);
    return { certificate: readFileSync(`${base}.crt`, 'utf8'), key: readFileSync(`${base}.key`, 'utf8') };
  }
}

function newKey(base: string): string[] {
  return ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', `${base}.key`];
}

function openssl(...args: string[]): void {
  const done = spawnSync('openssl', args, { encoding: 'utf8' });
  if (done.status !== 0)
    throw new Error(`openssl ${args[0]} ended with ${done.status ?? done.error?.message}: ${done.stderr}`);
}
