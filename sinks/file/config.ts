import { z } from 'zod';
import { folder } from '../../config/values.js';

/** `file` in pigeonpost.yaml, less the keys that all sinks share. */
export interface FileConfig {
  /** As it was written: taken from the folder of pigeonpost.yaml where it is relative. */
  readonly folder: string;
}

export const fileConfigSchema: z.ZodType<FileConfig> = z.strictObject({
  folder: folder().describe('Where the files are written. It is made if need be, and belongs to this sink alone.'),
});
