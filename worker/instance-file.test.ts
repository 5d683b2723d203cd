import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keepLocalToken, localTokenFile, readLocalToken } from './instance-file.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pigeonpost-token-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const embedded = () => ({
  store: { kind: 'embedded', folder: join(folder, 'data') },
  folder,
  file: join(folder, 'a.yaml'),
});
const postgres = () => ({ store: { kind: 'postgres', url: {} }, folder, file: join(folder, 'a.yaml') });
const places = [
  ['an embedded store', embedded, 'data/api.token'],
  ['PostgreSQL', postgres, '.pigeonpost/a.yaml.token'],
] as const;

describe.each(places)('the token of an installation with %s', (_, placeOf, name) => {
  const place = (): Parameters<typeof keepLocalToken>[0] => placeOf() as never;

  it('is created once, in a file that only its owner can read', () => {
    expect(readLocalToken(place())).toBeUndefined();
    const token = keepLocalToken(place());
    expect(token).toMatch(/^pp_[0-9a-f]{16}_[\w-]{43}$/);
    const file = join(folder, name);
    expect(localTokenFile(place())).toBe(file);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).toBe(`${token}\n`);
    expect([keepLocalToken(place()), readLocalToken(place())]).toEqual([token, token]);
  });

  it('is protected again after its file was copied without permissions', () => {
    const token = keepLocalToken(place());
    chmodSync(join(folder, name), 0o644);
    expect(keepLocalToken(place())).toBe(token);
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  });

  it('is replaced if it is invalid, as after a full disk', () => {
    const file = localTokenFile(place());
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(file, '');
    expect(keepLocalToken(place())).toMatch(/^pp_/);
  });
});

it('a token that cannot be stored causes an error that names the setting to use instead', () => {
  writeFileSync(join(folder, '.pigeonpost'), 'a file, where a folder is needed');
  expect(() => keepLocalToken(postgres() as never)).toThrow(/api|\.pigeonpost.*set server\.token/);
});

it('the folder next to a configuration is ignored by Git', () => {
  keepLocalToken(postgres() as never);
  expect(readFileSync(join(folder, '.pigeonpost/.gitignore'), 'utf8')).toBe('*\n');
});
