import { audiencesOf } from './sessions.js';

const login = 'https://login.salesforce.com';
const test = 'https://test.salesforce.com';

describe('the audiences of a login', () => {
  it.each([
    [login, []],
    [test, []],
    ['https://acme.my.salesforce.com', [login]],
    ['https://acme.develop.my.salesforce.com', [login]],
    ['https://acme-dev-ed.trailblaze.my.salesforce.com', [login]],
    ['https://acme--uat.sandbox.my.salesforce.com', [test]],
    ['https://acme--uat.my.salesforce.com', [test]],
    ['https://acme--uat.cs12.my.salesforce.com', [test]],
    ['https://velocity-page-1863-dev-ed.scratch.my.salesforce.com', [test]],
    ['https://acme.my.site.com/members', []],
    ['https://notsalesforce.com', []],
  ])('at %s are that address and then %j', (loginUrl, others) => {
    expect(audiencesOf(loginUrl)).toEqual([loginUrl, ...others]);
  });
});
