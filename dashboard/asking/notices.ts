import { Store } from './store.js';

/** Results of actions, shown at the edge of the page for some seconds. */
export interface Notice {
  readonly id: number;
  readonly kind: 'done' | 'failed';
  readonly text: string;
}

export const notices = new Store<readonly Notice[]>([]);

const shownForMs = { done: 6000, failed: 15_000 } as const;
let last = 0;

export function tell(kind: Notice['kind'], text: string): void {
  last += 1;
  const id = last;
  notices.set([...notices.value.slice(-3), { id, kind, text }]);
  setTimeout(() => dismiss(id), shownForMs[kind]);
}

export function dismiss(id: number): void {
  notices.set(notices.value.filter((notice) => notice.id !== id));
}
