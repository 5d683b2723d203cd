import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/create-activities.js';

/**
 * The activities, with limits that hold for all of them. A turn takes seconds; the heartbeat tells a dead process from
 * a slow one, soon, since a lost turn delays what is live. Retries never end: what is permanent, an activity stores as
 * a result.
 */
export const steps = proxyActivities<Activities>({
  startToCloseTimeout: '3 minutes',
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '30 seconds' },
});
