import { audienceOf } from './client.js';

describe('the audience of a login', () => {
  it.each([
    ['https://login.salesforce.com', 'https://login.salesforce.com'],
    ['https://test.salesforce.com', 'https://test.salesforce.com'],
    ['https://acme.my.salesforce.com', 'https://login.salesforce.com'],
    ['https://acme.develop.my.salesforce.com', 'https://login.salesforce.com'],
    ['https://acme-dev-ed.trailblaze.my.salesforce.com', 'https://login.salesforce.com'],
    ['https://acme--uat.sandbox.my.salesforce.com', 'https://test.salesforce.com'],
    ['https://acme--uat.my.salesforce.com', 'https://test.salesforce.com'],
    ['https://acme--uat.cs12.my.salesforce.com', 'https://test.salesforce.com'],
    ['https://velocity-page-1863-dev-ed.scratch.my.salesforce.com', 'https://test.salesforce.com'],
    ['https://acme.my.site.com/members', 'https://acme.my.site.com/members'],
    ['https://notsalesforce.com', 'https://notsalesforce.com'],
  ])('at %s is %s', (loginUrl, audience) => {
    expect(audienceOf(loginUrl)).toBe(audience);
  });
});
