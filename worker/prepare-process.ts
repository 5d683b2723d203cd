import { setFlagsFromString } from 'node:v8';
import { dropWeakTls } from '../config/environment.js';

/**
 * Keeps the heaps close to the size of their live objects. Call it before anything else is loaded, because a heap
 * rarely shrinks.
 */
export function boundHeap(): void {
  // Without it, V8 rarely collects garbage while modules load: 80 MB of heap for 20 MB of live objects. It does not
  // change how code is compiled. See `endLoading`.
  setFlagsFromString('--optimize-for-size');
  // Keep short-lived objects out of V8's old generation. V8 allocates objects there directly if most of their kind
  // lived long. In pigeonpost, this affected the containers of a page, which then kept all of the page's items alive:
  // in two of three runs, a tenth of all objects became old, full collections ran twice a second, and a first read took
  // 20 % longer.
  setFlagsFromString('--no-allocation-site-pretenuring');
  // V8 lets the old generation grow fourfold by default, and by a third with the first flag. Call `endLoading` before
  // work starts: a growth of 30 % without the first flag needs as much memory as 40 % with it, and a quarter less CPU
  // time.
  setFlagsFromString('--heap-growing-percent=30');
}

/**
 * Relaxes the limits on the heaps once everything is loaded. Then a first load of 100,000 attendees into a file takes
 * 10 CPU s instead of 13 to 15 (bench `end-to-end`). With an embedded store, whose own memory is larger, the heap limit
 * matters little (385 to 450 MB at the peak of a long walk instead of 390 to 430), and a larger heap saves 10 % of the
 * walk's CPU time.
 */
export function endLoading(store: 'embedded' | 'postgres'): void {
  setFlagsFromString('--no-optimize-for-size');
  if (store === 'embedded') setFlagsFromString('--heap-growing-percent=100');
}

/** Makes libraries verify certificates whatever the environment says. Call it before the first connection. */
export function keepVerifying(): void {
  if (!dropWeakTls()) return;
  process.stderr.write(
    'pigeonpost: NODE_TLS_REJECT_UNAUTHORIZED=0 is ignored: set network.ca to the certificate authority instead\n',
  );
}
