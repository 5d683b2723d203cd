/** The workflows that a worker registers. The only file that re-exports: Temporal requires one module of workflows. */
export { deliverToSink } from './deliver-to-sink.js';
export { discoverPigeonholes } from './discover-pigeonholes.js';
export { forgetAttendee } from './forget-attendee.js';
export { importRegistrants } from './import-registrants.js';
export { syncPigeonhole } from './sync-pigeonhole.js';
