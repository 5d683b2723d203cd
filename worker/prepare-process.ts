import { setFlagsFromString } from 'node:v8';
import { dropWeakTls } from '../config/environment.js';

/**
 * Keeps the heaps near what is alive in them: 215 MB resident at the peak of a long walk instead of 250, at no CPU time
 * that could be measured (bench `memory`). Call it before anything else is loaded: a heap gives little of its memory
 * back, and the size of a thread's is settled when it starts.
 */
export function boundHeap(): void {
  // While modules load, V8 hardly looks for what could go: 80 MB of heap where 20 are alive. And a thread, such as the
  // workflows', gets a small young generation. Code is compiled as without it.
  setFlagsFromString('--optimize-for-size');
  // V8 would put objects of a kind that has mostly lived long at birth where only a full collection looks. Here such are
  // what holds a page together, and with it all that the page holds outlived its use: in two runs of three a tenth of
  // everything became old, the heap was collected twice a second, and a first read took a fifth longer.
  setFlagsFromString('--no-allocation-site-pretenuring');
  // V8 lets the old generation grow fourfold by default, and with the first flag by a third. At a million items 46 % takes
  // 251 MB, 40 % 241, and 30 % 230 for a twelfth more CPU time (bench `memory`).
  setFlagsFromString('--heap-growing-percent=40');
}

/**
 * For a process that has loaded what it needs and computes the store itself: beside what that takes, some more heap is
 * little (385 to 450 MB at the peak of a long walk instead of 390 to 430), and it saves a tenth of the walk's CPU time.
 */
export function relaxHeap(): void {
  setFlagsFromString('--no-optimize-for-size');
  setFlagsFromString('--heap-growing-percent=100');
}

/** Has certificates checked whatever the environment says. Call it before anything connects. */
export function keepVerifying(): void {
  if (!dropWeakTls()) return;
  process.stderr.write(
    'pigeonpost: NODE_TLS_REJECT_UNAUTHORIZED=0 is ignored: name the authority of a certificate in the configuration\n',
  );
}
