import { setFlagsFromString } from 'node:v8';
import { dropWeakTls } from '../config/environment.js';

/**
 * Keeps the heaps close to the size of their live objects: 215 MB resident at the peak of a long walk instead of 250,
 * at no measurable CPU time (bench `memory`). Call it before anything else is loaded, because a heap rarely shrinks and
 * a thread's limits are fixed when it starts.
 */
export function boundHeap(): void {
  // Without it, V8 rarely collects garbage while modules load: 80 MB of heap for 20 MB of live objects. It also gives
  // threads, such as the workflows', a small young generation. It does not change how code is compiled.
  setFlagsFromString('--optimize-for-size');
  // Keep short-lived objects out of V8's old generation. V8 allocates objects there directly if most of their kind
  // lived long. Here these are the containers of a page, which then kept all its items alive: in two of three runs, a
  // tenth of all objects became old, full collections ran twice a second, and a first read took 20 % longer.
  setFlagsFromString('--no-allocation-site-pretenuring');
  // V8 lets the old generation grow fourfold by default, and by a third with the first flag. With a million items, 46 %
  // takes 251 MB, 40 % 241, and 30 % 230 but 8 % more CPU time (bench `memory`).
  setFlagsFromString('--heap-growing-percent=40');
}

/**
 * Relaxes the limits in a process with an embedded store, once everything is loaded. Compared with the store's memory,
 * the larger heap matters little (385 to 450 MB at the peak of a long walk instead of 390 to 430), and it saves 10 % of
 * the walk's CPU time.
 */
export function relaxHeap(): void {
  setFlagsFromString('--no-optimize-for-size');
  setFlagsFromString('--heap-growing-percent=100');
}

/** Makes libraries verify certificates whatever the environment says. Call it before the first connection. */
export function keepVerifying(): void {
  if (!dropWeakTls()) return;
  process.stderr.write(
    'pigeonpost: NODE_TLS_REJECT_UNAUTHORIZED=0 is ignored: set network.ca to the certificate authority instead\n',
  );
}
