import { createPublicKey, createVerify } from 'node:crypto';
import { FakeOrg } from './fake-org.test-kit.js';
import { audienceOf, loginAssertion } from './login-assertion.js';

describe('a login assertion', () => {
  it('is a JWT that the certificate of the key verifies, for two minutes', () => {
    const identity = { clientId: 'client', username: 'user@acme.example', loginUrl: 'https://login.salesforce.com' };
    const [header, claims, signature] = loginAssertion(identity, FakeOrg.privateKey, 1_000_500).split('.');
    const read = (part: string | undefined): unknown => JSON.parse(Buffer.from(part!, 'base64url').toString());
    expect(read(header)).toEqual({ alg: 'RS256', typ: 'JWT' });
    expect(read(claims)).toEqual({
      iss: 'client',
      sub: 'user@acme.example',
      aud: 'https://login.salesforce.com',
      exp: 1120,
    });
    const verify = createVerify('RSA-SHA256').update(`${header}.${claims}`);
    expect(verify.verify(createPublicKey(FakeOrg.privateKey), signature!, 'base64url')).toBe(true);
  });

  it.each([
    ['https://login.salesforce.com', 'https://login.salesforce.com'],
    ['https://test.salesforce.com', 'https://test.salesforce.com'],
    ['https://acme.my.salesforce.com', 'https://login.salesforce.com'],
    ['https://acme--uat.sandbox.my.salesforce.com', 'https://test.salesforce.com'],
    ['https://acme.my.site.com/members', 'https://acme.my.site.com/members'],
    ['https://notsalesforce.com', 'https://notsalesforce.com'],
  ])('for a login at %s is meant for %s', (loginUrl, audience) => {
    expect(audienceOf(loginUrl)).toBe(audience);
  });
});
