import { apiSources, asLocalUser } from '../../api/api-sources.test-kit.js';
import { createApp } from '../../api/create-app.js';
import type { Scene } from './scene.js';

/** Returns a function that gets a path of a scene's API, as a user of this machine. */
export function apiOf({ deps: { ledger, config, configuration } }: Scene): (path: string) => Promise<string> {
  const app = createApp(apiSources({ ledger, config, configuration }));
  return async (path) => await (await app.request(path, { headers: asLocalUser })).text();
}
