import { z } from '@hono/zod-openapi';
import { instant } from '../../base/printable.js';
import { maxMappingCharacters } from './load-mapping.js';

export const draftSchema = z
  .object({
    sink: z.string(),
    kind: z.enum(['mapping', 'sink']).describe('`mapping`: another mapping of the sink; `sink`: a new sink.'),
    body: z.string().describe('YAML without the indentation of the file. It names secrets and contains none.'),
    base: z.string().nullable().describe('For a mapping: the one in the file for which the draft was made.'),
    sync: z.string().nullable().describe('For a new sink: the sync that delivers to it.'),
    version: z.int().describe('Rises with each save.'),
    savedBy: z.string(),
    savedAt: instant(),
    conflict: z.string().nullable().describe('Why it cannot be applied; null: it can.'),
  })
  .openapi('Draft');
export type DraftView = z.infer<typeof draftSchema>;

export const draftsSchema = z.object({
  drafts: z.array(draftSchema).readonly(),
  file: z.string().describe('Absolute path of the configuration file.'),
  writable: z.boolean().describe('Whether pigeonpost can write the file. If not, copy the draft into it.'),
});
export type DraftsView = z.infer<typeof draftsSchema>;

export const fileMappingSchema = z
  .object({
    sink: z.string(),
    type: z.string(),
    keys: z.array(z.string()).readonly().describe('The keys of the sink that are its mapping.'),
    text: z.string().describe('The mapping in the file, as YAML without the indentation of the file.'),
    draft: draftSchema.nullable(),
    file: z.string().describe('Absolute path of the configuration file.'),
    writable: z.boolean(),
  })
  .openapi('FileMapping');
export type FileMappingView = z.infer<typeof fileMappingSchema>;

export const saveMappingSchema = z
  .strictObject({
    text: z.string().max(maxMappingCharacters).describe('The mapping as YAML.'),
    base: z.string().max(maxMappingCharacters).describe('The mapping in the file that the author has seen.'),
    replaces: z.int().nullable().describe('Version of the draft that the author has seen; null: none.'),
  })
  .openapi('SaveMapping');
