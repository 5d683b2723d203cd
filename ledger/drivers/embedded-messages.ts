/** Data that the store's thread starts with. */
export interface ThreadData {
  readonly folder: string;
}

/** To the thread: bytes of PostgreSQL's protocol (transferred, not copied), or the wish to close in order. */
export type ToThread = { readonly kind: 'bytes'; readonly bytes: Uint8Array } | { readonly kind: 'close' };

/** From the thread: one `ready`; then to each `bytes` any number of `bytes`, in order; at the end `closed`. */
export type FromThread =
  | { readonly kind: 'ready' }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'closed' };

/**
 * Exit code of the thread if its engine is dead. It is not a message, because the thread has to end at the instruction
 * that noticed it, and messages posted there are lost.
 */
export const threadExitCodes = { closed: 0, dead: 70, full: 74 } as const;

/** Messages by which PostgreSQL, Node and Emscripten report a full disk. */
export const noSpace = /No space left on device|Disk quota exceeded|EDQUOT|ENOSPC/i;
