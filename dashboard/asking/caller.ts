import type { CallerView } from '../../api/tokens.js';
import { Store, useStore } from './store.js';

/** The caller as the server knows it; null until the server has responded. */
export const caller = new Store<CallerView | null>(null);

export type Right = 'read' | 'import' | 'operate' | 'personal' | 'administer';

/** Whether the caller has this right. Hides buttons that the server would refuse. */
export function useMay(right: Right): boolean {
  return useStore(caller)?.rights.includes(right) ?? false;
}
