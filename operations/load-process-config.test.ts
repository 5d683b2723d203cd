import { Secret } from '../config/secret.js';
import { type Config, redactor } from '../operations/load-process-config.js';

const config = {
  workspaces: { acme: { apiKey: new Secret('the-key-of-acme') } },
  sinks: { hooks: { settings: { secrets: [new Secret('of-the-hooks')] } } },
} as unknown as Config;

describe('a redacted report', () => {
  it.each<[string, string, string]>([
    ['a secret of the configuration', 'refused the-key-of-acme today', 'refused [secret] today'],
    ['a secret deep in the settings', 'x of-the-hooks y', 'x [secret] y'],
    ['an e-mail address', 'no contact ann.ray+1@example.co.uk there', 'no contact [e-mail] there'],
    ['a signing secret', 'whsec_AAAAAAAAAAAA=', '[secret]'],
    ['a bot token', 'token xoxb-123-abc is gone', 'token [secret] is gone'],
    ['a token of pigeonpost', `pp_0123456789abcdef_${'a-B'.repeat(14)}c is refused`, '[secret] is refused'],
    [
      'a session of the page',
      `cookie pigeonpost-8088=pps_admin.1790000000.${'x'.repeat(43)}; b`,
      'cookie pigeonpost-8088=[secret]; b',
    ],
    [
      'a link to the page',
      'page: http://127.0.0.1:8088/?code=ppc_LbSYL3mW0cVtWJIfq9yB0n2d',
      'page: http://127.0.0.1:8088/?code=[secret]',
    ],
    ['a code in an address', 'https://host/?code=abcdef', 'https://host/?code=[secret]'],
    ['a header', 'Authorization: Bearer abcdef012345', 'Authorization: Bearer [secret]'],
    ['a password in an address', 'postgres://me:pass@host/db', 'postgres://[secret]@host/db'],
    ['a token in an address', 'https://host/hook?token=abc&x=1', 'https://host/hook?token=[secret]&x=1'],
  ])('contains no longer %s', (_, text, without) => {
    expect(redactor(config)(text)).toBe(without);
  });

  it('keeps all other values, at any depth', () => {
    const report = { a: [{ b: 'sink crm (line 9)', c: 7, d: null, e: true }], 'ann@example.com': 'x' };
    expect(redactor(undefined)(report)).toEqual({ a: report.a, '[e-mail]': 'x' });
  });
});
