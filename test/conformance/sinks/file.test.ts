import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import type { Change } from '../../../sinks/change.js';
import { failingAccess, type Fault as DiskFault } from '../../../sinks/file/failing-access.test-kit.js';
import { nodeFileAccess, type FileAccess } from '../../../sinks/file/file-access.js';
import { createFileSink, fileSinkType } from '../../../sinks/file/file.js';
import type { Lane, SendResult } from '../../../sinks/sink.js';
import { operationsFor } from '../../../sinks/plan-of.test-kit.js';
import type { Destination, Fault } from './destination.js';
import { storyOf } from './generated-changes.js';
import { describeLogReadBack } from './log-read-back.js';
import { describeSink } from './sink-conformance.js';
import { environmentOf } from '../../../sinks/sink-environment.test-kit.js';

interface FileDestination extends Destination {
  readonly folder: string;
  readonly diskFaults: DiskFault[];
}

const environment = (baseFolder: string) => environmentOf('archive', { baseFolder });

/** Returns the files below a folder by relative path, without markers. */
function filesIn(folder: string): Map<string, string> {
  if (!existsSync(folder)) return new Map();
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ndjson'));
  return new Map(paths.sort().map((path) => [path, readFileSync(join(folder, path), 'utf8')]));
}

async function startFolder(): Promise<FileDestination> {
  const base = mkdtempSync(join(tmpdir(), 'file-conformance-'));
  const folder = join(base, 'archive');
  const { access, faults } = failingAccess();
  return {
    sink: createFileSink({ folder: 'archive' }, environment(base), access),
    folder,
    diskFaults: faults,
    secrets: [],
    received: async () =>
      [...filesIn(folder).values()].flatMap((content) => {
        const lines = content.split('\n').slice(0, -1); // without an incomplete last line, which is removed when the file is opened next
        return lines.map((line) => ({ change: JSON.parse(line) as Change, bytes: line }));
      }),
    close: async () => rmSync(base, { recursive: true }),
  };
}

const failing = (name: string, ...diskFaults: DiskFault[]): Fault<FileDestination> => ({
  name,
  begin: async (destination) => void destination.diskFaults.push(...diskFaults),
  repair: async (destination) => void destination.diskFaults.splice(0),
});

describeSink('file', {
  type: fileSinkType,
  start: startFolder,
  faults: [
    failing('is full in the middle of a line', { call: 'write', code: 'ENOSPC', after: 3, partialBytes: 70 }),
    failing('is full from the first byte', { call: 'write', code: 'ENOSPC' }),
    failing(
      'is full and cannot even be cut',
      { call: 'write', code: 'EIO', partialBytes: 9 },
      { call: 'truncate', code: 'EIO' },
    ),
    failing('cannot make lines durable', { call: 'sync', code: 'EIO', after: 1 }),
    {
      name: 'is a disk that is not mounted',
      async begin({ folder }) {
        if (existsSync(folder)) renameSync(folder, `${folder}.away`);
        writeFileSync(folder, ''); // makes it impossible to create the folder
      },
      async repair({ folder }) {
        rmSync(folder);
        if (existsSync(`${folder}.away`)) renameSync(`${folder}.away`, folder);
      },
    },
  ],
});

describeLogReadBack('file', async () => {
  const destination = await startFolder();
  const linesOf = (content: string): string[] => content.split('\n').slice(0, -1);
  return {
    sink: destination.sink,
    lines: () => [...filesIn(destination.folder).values()].flatMap(linesOf),
    edit(edit) {
      for (const [path, content] of filesIn(destination.folder)) {
        const edited = linesOf(content).flatMap(edit);
        writeFileSync(join(destination.folder, path), edited.map((line) => `${line}\n`).join(''));
      }
    },
    close: () => destination.close(),
  };
});

