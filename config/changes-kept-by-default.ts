/** Earlier revisions are always bounded: so long they stay where `retention.changes` says nothing, in milliseconds. */
export const changesKeptByDefaultMs = 30 * 24 * 60 * 60_000;
