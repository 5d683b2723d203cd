import { randomBytes } from 'node:crypto';
import { Secret } from '../../config/secret.js';
import { webhookConfigSchema } from './config.js';

const secretOf = (bytes: number) => new Secret(`whsec_${randomBytes(bytes).toString('base64')}`);

/** Returns the problems as `path: message`; an empty list if the keys are valid. */
function problemsOf(keys: Record<string, unknown>): string[] {
  const result = webhookConfigSchema.safeParse({ url: 'https://hooks.example.com/in', secret: secretOf(32), ...keys });
  return result.success ? [] : result.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
}

describe('the configuration of a webhook', () => {
  it('converts a single secret to a list, and forbids private addresses by default', () => {
    const secret = secretOf(24);
    expect(webhookConfigSchema.parse({ url: 'https://hooks.example.com/in?to=7', secret })).toEqual({
      url: 'https://hooks.example.com/in?to=7',
      secret: [secret],
      allowPrivateAddresses: false,
    });
  });

  it('accepts two secrets, and rejects none and three', () => {
    expect(problemsOf({ secret: [secretOf(64), secretOf(24)] })).toEqual([]);
    expect(problemsOf({ secret: [] })).toHaveLength(1);
    expect(problemsOf({ secret: [secretOf(32), secretOf(32), secretOf(32)] })).toEqual([
      'secret: allowed: at most two secrets',
    ]);
  });

  it.each([
    ['too short', secretOf(23)],
    ['too long', secretOf(65)],
    ['without its prefix', new Secret(randomBytes(32).toString('base64'))],
    ['not base64', new Secret('whsec_not-base64-not-base64-not-base64')],
  ])('rejects a secret that is %s without showing it', (_, secret) => {
    const [problem = ''] = problemsOf({ secret });
    expect(problem).toMatch(/^secret: allowed: a secret of the form whsec_/);
    expect(problem).not.toContain(secret.reveal());
    expect(problemsOf({ secret: [secretOf(32), secret] })[0]).toMatch(/^secret\.1: /);
  });

  it('rejects a secret written in the file', () => {
    expect(problemsOf({ secret: secretOf(32).reveal() })).toEqual([
      expect.stringMatching(/^secret: a secret must not be in this file/),
    ]);
  });

  it.each([
    'ftp://hooks.example.com',
    'hooks.example.com',
    'https://user@hooks.example.com',
    'https://:pw@hooks.example.com',
  ])('rejects the URL %s', (url) => {
    expect(problemsOf({ url, allowPrivateAddresses: true })).toEqual([
      expect.stringMatching(/^url: allowed: an https/),
    ]);
  });

  it('accepts http only together with allowPrivateAddresses', () => {
    expect(problemsOf({ url: 'http://10.0.0.7:8080/in' })).toEqual([
      expect.stringMatching(/^url: must begin with https/),
    ]);
    expect(problemsOf({ url: 'http://10.0.0.7:8080/in', allowPrivateAddresses: true })).toEqual([]);
  });

  it('rejects an unknown key', () => {
    expect(problemsOf({ secrets: secretOf(32) })).toHaveLength(1);
  });
});
