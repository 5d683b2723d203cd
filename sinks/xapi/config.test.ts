import { Secret } from '../../config/secret.js';
import { xapiConfigSchema } from './config.js';

const oauth = { tokenUrl: 'https://login.example.com/token', clientId: 'id', clientSecret: new Secret('s3cret') };
const account = { homePage: 'https://example.com', name: 'attendee.attendeeCode' };

/** Returns the problems as `path: message`; an empty list if the keys are valid. */
function problemsOf(keys: Readonly<Record<string, unknown>>): string[] {
  const all = { endpoint: 'https://lrs.example.com/xapi', username: 'key', password: new Secret('p'), actor: account };
  const result = xapiConfigSchema.safeParse({ ...all, ...keys });
  return result.success ? [] : result.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
}

describe('the configuration of an LRS', () => {
  it('requires Basic credentials or OAuth client credentials, but not both', () => {
    const instead = { username: undefined, password: undefined };
    expect(problemsOf({})).toEqual([]);
    expect(problemsOf({ ...instead, oauth })).toEqual([]);
    expect(problemsOf({ oauth })).toEqual([': allowed: "username" and "password", or "oauth"']);
    expect(problemsOf(instead)).toEqual([': allowed: "username" and "password", or "oauth"']);
    expect(problemsOf({ password: undefined })).toEqual(['password: allowed: "username" and "password", or "oauth"']);
  });

  it('requires one identifier of people and an address for activities', () => {
    const oneOf = 'actor: allowed: one of name (with homePage), mbox and mboxSha1sum';
    const activities = 'https://example.com/events';
    expect(problemsOf({ actor: { mbox: 'attendee.Email' }, activities })).toEqual([]);
    expect(problemsOf({ actor: { ...account, mbox: 'attendee.Email' } })).toEqual([oneOf]);
    expect(problemsOf({ actor: {}, activities })).toEqual([oneOf]);
    expect(problemsOf({ actor: { name: 'attendee.attendeeCode' }, activities })).toEqual([
      'actor.homePage: missing: the address of the system to which the accounts in "name" belong',
    ]);
    expect(problemsOf({ actor: { mbox: 'attendee.Email' } })).toEqual([
      'activities: missing: an address of your own, because "actor.homePage" is not set',
    ]);
  });

  it('requires https for the client secret, or http to a private network if that is allowed', () => {
    const plain = { username: undefined, password: undefined, oauth: { ...oauth, tokenUrl: 'http://10.0.0.7/token' } };
    expect(problemsOf(plain)).toEqual([expect.stringMatching(/^oauth\.tokenUrl: must begin with https/)]);
    expect(problemsOf({ ...plain, allowPrivateAddresses: true })).toEqual([]);
  });
});
