import type { Bench } from './bench.js';
import { coldLoad } from './cold-load.js';

export const allBenches: readonly Bench[] = [coldLoad];

/** What runs without being named: a few minutes on two cores. */
export const usualBenches: readonly string[] = ['cold-load'];
