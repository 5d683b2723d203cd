import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { environmentOf } from '../sink-environment.test-kit.js';
import type { Sink } from '../sink.js';
import { createFileSink } from './file.js';
import { nodeFileAccess } from './file-access.js';

const live = new AbortController().signal;
const name = 'acme/101/2026-11-29.xlsx';
let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'whole-file-'));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const sinkOf = (access = nodeFileAccess): Sink =>
  createFileSink({ folder: 'archive' }, environmentOf('archive', { baseFolder: base }), access) as unknown as Sink;
const folder = (): string => join(base, 'archive/_exports/acme/101');
async function* parts(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

describe('a whole file in the folder of a file sink', () => {
  it('replaces an older one, for this user and the group only, and can be removed twice', async () => {
    const sink = sinkOf();
    for (const text of ['older', 'newer']) {
      expect(await sink.putFile!({ name, bytes: parts(text, '!') }, 'ledger-1', live)).toEqual({ kind: 'delivered' });
      expect(readFileSync(join(folder(), '2026-11-29.xlsx'), 'utf8')).toBe(`${text}!`);
    }
    expect(statSync(join(folder(), '2026-11-29.xlsx')).mode & 0o007).toBe(0);
    for (let n = 0; n < 2; n += 1) expect(await sink.removeFile!(name, live)).toEqual({ kind: 'delivered' });
    expect(readdirSync(folder())).toEqual([]);
  });

  it('is never seen in part: a reader sees the older one until all of the newer one is stored', async () => {
    const sink = sinkOf();
    await sink.putFile!({ name, bytes: parts('older') }, 'ledger-1', live);
    const bytes = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from('half');
      expect(readFileSync(join(folder(), '2026-11-29.xlsx'), 'utf8')).toBe('older');
      yield Buffer.from(' and half');
    };
    await sink.putFile!({ name, bytes: bytes() }, 'ledger-1', live);
    expect(readFileSync(join(folder(), '2026-11-29.xlsx'), 'utf8')).toBe('half and half');
  });

  it('leaves nothing if its source fails, and passes that failure on', async () => {
    const bytes = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from('half');
      await Promise.reject(new Error('the store does not answer'));
    };
    await expect(sinkOf().putFile!({ name, bytes: bytes() }, 'ledger-1', live)).rejects.toThrow(
      'the store does not answer',
    );
    expect(readdirSync(folder())).toEqual([]);
  });

  it('removes the draft of a killed process', async () => {
    await sinkOf().putFile!({ name, bytes: parts('x') }, 'ledger-1', live);
    writeFileSync(join(folder(), '.2026-11-29.xlsx.0c0ffee0'), 'half');
    await sinkOf().putFile!({ name, bytes: parts('y') }, 'ledger-1', live);
    expect(readdirSync(folder())).toEqual(['2026-11-29.xlsx']);
  });

  it('of another ledger is refused, and a full disk is a reason to try again', async () => {
    await sinkOf().putFile!({ name, bytes: parts('x') }, 'ledger-1', live);
    expect(await sinkOf().putFile!({ name, bytes: parts('y') }, 'ledger-2', live)).toMatchObject({
      kind: 'pause',
      cause: 'destination',
    });
    expect(readFileSync(join(folder(), '2026-11-29.xlsx'), 'utf8')).toBe('x');
    const full = {
      ...nodeFileAccess,
      rename: async () => await Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' })),
    };
    expect(await sinkOf(full).putFile!({ name, bytes: parts('y') }, 'ledger-1', live)).toMatchObject({
      kind: 'retry',
      detail: expect.stringContaining('the disk is full') as string,
    });
    expect(readdirSync(folder())).toEqual(['2026-11-29.xlsx']);
  });
});
