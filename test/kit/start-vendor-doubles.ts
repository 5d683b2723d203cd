import { startCanvasDouble } from '../../sandbox/canvas/start-canvas-double.js';
import { freshAccount, startDynamicsDouble } from '../../sandbox/dynamics/start-dynamics-double.js';
import { startHubSpotDouble } from '../../sandbox/hubspot/start-hubspot-double.js';
import { startLrsDouble } from '../../sandbox/lrs/start-lrs-double.js';
import { startSalesforceDouble } from '../../sandbox/salesforce/start-salesforce-double.js';
import { startSlackDouble } from '../../sandbox/slack/start-slack-double.js';

/** Records that a test account has and a new account lacks. */
export interface VendorAccounts {
  readonly org: Parameters<typeof startSalesforceDouble>[0];
  readonly school: NonNullable<Parameters<typeof startCanvasDouble>[0]>['school'];
}

/** Columns that an operator adds to the contacts of Dynamics. */
const customColumns = { acme_code: 100, acme_deed: 100_000 };

export type StartedDoubles = Awaited<ReturnType<typeof startVendorDoubles>>;

/**
 * Starts the stand-ins of six vendors, by the names of their sinks. Slack's limits for posts are so high that no test
 * waits for them.
 */
export async function startVendorDoubles({ org, school }: VendorAccounts) {
  return {
    crm: await startHubSpotDouble(),
    salesforce: await startSalesforceDouble(org),
    talk: await startSlackDouble({
      limits: { postsPerSecond: 1000, postBurst: 1000, postsPerMinute: 100_000 },
    }),
    lms: await startLrsDouble(),
    grades: await startCanvasDouble({ school }),
    dynamics: await startDynamicsDouble({ maxLengths: { ...freshAccount.maxLengths, ...customColumns } }),
  };
}

/** Returns credentials for the stand-ins, by environment variable. */
export function vendorSecrets({ salesforce }: Pick<StartedDoubles, 'salesforce'>): Record<string, string> {
  return {
    HUBSPOT_TOKEN: 'hubspot-token',
    SLACK_TOKEN: 'xoxb-double',
    LRS_SECRET: 'lrs-secret',
    CANVAS_TOKEN: 'canvas-token',
    DYNAMICS_SECRET: 'dynamics-secret',
    SF_KEY: salesforce.org.privateKey!,
  };
}
