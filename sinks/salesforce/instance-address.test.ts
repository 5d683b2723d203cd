import { originOf } from './sessions.js';

const config = { loginUrl: 'https://login.acme.example', baseUrl: undefined };

describe('the address of an org that an answer to the login names', () => {
  it.each([
    ['https://acme.my.salesforce.com', 'https://acme.my.salesforce.com'],
    ['https://acme.my.salesforce.com/services', 'https://acme.my.salesforce.com'],
    ['http://acme.my.salesforce.com', 'https://acme.my.salesforce.com'],
    ['https://login.acme.example', 'https://login.acme.example'],
  ])('%s is used', (found, origin) => {
    expect(originOf(found, config)).toBe(origin);
  });

  it.each([
    'https://collector.example',
    'https://salesforce.com.collector.example',
    'https://notsalesforce.com',
    'https://acme.example',
    'https://127.0.0.1',
    'file:///etc/passwd',
    'acme.my.salesforce.com',
    42,
  ])('%s is not used, because it would receive personal data', (found) => {
    expect(originOf(found, config)).toBeUndefined();
  });
});
