import { join, resolve } from 'node:path';
import { parsedJson } from '../network/read-answer.js';
import { differingFields, type HeldLine } from '../revision-lines.js';
import type { Lane, Sink, SinkEnvironment, SinkType } from '../sink.js';
import { appendBatch, recoverBatch } from './send.js';
import { checkFolder } from './check.js';
import { classifyFailure, DestinationChanged, errorCode, type FileAccess, nodeFileAccess } from './file-access.js';
import { eraseFiles, finishErasing } from './erase-files.js';
import { type FileOperation, toFileOperation } from './day-file.js';
import { claimFolder, inspectFolder } from './marker.js';
import { putWholeFile, removeWholeFile } from './whole-file.js';
import { z } from 'zod';
import { folder } from '../../config/values.js';
import { LineFinder, readLines } from './read-back.js';
import { fileCauses, fileReasons } from './reasons.js';
import { acceptFiles, removeLines } from './repair-files.js';

const fileConfigSchema = z.strictObject({
  folder: folder().describe('The folder for the files. It is created if necessary, and belongs only to this sink.'),
});

/** `folder` is the path as configured. A relative path starts at the folder of pigeonpost.yaml. */
type FileConfig = Readonly<z.infer<typeof fileConfigSchema>>;

const BATCH_SIZE = 1000;

/**
 * Creates the sink that writes changes as NDJSON lines to one file per list and day. README.md describes its
 * guarantees.
 */
export function createFileSink(
  config: FileConfig,
  environment: SinkEnvironment,
  access: FileAccess = nodeFileAccess,
): Sink<FileOperation> {
  const folder = resolve(environment.baseFolder, config.folder);
  // True once this process has claimed the folder. Even a lane without memory then notices that a disk was unmounted.
  let wasClaimed = false;
  const finder = new LineFinder({ root: folder, access });
  const today = (): string => new Date(environment.now()).toISOString().slice(0, 'YYYY-MM-DD'.length);

  /** @throws {DestinationChanged} if the folder is not the one to which this sink has written */
  async function inspect(lane: Lane): Promise<'ours' | 'fresh'> {
    const owner = { ledgerId: lane.ledgerId, sink: environment.name };
    return await inspectFolder(folder, owner, wasClaimed || hasMemory(lane.memory), access);
  }

  return {
    traits: {
      order: 'pigeonhole',
      needsContext: false,
      revisions: 'every',
      repeats: 'lookUp',
      batchSize: BATCH_SIZE,
    },
    check: () => checkFolder(folder, environment.name, access),
    plan: (subjects) =>
      Promise.resolve(subjects.map((subject) => ({ kind: 'send', operation: toFileOperation(subject) }))),
    preview: ({ path, line }) => [{ method: 'append', address: join(folder, path), body: parsedJson(line) }],
    async send(operations, lane, signal) {
      try {
        const owner = { ledgerId: lane.ledgerId, sink: environment.name };
        if (!signal.aborted) await claimFolder(folder, owner, wasClaimed || hasMemory(lane.memory), access);
        wasClaimed ||= !signal.aborted;
        if (!signal.aborted) await finishErasing(folder, lane, access);
        return await appendBatch({ root: folder, access }, operations, lane, signal);
      } catch (error) {
        const failure = classifyFailure(error, folder);
        return { outcomes: operations.map((_, position) => (position === 0 ? failure : { kind: 'unsent' })) };
      }
    },
    async recover(operations, lane, signal) {
      if (signal.aborted)
        return { outcomes: operations.map(() => ({ kind: 'unknown', detail: 'stopped before the look-up' })) };
      try {
        if ((await inspect(lane)) === 'fresh') return { outcomes: operations.map(() => ({ kind: 'unsent' })) };
        await finishErasing(folder, lane, access);
        return await recoverBatch({ root: folder, access }, operations, lane);
      } catch (error) {
        const failure = classifyFailure(error, folder);
        // If the folder cannot be read now, the engine repeats the recovery before the lane sends anything.
        return {
          outcomes: operations.map(() =>
            failure.kind === 'pause' ? failure : { kind: 'unknown', detail: failure.detail },
          ),
        };
      }
    },
    async erase(erased, lane, signal) {
      try {
        return (await inspect(lane)) === 'fresh'
          ? { kind: 'erased', count: 0, missing: 0 }
          : await eraseFiles({ root: folder, access }, erased, lane, signal);
      } catch (error) {
        return knownFailure(error, folder);
      }
    },
    async readBack(wanted, lane, signal) {
      try {
        if ((await inspect(lane)) === 'fresh') return wanted.map(() => ({ kind: 'missing' }));
        return await readLines(finder, wanted, { root: folder, today: today(), signal });
      } catch (error) {
        const failure = classifyFailure(error, folder);
        return wanted.map(() => failure);
      }
    },
    compareHeld: ({ line }, held) => differingFields(line, (held as HeldLine).line),
    async acceptHeld(lane) {
      try {
        if ((await inspect(lane)) === 'ours') await acceptFiles({ root: folder, access }, lane, today());
        return { kind: 'delivered' };
      } catch (error) {
        return knownFailure(error, folder);
      }
    },
    async removeHeld(extras, lane, signal) {
      try {
        if ((await inspect(lane)) === 'fresh') return extras.map(() => ({ kind: 'delivered' }));
        return await removeLines({ root: folder, access }, extras, { lane, finder, today: today(), signal });
      } catch (error) {
        const failure = knownFailure(error, folder);
        return extras.map(() => failure);
      }
    },
    async putFile({ name, bytes }, ledgerId, signal) {
      const reading = { failure: undefined as unknown };
      try {
        await claimFolder(folder, { ledgerId, sink: environment.name }, wasClaimed, access);
        wasClaimed = true;
        await putWholeFile({ root: folder, access }, name, noting(bytes, reading), signal);
        return { kind: 'delivered' };
      } catch (error) {
        if (signal.aborted || error === reading.failure) throw error;
        return classifyFailure(error, folder);
      }
    },
    async removeFile(name) {
      try {
        await removeWholeFile({ root: folder, access }, name);
        return { kind: 'delivered' };
      } catch (error) {
        return classifyFailure(error, folder);
      }
    },
    close: () => Promise.resolve(),
  };
}

/** @throws the error again if it is not about the folder: the lane was taken over, or the ledger failed */
function knownFailure(error: unknown, folder: string): ReturnType<typeof classifyFailure> {
  if (error instanceof DestinationChanged || errorCode(error) !== undefined) return classifyFailure(error, folder);
  throw error;
}

/** Passes bytes on, and notes why they cannot be read, which is no failure of the folder. */
async function* noting(bytes: AsyncIterable<Uint8Array>, reading: { failure: unknown }): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes;
  } catch (error) {
    reading.failure = error;
    throw error;
  }
}

function hasMemory(memory: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(memory).length > 0;
}

export const fileSinkType: SinkType<FileConfig> = {
  type: 'file',
  configSchema: fileConfigSchema,
  acceptsByDefault: ['obtained', 'not-asked', 'not-known'],
  mappingKeys: [],
  reasons: fileReasons,
  causes: fileCauses,
  lists: () => 'all',
  destination: ({ folder }, { baseFolder }) => resolve(baseFolder, folder),
  create: (config, environment) => createFileSink(config, environment),
};
