/** What a worker registers. The one place where names are exported again: Temporal takes a module of workflows. */
export { deliverToSink } from './deliver-to-sink.js';
export { discoverPigeonholes } from './discover-pigeonholes.js';
export { forgetAttendee } from './forget-attendee.js';
export { importRegistrants } from './import-registrants.js';
export { syncPigeonhole } from './sync-pigeonhole.js';
