import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { environmentOf } from '../sink-environment.test-kit.js';
import { type ConfirmHeld, whileHeld } from '../../base/lease.js';
import { sampleChange } from '../sample-change.test-kit.js';
import { operationsFor } from '../plan-of.test-kit.js';
import type { ErasedItems } from '../change.js';
import type { Lane, Sink } from '../sink.js';
import type { FileOperation } from './day-file.js';
import { type FileAccess, nodeFileAccess } from './file-access.js';
import { createFileSink } from './file.js';

const live = new AbortController().signal;

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'file-sink-'));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const sinkWith = (access?: FileAccess): Sink<FileOperation> =>
  createFileSink({ folder: 'archive' }, environmentOf('archive', { baseFolder: base }), access);

/** The lane as a holder knows it. `remember` fails once the holder's lease is lost, as it does in the ledger. */
function laneWith(memory: Record<string, unknown>, confirm: ConfirmHeld = () => undefined): Lane {
  const remember: Lane['remember'] = async (more) => {
    await confirm();
    Object.assign(memory, more);
  };
  return { workspace: 'acme', pigeonholeId: 101, ledgerId: 'ledger-1', memory: { ...memory }, remember };
}

function changesOf(...places: readonly (readonly [list: string, sequence: number])[]) {
  return places.map(([list, sequence]) =>
    sampleChange({ id: `id-${sequence}`, list, type: `${list}.created`, key: `k${sequence}`, sequence }),
  );
}

/** The content of all data files below the folder, by path. A draft that a paused holder left is not one of them. */
function contents(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && entry.name.endsWith('.ndjson'));
  return Object.fromEntries(
    files.map(({ parentPath, name }) => [join(parentPath, name), readFileSync(join(parentPath, name), 'utf8')]),
  );
}

/** A file system on which the process is paused directly before its call number `at`, counted from 0. */
function pausingAccess(at: number) {
  let calls = 0;
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  let pause = (): void => undefined;
  const paused = new Promise<'paused'>((resolve) => (pause = () => resolve('paused')));
  const before = async (): Promise<void> => {
    if (calls++ !== at) return;
    pause();
    await released;
  };
  const pausing = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(whole, name: keyof T & string) {
        const method: unknown = Reflect.get(whole, name);
        if (typeof method !== 'function') return method;
        return async (...args: unknown[]): Promise<unknown> => {
          await before();
          const result: unknown = await Reflect.apply(method, whole, args);
          return name === 'open' ? pausing(result as FileHandle) : result;
        };
      },
    });
  return { access: pausing(nodeFileAccess), paused, release };
}

/** A call of the previous holder, with operations that the ledger stored as in flight. */
type Deed = (sink: Sink<FileOperation>, operations: readonly FileOperation[], lane: Lane) => Promise<unknown>;
const send: Deed = (sink, operations, lane) => sink.send(operations, lane, live);
const sendTwice: Deed = async (sink, operations, lane) => {
  await sink.send(operations.slice(0, 1), lane, live); // the lane's memory does not know of this line
  return await sink.send(operations, lane, live);
};
const recover: Deed = (sink, operations, lane) => sink.recover!(operations, lane, live);
const eraseQuestions = (...keys: readonly string[]): Deed => {
  const erased: ErasedItems = { keys: new Map([['questions', new Set(keys)]]), questions: new Set() };
  return (sink, _, lane) => sink.erase!(erased, lane, live);
};
const erase = eraseQuestions('k1');
const eraseAll = eraseQuestions('k0', 'k1', 'k3');

describe.each<[string, Deed]>([
  ['sends', send],
  ['cuts off a line that is not committed, and sends', sendTwice],
  ['recovers', recover],
  ['erases', erase],
  ['erases every line of a file', eraseAll],
])('a previous holder that is paused while it %s', (_, deed) => {
  it('changes nothing that its successor wrote, whichever call it continues with', async () => {
    for (let at = 0; ; at += 1) {
      rmSync(join(base, 'archive'), { recursive: true, force: true });
      const successor = sinkWith();
      const memory: Record<string, unknown> = {};
      const deliver = async (operations: readonly FileOperation[]): Promise<void> => {
        const { outcomes, memory: more } = await successor.send(operations, laneWith(memory), live);
        expect(outcomes.map(({ kind }) => kind)).toEqual(operations.map(() => 'delivered'));
        Object.assign(memory, more);
      };
      await deliver(await operationsFor(successor, changesOf(['questions', 0], ['questions', 1], ['votes', 2])));
      const second = await operationsFor(successor, changesOf(['questions', 3], ['votes', 4], ['answers', 5]));

      const { access, paused, release } = pausingAccess(at);
      let isLost = false;
      const confirm: ConfirmHeld = () => (isLost ? Promise.reject(new Error('lost')) : undefined);
      const doing = whileHeld(confirm, () => deed(sinkWith(access), second, laneWith(memory, confirm)));
      const ended = doing.catch(() => undefined).then(() => 'ended' as const);
      const isPaused = (await Promise.race([paused, ended])) === 'paused';

      isLost = true;
      const found = await successor.recover!(second, laneWith(memory), live);
      Object.assign(memory, found.memory);
      await deliver(second.filter((__, position) => found.outcomes[position]!.kind !== 'delivered'));
      if (deed === erase || deed === eraseAll) await deed(successor, [], laneWith(memory));
      await deliver(await operationsFor(successor, changesOf(['questions', 6], ['votes', 7], ['answers', 8])));
      const before = contents(join(base, 'archive'));
      release();
      await ended;

      expect({ at, files: contents(join(base, 'archive')) }).toEqual({ at, files: before });
      await deliver(await operationsFor(successor, changesOf(['questions', 9], ['answers', 10])));
      if (!isPaused) break;
    }
  });
});
