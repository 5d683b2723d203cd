import { codeOf } from '../base/errors.js';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Problem } from './config-error.js';
import { problemAt } from './parse-tree.js';
import { type ConfigDocument, valueAt, type RunningReferences } from './read-document.js';
import { Secret } from './secret.js';

/** Contents of the certificate files that the configuration names. */
export interface PemTexts {
  readonly networkCa?: string;
  readonly temporalCa?: string;
  readonly temporalCertificate?: string;
}

const pemKeys = {
  networkCa: ['network', 'ca'],
  temporalCa: ['temporal', 'tls', 'ca'],
  temporalCertificate: ['temporal', 'tls', 'certificate'],
} as const;

/**
 * Reads the certificate files. A wrong path is therefore reported with its line at the start, and not when the first
 * request fails. A value that is a PEM text (`${file:…}`) is used as it is.
 */
export async function readPemFiles(
  document: ConfigDocument,
  folder: string,
  within?: RunningReferences,
): Promise<{ texts: PemTexts; problems: Problem[] }> {
  const texts: { -readonly [Key in keyof PemTexts]: string } = {};
  const problems: Problem[] = [];
  for (const [name, path] of Object.entries(pemKeys) as [keyof PemTexts, readonly string[]][]) {
    const found = valueAt(document.tree, path);
    if (typeof found === 'string' && within?.hasText(path, found) === false) {
      problems.push(
        problemAt(
          document,
          path,
          'a configuration sent to the API may name only the certificates that the running file names',
        ),
      );
      continue;
    }
    const written = found instanceof Secret ? found.revealPlain() : found;
    if (typeof written !== 'string' || document.isBroken(path)) continue; // another check reports the problem
    const text = await pemText(written, folder);
    if (typeof text === 'string') texts[name] = text;
    else problems.push(problemAt(document, path, `${text.problem} (${document.placeOf(path).shown})`));
  }
  return { texts, problems };
}

async function pemText(written: string, folder: string): Promise<string | { problem: string }> {
  const begin = '-----BEGIN CERTIFICATE-----';
  if (written.includes(begin)) return written;
  try {
    const text = await readFile(resolve(folder, written), 'utf8');
    return text.includes(begin)
      ? text
      : { problem: 'the file holds no PEM certificate; name one that has a line -----BEGIN CERTIFICATE-----' };
  } catch (error) {
    const code = codeOf(error);
    return { problem: `the file cannot be read, ${code}; correct the path` };
  }
}
