import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Returns the headers of a client of the same user for a `pigeonpost start` with its configuration in this folder. They
 * contain the token that the process created, or none if no process has created one.
 * @param config the configuration's name
 * @param store the folder of its embedded store
 */
export function apiHeaders(
  folder: string,
  { config = 'pigeonpost.yaml', store = 'data' }: { readonly config?: string; readonly store?: string } = {},
): Record<string, string> {
  const files = [join(folder, store, 'api.token'), join(folder, '.pigeonpost', `${config}.token`)];
  const file = files.find((each) => existsSync(each));
  const json = { 'content-type': 'application/json' };
  return file === undefined ? json : { ...json, authorization: `Bearer ${readFileSync(file, 'utf8').trim()}` };
}
