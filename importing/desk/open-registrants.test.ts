import { createHash } from 'node:crypto';
import type * as WorkerThreads from 'node:worker_threads';
import { inChunks } from '../files/open-registrant-file.test-kit.js';
import { RegistrantFileError } from '../files/registrant-file.js';
import { checkImport } from './check-import.js';
import { ImportRefusal } from './import-request.js';
import { hashedBytes, openRegistrants } from './open-registrants.js';
import { startImport } from './start-import.js';

/** Every thread that was started. The id of a thread is -1 after its end. */
const threads: WorkerThreads.Worker[] = [];
jest.mock('node:worker_threads', () => {
  const actual = jest.requireActual<typeof WorkerThreads>('node:worker_threads');
  class Noted extends actual.Worker {
    constructor(...args: ConstructorParameters<typeof actual.Worker>) {
      super(...args);
      threads.push(this);
    }
  }
  return { ...actual, Worker: Noted };
});

const pieces = ['attendeeCode\n', '007\n', 'rest'];

async function* source(): AsyncGenerator<Uint8Array, void, undefined> {
  for (const piece of pieces) yield Buffer.from(piece);
}

describe('the hash of a byte stream', () => {
  const whole = createHash('sha256').update(pieces.join('')).digest('hex');

  it('is that of all bytes, even if the reader stopped early', async () => {
    const early = hashedBytes(source());
    for await (const piece of early.bytes) if (piece.length > 0) break;
    expect(await early.digest()).toBe(whole);

    const all = hashedBytes(source());
    let read = '';
    for await (const piece of all.bytes) read += Buffer.from(piece).toString();
    expect([read, await all.digest()]).toEqual([pieces.join(''), whole]);
  });
});

describe('the thread that reads a file of registrants', () => {
  const terms = { file: { name: 'people.csv' }, wishes: { own: {}, saved: {} }, knownFields: ['Name'] };
  const target = { workspace: 'acme', pigeonholeId: 101, name: null, endedAt: null } as never;
  beforeEach(() => {
    threads.length = 0;
  });
  afterEach(() => {
    expect(threads.map(({ threadId }) => threadId)).toEqual([-1]);
  });

  it('ends if no column contains the codes', async () => {
    await expect(openRegistrants(inChunks('Name\nAda\n'), terms)).rejects.toThrow(RegistrantFileError);
  });

  it('ends if an import rejects an unknown field of the file', async () => {
    const starting = startImport({} as never, inChunks('attendeeCode,Shoe size\nA1,38\n'), {
      ...terms,
      id: '0a7c3f52-7f0c-4c1b-9a53-0d7b7f6c2e11',
      target,
      canary: null,
      requestedBy: null,
      requestedToken: null,
      content: null,
      saveMapping: null,
      strangeFields: 'refuse',
    });
    await expect(starting).rejects.toThrow(ImportRefusal);
  });

  it('ends if an import rejects a guessed encoding that nobody has confirmed', async () => {
    const text = Buffer.from('attendeeCode,Name\nA1,S\xf8rensen\n', 'latin1');
    const starting = startImport({} as never, inChunks(text), {
      ...terms,
      id: '0a7c3f52-7f0c-4c1b-9a53-0d7b7f6c2e11',
      target,
      canary: null,
      requestedBy: null,
      requestedToken: null,
      content: null,
      saveMapping: null,
      strangeFields: 'accept',
    });
    await expect(starting).rejects.toThrow(
      'The encoding of the text is not certain (windows-1252 or windows-1250 or iso-8859-2, see line 2); save the file as UTF-8, or name its encoding.',
    );
  });

  it('says how a file was read in which no column holds the codes', async () => {
    const opening = openRegistrants(inChunks('Report\nFirst name;Last name;Email\nAnn;Ray;ann@example.com\n'), terms);
    await expect(opening).rejects.toThrow(
      'Row 2 was read as the header, with 3 columns, separated by ";": First name, Last name, Email.',
    );
  });

  it('ends if the store fails during a check', async () => {
    const ledger = { db: { query: () => Promise.reject(new Error('the store is away')) } };
    const checking = checkImport({ ledger } as never, inChunks('attendeeCode,Name\nA1,Ada\n'), {
      ...terms,
      target,
      canary: null,
    } as never);
    await expect(checking).rejects.toThrow('the store is away');
  });
});
