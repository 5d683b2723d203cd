import { existsSync } from 'node:fs';
import type { Environment } from '../../config/environment.js';
import { storeTls } from '../../ledger/drivers/postgres-tls.js';

/** Of this process's environment only what a program needs to be found, to connect and to speak. */
const passedOn = /^(PATH|HOME|LANG|LC_.*|TZ|PG.*)$/;

/** A store's URL as PostgreSQL's own programs are given it: without the password, which others on this machine would see. */
export function postgresTool(
  store: string,
  environment: Environment,
): { readonly url: string; readonly variables: Environment } {
  const url = new URL(store);
  const password = url.searchParams.get('password') ?? decodeURIComponent(url.password);
  url.password = '';
  url.searchParams.delete('password');
  protect(url, store);
  const variables = Object.fromEntries(Object.entries(environment).filter(([name]) => passedOn.test(name)));
  return { url: url.href, variables: password === '' ? variables : { ...variables, PGPASSWORD: password } };
}

/** Of Debian, Alpine and what follows them: the programs know "system" from version 16 on only. */
const systemAuthorities = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/cert.pem',
];

/** The programs' own default takes any server, or none that encrypts: they are told the way that the store itself is reached. */
function protect(url: URL, store: string): void {
  const { mode } = storeTls(store);
  const isLocal = mode === 'disable' && !url.searchParams.has('sslmode');
  for (const name of ['ssl', 'uselibpqcompat']) url.searchParams.delete(name);
  if (isLocal) return;
  url.searchParams.set('sslmode', mode === 'no-verify' ? 'require' : mode);
  if (mode === 'no-verify') url.searchParams.delete('sslrootcert'); // with one, "require" verifies
  if (mode.startsWith('verify') && !url.searchParams.has('sslrootcert')) {
    url.searchParams.set('sslrootcert', systemAuthorities.find((path) => existsSync(path)) ?? 'system');
  }
}
