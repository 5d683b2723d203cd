import { z } from 'zod';
import { folder } from '../../config/values.js';

/** `file` in pigeonpost.yaml, less the keys that all sinks share. */
export interface FileConfig {
  /** The path as configured. A relative path starts at the folder of pigeonpost.yaml. */
  readonly folder: string;
}

export const fileConfigSchema: z.ZodType<FileConfig> = z.strictObject({
  folder: folder().describe('The folder for the files. It is created if necessary, and belongs only to this sink.'),
});
