import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fillReferences, type Filled } from './environment.js';

const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-references-'));
writeFileSync(join(folder, 'token'), 'from-file\r\n');
writeFileSync(join(folder, 'key.pem'), 'line 1\nline 2\n\n');
writeFileSync(join(folder, 'nothing'), '\n');
afterAll(() => rmSync(folder, { recursive: true }));

const environment = { NAME: 'value', EMPTY: '', HARD: 'a $& $1 ${NAME} b', _x1: 'lower' };

const fill = (text: string) => shown(fillReferences(text, { environment, folder }));

/** Reveals the secret, which otherwise would be hidden from comparisons as well. */
function shown(filled: Filled): unknown {
  return filled.kind === 'reference' ? { secret: filled.secret.reveal(), references: filled.references } : filled;
}

describe('a text with references', () => {
  it.each([
    ['${NAME}', 'value', ['NAME']],
    ['${NAME:-other}', 'value', ['NAME']],
    ['${_x1}', 'lower', ['_x1']],
    ['https://${NAME}/${_x1}', 'https://value/lower', ['NAME', '_x1']],
    ['${EMPTY:-a}${NAME}', 'avalue', ['NAME']],
    ['${HARD}', 'a $& $1 ${NAME} b', ['HARD']],
    ['${file:token}', 'from-file', ['file:token']],
    ['${file:key.pem}', 'line 1\nline 2\n', ['file:key.pem']],
  ])('%s becomes the secret %j', (text, secret, references) => {
    expect(fill(text)).toEqual({ secret, references });
  });

  it.each([
    ['${UNSET:-embedded:./data}', 'embedded:./data'],
    ['${EMPTY:-other}', 'other'],
    ['a ${UNSET:-} b', 'a  b'],
    ['$${NAME}', '${NAME}'],
    ['$lowercase(item.Email)', '$lowercase(item.Email)'],
    ['$NAME and {NAME}', '$NAME and {NAME}'],
    ['', ''],
  ])('%s becomes the literal %j', (text, literal) => {
    expect(fill(text)).toEqual({ kind: 'literal', text: literal });
  });

  it.each(['${UNSET:-}', '${EMPTY:-}', '${UNSET:-}${EMPTY:-}'])('%s is treated as absent', (text) => {
    expect(fill(text)).toEqual({ kind: 'absent' });
  });

  const form =
    'a reference is ${NAME}, ${NAME:-default} or ${file:/path}, and they do not nest; write $${ for a literal "${"';
  it.each([
    ['${UNSET}', 'the environment variable UNSET is not set; set it, or write ${UNSET:-} where it may be absent'],
    ['${EMPTY}', 'the environment variable EMPTY is not set; set it, or write ${EMPTY:-} where it may be absent'],
    [
      '${toString}',
      'the environment variable toString is not set; set it, or write ${toString:-} where it may be absent',
    ],
    ['${}', form],
    ['${my name}', form],
    ['${NAME-default}', form],
    ['${UNSET:-${NAME}}', form],
    ['${NAME', '"${" is never closed; write ${NAME}, or $${ for a literal "${"'],
    ['${file:none}', 'the file none cannot be read (ENOENT); create it, or correct the path'],
    ['${file:.}', 'the file . cannot be read (EISDIR); create it, or correct the path'],
    ['${file:nothing}', 'the file nothing is empty; write the secret into it'],
    ['${file:}', 'the path after "file:" is missing; write ${file:/run/secrets/name}'],
  ])('%s is reported as a problem', (text, message) => {
    expect(fill(text)).toMatchObject({ kind: 'problem', message });
  });
});
