import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { localhostCertificate } from '../sinks/network/localhost-certificate.test-kit.js';
import { ownKeyPair } from '../sandbox/salesforce/salesforce-org.js';

/** The complete contract as a file. Its two absolute paths are replaced by paths next to the file. */
export const example = readFileSync(join(__dirname, 'example.fixture.yaml'), 'utf8')
  .replace('/run/secrets/sf.pem', 'sf.pem')
  .replace('/etc/ssl/own-ca.pem', 'own-ca.pem');

/** The files that the example needs next to it. */
export const exampleFiles: Readonly<Record<string, string>> = {
  'sf.pem': ownKeyPair().privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  'own-ca.pem': localhostCertificate,
};

const told: Readonly<Record<string, string>> = {
  HOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
  ALERT_SECRET: `whsec_${Buffer.alloc(32, 8).toString('base64')}`,
  WAREHOUSE_URL: 'postgres://warehouse:secret@warehouse.example.com/events',
};

/** The variables that the example references without a default, outside its comments. */
export const exampleEnvironment: Readonly<Record<string, string>> = Object.fromEntries(
  [...example.replace(/ #.*|^#.*/gm, '').matchAll(/\$\{([A-Z_]+)\}/g)].map(([, name]) => [
    name!,
    told[name!] ?? 'a-credential',
  ]),
);