describe('the file sink after a kill between writing and committing', () => {
  const signal = new AbortController().signal;
  // Two files with lines before and after the kill. More lines would only repeat the same cases.
  const story = storyOf({ items: 2, revisions: 3 });
  const [committed, inFlight] = [story.slice(0, 2), story.slice(2)];
  // Syncing protects against a power loss, which is not tested here, and would make thousands of rounds slow.
  const access: FileAccess = { ...nodeFileAccess, open: unsyncedOpen as FileAccess['open'] };
  let base: string;
  let memory: Lane['memory'];
  let before: Map<string, string>;
  let whole: Map<string, string>;

  const laneWith = (lengths: Lane['memory']): Lane => ({
    workspace: 'acme',
    pigeonholeId: 101,
    ledgerId: 'ledger-1',
    memory: lengths,
    remember: () => Promise.resolve(),
  });
  const newSink = () => createFileSink({ folder: 'archive' }, environment(base), access);

  beforeEach(async () => {
    base = mkdtempSync(join(tmpdir(), 'file-kill-'));
    const sink = newSink();
    memory = (await sink.send(await operationsFor(sink, committed), laneWith({}), signal)).memory ?? {};
    before = filesIn(join(base, 'archive'));
    await sink.send(await operationsFor(sink, inFlight), laneWith(memory), signal);
    whole = filesIn(join(base, 'archive'));
  });

  afterEach(() => rmSync(base, { recursive: true }));

  /** Restores the files as they were at some instant, and removes files that are not named. */
  function putFiles(contents: ReadonlyMap<string, string | Buffer>): void {
    for (const path of whole.keys()) rmSync(join(base, 'archive', path), { force: true });
    for (const [path, content] of contents) {
      mkdirSync(dirname(join(base, 'archive', path)), { recursive: true });
      writeFileSync(join(base, 'archive', path), content);
    }
  }

  /** Recovers and sends the rest as a new process would. Expects every line once, complete and in order. */
  async function expectMended(): Promise<SendResult> {
    const sink = newSink();
    const operations = await operationsFor(sink, inFlight);
    const recovered = await sink.recover!(operations, laneWith(memory), signal);
    const left = operations.filter((_, position) => recovered.outcomes[position]?.kind !== 'delivered');
    const lengths = { ...memory, ...recovered.memory };
    const sent = await sink.send(left, laneWith(lengths), signal);
    expect(sent.outcomes.map(({ kind }) => kind)).toEqual(left.map(() => 'delivered'));
    expect(filesIn(join(base, 'archive'))).toEqual(whole);
    const finalLengths = { ...lengths, ...sent.memory };
    for (const [path, content] of whole) expect(finalLengths[path]).toBe(Buffer.byteLength(content));
    return recovered;
  }

  it('has every change once and complete, regardless of the byte at which it was killed', async () => {
    const sink = newSink();
    const steps = (await operationsFor(sink, inFlight)).map(({ path, line }) => ({
      path,
      bytes: Buffer.from(`${line}\n`),
    }));
    const totalBytes = steps.reduce((sum, { bytes }) => sum + bytes.length, 0);
    const deliveredCounts = new Set<number>();

    for (let killedAt = 0; killedAt <= totalBytes; killedAt += 1) {
      const files = new Map<string, Buffer>([...before].map(([path, content]) => [path, Buffer.from(content)]));
      let budget = killedAt;
      for (const { path, bytes } of steps) {
        if (budget <= 0) break;
        files.set(path, Buffer.concat([files.get(path) ?? Buffer.alloc(0), bytes.subarray(0, budget)]));
        budget -= bytes.length;
      }
      putFiles(files);
      const { outcomes } = await expectMended();
      const delivered = outcomes.filter(({ kind }) => kind === 'delivered').length;
      deliveredCounts.add(delivered);
      expect(delivered).toBe(wholeLinesWithin(steps, killedAt));
    }
    expect(deliveredCounts.size).toBe(inFlight.length + 1); // none, some of the lines, all
  });

  it('has every change once and complete, regardless of what a power loss left of each file', async () => {
    await fc.assert(
      fc.asyncProperty(fc.infiniteStream(fc.nat()), fc.boolean(), async (numbers, zeroFilled) => {
        const files = new Map<string, Buffer>();
        for (const [path, content] of whole) {
          const kept = Buffer.byteLength(before.get(path) ?? '');
          const bytes = Buffer.from(content);
          const lost = (numbers.next().value ?? 0) % (bytes.length - kept + 1);
          // Some file systems keep the new length but lose the bytes, which are then zeros.
          const rest = zeroFilled ? Buffer.alloc(lost) : Buffer.alloc(0);
          const left = Buffer.concat([bytes.subarray(0, bytes.length - lost), rest]);
          if (left.length > 0) files.set(path, left);
        }
        putFiles(files);
        await expectMended();
      }),
      { numRuns: 150 },
    );
  });
});

/** Returns the number of whole lines that a process wrote before it was killed after `byteCount` bytes. */
function wholeLinesWithin(steps: readonly { readonly bytes: Buffer }[], byteCount: number): number {
  let left = byteCount;
  return steps.filter(({ bytes }) => (left -= bytes.length) >= 0).length;
}

async function unsyncedOpen(path: string, flags?: number, mode?: number) {
  const handle = await nodeFileAccess.open(path, flags, mode);
  handle.sync = () => Promise.resolve();
  return handle;
}
