import { Secret } from '../../config/secret.js';
import { xapiConfigSchema, type XapiConfig } from './config.js';

/** The configuration of an LRS on loopback, as pigeonpost.yaml gives it. */
export function configurationFor(endpoint: string, keys: Readonly<Record<string, unknown>> = {}): XapiConfig {
  return xapiConfigSchema.parse({
    endpoint,
    username: 'lrs-key',
    password: new Secret('lrs-s3cret'),
    actor: { homePage: 'https://example.com', name: 'attendee.attendeeCode' },
    ...keys,
  });
}
