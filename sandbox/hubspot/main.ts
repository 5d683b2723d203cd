import { runDouble } from '../serve/run-double.js';
import { ALL_SCOPES } from './account.js';
import { startHubSpotDouble } from './start-hubspot-double.js';

/** Runs the stand-in as a program: `node tools/run-typescript.cjs sandbox/hubspot/main.ts --port 8101`. */
runDouble(
  'HubSpot double',
  ({ token, ...options }) =>
    startHubSpotDouble({ ...options, ...(token !== undefined && { tokens: { [token]: ALL_SCOPES } }) }),
  ['token', 'per10s'],
);
