import { serveDouble, type RunningDouble, type ServeOptions } from '../serve/serve-double.js';
import { Account, type HubSpotOptions } from './account.js';
import { answerCall } from './answer-call.js';
import { accountPage, accountState } from './describe-account.js';
import { hubSpotFault } from './hubspot-faults.js';

export interface HubSpotDouble extends RunningDouble {
  /** The account behind the API: to seed records, merge contacts, use up limits, and inspect. */
  readonly account: Account;
}

/**
 * Starts a HubSpot on loopback that holds everything in memory: CRM objects, properties, associations, marketing events,
 * with HubSpot's limits and refusals. The README of this folder lists its rules.
 */
export async function startHubSpotDouble(options: HubSpotOptions & ServeOptions = {}): Promise<HubSpotDouble> {
  const account = new Account(options);
  const running = await serveDouble(
    {
      answer: (request) => answerCall(account, request),
      state: () => accountState(account),
      page: () => accountPage(account),
      namedFaults: hubSpotFault,
    },
    options,
  );
  return { ...running, account };
}
