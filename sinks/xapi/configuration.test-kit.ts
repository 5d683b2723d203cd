import { Secret } from '../../config/secret.js';
import { xapiConfigSchema, type XapiConfig } from './config.js';

/** Returns the configuration of an LRS on loopback. */
export function configurationFor(endpoint: string, keys: Readonly<Record<string, unknown>> = {}): XapiConfig {
  return xapiConfigSchema.parse({
    endpoint,
    username: 'lrs-key',
    password: new Secret('lrs-s3cret'),
    actor: { homePage: 'https://example.com', name: 'attendee.attendeeCode' },
    ...keys,
  });
}
