import { z } from 'zod';
import { folder } from '../../config/values.js';

/** `file` in pigeonpost.yaml, less the keys that all sinks share. */
export interface FileConfig {
  /** As it was written: taken from the folder of pigeonpost.yaml where it is relative. */
  readonly folder: string;
}

export const fileConfigSchema: z.ZodType<FileConfig> = z.strictObject({
  folder: folder().describe('The folder for the files. It is created if necessary, and belongs only to this sink.'),
});
