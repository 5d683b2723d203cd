import type { FileOptions, RawRow, RegistrantFile } from './registrant-file.js';
import type { RegistrantFileErrorKind } from './registrant-file-error.js';

/** What the thread that reads a file is started with. */
export type ReadThreadData = FileOptions;

/** To the thread: the bytes it has asked for (null: there are no more), or the wish for the next rows. */
export type ToReadThread =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array | null }
  | { readonly kind: 'next-rows' };

export type OpenedFile = Pick<RegistrantFile, 'format' | 'delimiter' | 'sheet' | 'columns' | 'encoding'>;

/** From the thread: `more` asks for bytes; the others answer the start (`opened`) and each `next-rows` (`rows`). */
export type FromReadThread =
  | { readonly kind: 'more' }
  | { readonly kind: 'opened'; readonly file: OpenedFile }
  /** Null: there are no more. */
  | { readonly kind: 'rows'; readonly rows: readonly RawRow[] | null; readonly encoding: string | null }
  | { readonly kind: 'refused'; readonly why: RegistrantFileErrorKind; readonly message: string }
  /** A defect: the name of the error alone, since its message may quote the file. */
  | { readonly kind: 'failed'; readonly name: string };
