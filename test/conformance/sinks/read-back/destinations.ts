import { startCanvas } from './canvas.js';
import { startDynamics } from './dynamics.js';
import type { StartDestination } from './held-destination.js';
import { startHttp } from './http.js';
import { startHubSpot } from './hubspot.js';
import { startPostgres } from './postgres.js';
import { startSalesforce } from './salesforce.js';
import { startSlack } from './slack.js';
import { startXapi } from './xapi.js';

/** The sinks that keep the latest revision of each item and can be read back. */
export const destinations: readonly (readonly [name: string, start: StartDestination])[] = [
  ['hubspot', startHubSpot],
  ['salesforce', startSalesforce],
  ['dynamics', startDynamics],
  ['canvas', startCanvas],
  ['xapi', startXapi],
  ['slack', startSlack],
  ['http', startHttp],
  ['postgres', startPostgres],
];
