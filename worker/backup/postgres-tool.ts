import type { Environment } from '../../config/environment.js';

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
  const variables = Object.fromEntries(Object.entries(environment).filter(([name]) => passedOn.test(name)));
  return { url: url.href, variables: password === '' ? variables : { ...variables, PGPASSWORD: password } };
}
