import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/create-activities.js';

/**
 * The activities and the limits that apply to all of them. A cycle takes seconds. The heartbeat timeout is short, because a
 * dead process delays a live event until it is detected. Retries never stop: an activity stores permanent failures as
 * results.
 */
export const steps = proxyActivities<Activities>({
  startToCloseTimeout: '3 minutes',
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '30 seconds' },
});
