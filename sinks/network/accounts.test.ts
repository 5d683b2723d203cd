import { Secret } from '../../config/secret.js';
import { Accounts, type AccountName } from './accounts.js';

const account: AccountName = {
  type: 'hubspot',
  baseUrl: 'https://api.hubapi.com',
  credential: new Secret('pat-eu1-one'),
  limits: undefined,
};

describe('an object that an account shares', () => {
  it('is the same for every sink with the credential, and is created once', () => {
    const accounts = new Accounts();
    const first = accounts.share(account, 'requests', () => ({ made: 1 }));
    expect(accounts.share({ ...account, credential: new Secret('pat-eu1-one') }, 'requests', () => ({ made: 2 }))).toBe(
      first,
    );
  });

  it.each<[string, Partial<AccountName>, string]>([
    ['another credential', { credential: new Secret('pat-eu1-two') }, 'requests'],
    ['another vendor', { type: 'canvas' }, 'requests'],
    ['another address', { baseUrl: 'http://127.0.0.1:9000' }, 'requests'],
    ['other limits', { limits: { per10s: 50 } }, 'requests'],
    ['another kind', {}, 'day'],
  ])('is a separate one for %s', (_, other, kind) => {
    const accounts = new Accounts();
    const first = accounts.share(account, 'requests', () => ({}));
    expect(accounts.share({ ...account, ...other }, kind, () => ({}))).not.toBe(first);
  });

  it('contains no credential', () => {
    const accounts = new Accounts();
    accounts.share(account, 'requests', () => 1);
    expect(JSON.stringify(accounts)).not.toContain('pat-eu1');
  });
});
