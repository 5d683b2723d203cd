import { runDouble } from '../serve/run-double.js';
import { startHubSpotDouble } from './start-hubspot-double.js';

/** A HubSpot for trying things out: `node tools/run-typescript.cjs test/doubles/hubspot/main.ts --port 8101`. */
runDouble('HubSpot double', startHubSpotDouble);
