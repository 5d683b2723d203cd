import { type HubSpotConfig, hubspotConfigSchema } from './config.js';

/** Returns the configuration as the loader creates it. @throws with every problem */
export function loadHubSpotConfig(keys: Readonly<Record<string, unknown>>): HubSpotConfig {
  const parsed = hubspotConfigSchema.safeParse(keys);
  if (parsed.success) return parsed.data;
  throw new Error(parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('\n'));
}
