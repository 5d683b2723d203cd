import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorOf } from './load-text.test-kit.js';

/** The whole contract as a file; of what it refers to, the two absolute paths are moved beside it. */
const example = readFileSync(join(__dirname, 'example.fixture.yaml'), 'utf8')
  .replace('/run/secrets/sf.pem', 'sf.pem')
  .replace('/etc/ssl/own-ca.pem', 'own-ca.pem');

const files = { 'sf.pem': 'a private key', 'own-ca.pem': '-----BEGIN CERTIFICATE-----\n' };

/** The references without a default, those in comments aside. */
const environment = Object.fromEntries(
  [...example.replace(/ #.*|^#.*/gm, '').matchAll(/\$\{([A-Z_]+)\}/g)].map(([, name]) => [name, 'found']),
);

describe('the example of the whole contract', () => {
  it('is refused for parts that this version lacks, and for nothing else', async () => {
    const problems = (await errorOf(example, environment, files))?.problems ?? [];
    expect(problems.map(({ line, key }) => `${line}: ${key}`)).toEqual([
      '33: sinks.crm.type',
      '53: sinks.salesforce.type',
      '68: sinks.questions-channel.type',
      '84: sinks.lms.type',
      '96: sinks.grades.type',
      '108: sinks.warehouse.type',
      '145: alerts',
      '157: retention',
    ]);
    for (const { message } of problems) expect(message).toContain('not available in this version');
  });

  it('tells every missing variable besides', async () => {
    const problems = (await errorOf(example, {}, files))?.problems ?? [];
    const missing = problems.flatMap(
      ({ message }) => /^the environment variable (\w+) is not set/.exec(message)?.[1] ?? [],
    );
    expect(missing).toEqual(Object.keys(environment));
  });
});
