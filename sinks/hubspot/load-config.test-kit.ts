import { type HubSpotConfig, hubspotConfigSchema } from './config.js';

/** The configuration as the loader makes it. @throws with all that is wrong */
export function loadHubSpotConfig(keys: Readonly<Record<string, unknown>>): HubSpotConfig {
  const parsed = hubspotConfigSchema.safeParse(keys);
  if (parsed.success) return parsed.data;
  throw new Error(parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('\n'));
}
