import { type HubSpotDouble, startHubSpotDouble } from '../../sandbox/hubspot/start-hubspot-double.js';
import { scaledLimits } from '../../sandbox/slack/slack-call.js';
import {
  DEFAULT_CHANNEL,
  DEFAULT_TOKEN,
  type SlackDouble,
  startSlackDouble,
} from '../../sandbox/slack/start-slack-double.js';
import type { Item } from '../kit/compare-with-truth.js';
import { seededRandom } from '../kit/random.js';

/** Stand-ins for vendors, which run in this process and are not killed. */
export interface Vendors {
  readonly slack: SlackDouble;
  readonly hubSpot: HubSpotDouble;
  close(): Promise<unknown>;
}

/** Limit of messages in ten seconds. It is high, because the conference takes minutes instead of hours. */
const per10s = 500;
/** Number of answers of each vendor that are lost after the effect. */
const lostAnswers = 3;

/** The part of the seed's randomness that the vendors use. `planChaos` uses the parts 0 to 7. */
const part = 8;

/** Starts the stand-ins. The seed determines which answers are lost. */
export async function startVendors(seed: number): Promise<Vendors> {
  const random = seededRandom(seed * 16 + part);
  const slack = await startSlackDouble({ limits: scaledLimits(per10s) });
  const hubSpot = await startHubSpotDouble();
  for (let n = 0; n < lostAnswers; n += 1) {
    const skip = (): number => Math.floor(random() * 40);
    slack.faults.add({ effect: { kind: 'dropAfter' }, path: '/api/chat.', skip: skip() });
    hubSpot.faults.add({ effect: { kind: 'dropAfter' }, path: '/contacts/', skip: Math.floor(skip() / 4) });
  }
  return { slack, hubSpot, close: () => Promise.all([slack.close(), hubSpot.close()]) };
}

/** Environment variables with the credentials of the sinks. */
export const vendorEnvironment = { SLACK_TOKEN: DEFAULT_TOKEN, HUBSPOT_TOKEN: 'hubspot-token' } as const;

/** Selects a third of the approved questions, because messages are sent one by one and would delay the end of a run. */
const approvedThird = 'item.status = "allowed" and item.id % 3 = 0';

/** Applies the same condition for the judge. */
export function isToldInSlack({ status, id }: Item): boolean {
  return status === 'allowed' && Number(id) % 3 === 0;
}

/** Returns the sinks as YAML by name: a contact for each attendee, and a message for questions. */
export function vendorSinks({ slack, hubSpot }: Pick<Vendors, 'slack' | 'hubSpot'>): Record<string, string> {
  const contact = `{ from: attendees, object: contacts, match: [email], properties: { email: '$email(item.Email)', firstname: item.Name } }`;
  const message = `{ from: qna-questions, when: '${approvedThird}', text: item.content, threadBy: 'item.session.id' }`;
  return {
    crm: `{ type: hubspot, token: "\${HUBSPOT_TOKEN}", baseUrl: "${hubSpot.url}", records: [ ${contact} ] }`,
    talk: `{ type: slack, token: "\${SLACK_TOKEN}", baseUrl: "${slack.url}/api", channel: ${DEFAULT_CHANNEL}, limits: { per10s: ${per10s} }, messages: [ ${message} ] }`,
  };
}
