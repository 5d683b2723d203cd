import { generateKeyPairSync } from 'node:crypto';
import { Secret } from '../../config/secret.js';

/** The minimal keys with which a sink type connects, for tests of all types. */
export interface MinimalSink {
  /** Keys of the sink without addresses. */
  readonly keys: Readonly<Record<string, unknown>>;
  /** Keys with an address that `check` connects to. A dot separates a group and its key, as in `oauth.tokenUrl`. */
  readonly addressKeys: readonly string[];
  /** Address keys that are secrets. */
  readonly secretAddresses?: readonly string[];
  /** Other keys that are needed with an address; undefined removes a key. */
  readonly instead?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

const token = new Secret('token');

const client = { clientId: 'client', clientSecret: new Secret('secret') };

const privateKey = new Secret(
  generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
);

/** Every sink that connects to an HTTP address must be listed; test/structure/network-policy.test.ts requires it. */
export const minimalSinks: Readonly<Record<string, MinimalSink>> = {
  canvas: {
    keys: {
      token,
      records: [{ from: 'registrants', course: '"1"', assignment: '"2"', user: '"3"', grade: '1' }],
    },
    addressKeys: ['baseUrl'],
  },
  dynamics: {
    keys: {
      ...client,
      baseUrl: 'https://receiver.example',
      tokenUrl: 'https://receiver.example/token',
      records: [
        { from: 'registrants', object: 'contacts', match: ['emailaddress1'], properties: { emailaddress1: 'email' } },
      ],
    },
    addressKeys: ['baseUrl', 'tokenUrl'],
  },
  http: {
    keys: { records: [{ from: 'registrants', create: {} }] },
    addressKeys: ['baseUrl', 'auth.tokenUrl'],
    instead: {
      // Only a `check` request needs a token.
      'auth.tokenUrl': {
        baseUrl: 'https://receiver.example',
        check: {},
        auth: { type: 'client-credentials', ...client },
      },
    },
  },
  hubspot: {
    keys: {
      token,
      records: [{ from: 'registrants', object: 'contacts', match: ['email'], properties: { email: 'email' } }],
    },
    addressKeys: ['baseUrl'],
  },
  s3: {
    keys: { bucket: 'acme-engagement', accessKeyId: 'AKIAEXAMPLE', secretAccessKey: new Secret('secret') },
    addressKeys: ['endpoint'],
  },
  salesforce: {
    keys: {
      clientId: 'client',
      username: 'integration@example.com',
      privateKey,
      records: [
        { from: 'registrants', object: 'Lead', create: false, match: ['leadEmail'], email: 'email', properties: {} },
      ],
    },
    addressKeys: ['loginUrl', 'baseUrl'],
  },
  slack: {
    keys: { token, channel: 'C0123456789', messages: [{ from: 'questions', text: 'text' }] },
    addressKeys: ['baseUrl', 'webhookUrl'],
    secretAddresses: ['webhookUrl'],
    instead: { webhookUrl: { token: undefined, channel: undefined } },
  },
  webhook: {
    keys: { secret: new Secret(`whsec_${Buffer.alloc(32, 7).toString('base64')}`) },
    addressKeys: ['url'],
  },
  xapi: {
    keys: {
      username: 'key',
      password: new Secret('password'),
      actor: { homePage: 'https://example.com', name: 'email' },
    },
    addressKeys: ['endpoint', 'oauth.tokenUrl'],
    instead: {
      'oauth.tokenUrl': {
        endpoint: 'https://receiver.example',
        username: undefined,
        password: undefined,
        oauth: client,
      },
    },
  },
};
