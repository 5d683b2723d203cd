import { writeZip } from '../../../bench/registrant-files/write-xlsx.js';
import { inChunks, refusalOf } from '../open-registrant-file.test-kit.js';
import { readLimits } from '../registrant-file.js';
import { openArchive } from './archive.js';

const parts = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`part-${n}`, '']));

async function* buffers(file: Buffer): AsyncGenerator<Buffer> {
  for await (const chunk of inChunks(file)) yield chunk as Buffer;
}

describe('the archive of an XLSX file', () => {
  it('is refused if it has more than 10,000 parts', async () => {
    const full = await openArchive(buffers(writeZip(parts(readLimits.archiveEntries))));
    expect(full.has(`part-${readLimits.archiveEntries - 1}`)).toBe(true);
    expect(await refusalOf(writeZip(parts(readLimits.archiveEntries + 1)))).toMatchObject({
      kind: 'too-large',
      message: 'The archive holds 10,001 files, more than a list of registrants should have; export it again.',
    });
  });

  it('is refused if it decompresses to more than 1 GiB, counted over all parts and repeated reads', async () => {
    const folded = writeZip({ one: Buffer.alloc(40 * 2 ** 20), other: Buffer.alloc(24 * 2 ** 20) });
    expect(folded.length).toBeLessThan(128 * 1024);
    const archive = await openArchive(buffers(folded));
    let unfolded = 0;
    const unfoldAll = async (): Promise<void> => {
      for (let round = 0; round < 20; round += 1)
        for (const part of ['one', 'other']) for await (const chunk of archive.open(part)!) unfolded += chunk.length;
    };
    await expect(unfoldAll()).rejects.toMatchObject({
      kind: 'too-large',
      message: 'The XLSX file decompresses to more than 1024 MiB; save the sheet as CSV, which has no such limit.',
    });
    expect(unfolded).toBeLessThanOrEqual(readLimits.unfoldedBytes);
    expect(unfolded).toBeGreaterThan(readLimits.unfoldedBytes - 2 ** 20);
  });

  it('is refused at 64 MiB, before all of it is received', async () => {
    let taken = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      yield writeZip({ first: 'x' }).subarray(0, 30); // starts as a zip archive does
      for (; taken < 2 * readLimits.archiveBytes; taken += 2 ** 20) yield Buffer.alloc(2 ** 20);
    }
    await expect(openArchive(endless() as AsyncGenerator<Buffer>)).rejects.toMatchObject({
      kind: 'too-large',
      message: 'The XLSX file is larger than 64 MiB; save the sheet as CSV, which has no such limit.',
    });
    expect(taken).toBeLessThanOrEqual(readLimits.archiveBytes);
  });
});
