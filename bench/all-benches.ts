import type { Bench } from './bench.js';
import { coldLoad } from './cold-load.js';
import { detection } from './detection.js';
import { endToEnd } from './end-to-end.js';
import { hubspotLimit } from './hubspot-limit.js';
import { idle } from './idle.js';
import { importRows } from './import.js';
import { latency } from './latency.js';
import { memory } from './memory.js';
import { moderation } from './moderation.js';
import { peers } from './peers.js';
import { registrantFile } from './registrant-file.js';
import { smallQuota } from './small-quota.js';
import { unchanged } from './unchanged.js';

export const allBenches: readonly Bench[] = [
  coldLoad,
  endToEnd,
  unchanged,
  idle,
  latency,
  moderation,
  detection,
  smallQuota,
  memory,
  peers,
  hubspotLimit,
  registrantFile,
  importRows,
];

/** Benches that run unless one is named: a few minutes on two cores. */
export const usualBenches: readonly string[] = ['cold-load', 'unchanged', 'idle'];
