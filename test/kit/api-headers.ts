import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * What a client of the same user sends to a `pigeonpost start` whose configuration lies in this folder: the token that the
 * process has made for itself. Without one while no process has.
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
