import type { Config } from './config.js';

/** Limits of a sync's deletions. */
type Deletions = Config['syncs'][string]['deletions'];

/** Returns the strictest combination of several syncs' limits. */
export function strictest(all: readonly Deletions[]): Deletions {
  return {
    settleMs: Math.max(...all.map(({ settleMs }) => settleMs)),
    confirmMs: Math.max(...all.map(({ confirmMs }) => confirmMs)),
    holdAbove: {
      share: Math.min(...all.map(({ holdAbove }) => holdAbove.share)),
      items: Math.min(...all.map(({ holdAbove }) => holdAbove.items)),
    },
  };
}

export function syncsOf(config: Config, workspace: string): string[] {
  return Object.keys(config.syncs).filter((sync) => config.syncs[sync]!.workspace === workspace);
}
