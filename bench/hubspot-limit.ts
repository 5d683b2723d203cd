import { Accounts } from '../sinks/network/accounts.js';
import { Secret } from '../config/secret.js';
import { hubspotConfigSchema } from '../sinks/hubspot/config.js';
import { createHubSpotSink } from '../sinks/hubspot/hubspot.js';
import type { Lane, Sink, Subject } from '../sinks/sink.js';
import { property } from '../sandbox/hubspot/object-type.js';
import { startHubSpotDouble } from '../sandbox/hubspot/start-hubspot-double.js';
import type { Bench } from './report.js';

const lanes = 20;
const per10s = 100;
const windowMs = 10_000;

const records = [
  {
    from: 'attendees',
    object: 'contacts',
    match: ['email'],
    properties: {
      email: 'item.Email',
      firstname: '"Guest"',
      last_event: { value: 'pigeonhole.name', write: 'if-newer' },
    },
  },
  {
    from: 'attendees',
    object: 'marketing-event',
    event: { name: 'pigeonhole.name', organizer: '"ACME"' },
    attendance: '"register"',
    email: 'item.Email',
  },
];

/**
 * Measures which share of an account's limit the sink uses. n requests take at least (⌈n / limit⌉ - 1) windows, because
 * the requests of the first window need not wait. The figure is that time divided by the actual time. The stand-in
 * counts requests as HubSpot does, and refuses every request above the limit.
 */
export const hubspotLimit: Bench = {
  name: 'hubspot-limit',
  about: `--items attendees of ${lanes} pigeonholes into a HubSpot double that accepts ${per10s} requests in 10 s`,
  async run(options, report) {
    const items = options.items ?? 10_000;
    const double = await startHubSpotDouble({ per10s, contactProperties: [property('last_event')] });
    const config = hubspotConfigSchema.parse({ token: new Secret('hubspot-token'), baseUrl: double.url, records });
    const sink = createHubSpotSink(config, {
      name: 'crm',
      baseFolder: '.',
      network: { allowHosts: [] },
      now: Date.now,
      accounts: new Accounts(),
      onForget: 'clear-our-fields',
    });
    try {
      const perLane = Math.ceil(items / lanes);
      const beganAtMs = performance.now();
      const delivered = await Promise.all(
        Array.from({ length: lanes }, (_, lane) => sendLane(sink, 101 + lane, perLane)),
      );
      const tookMs = performance.now() - beganAtMs;
      const requests = double.requests.length;
      const refused = double.requests.filter(({ status }) => status === 429).length;
      const minMs = (Math.ceil(requests / per10s) - 1) * windowMs;
      report.note(
        `${delivered.reduce((sum, count) => sum + count, 0)} attendees, ${requests} requests, ${refused} refused, ${(tookMs / 1000).toFixed(1)} s of at least ${(minMs / 1000).toFixed(1)} s`,
      );
      const contacts = double.account.portal.all(double.account.contacts).length;
      report.figure({ what: 'limit used', value: minMs / tookMs, must: { atLeast: 0.9 } });
      report.figure({
        what: 'requests refused (429)',
        value: refused,
        must: { atMost: 1 },
        aim: { atMost: 0 },
      });
      report.figure({
        what: 'contacts / attendees',
        value: contacts / (perLane * lanes),
        must: { atLeast: 1 },
      });
    } finally {
      await sink.close();
      await double.close();
    }
  },
};

/**
 * Sends the attendees of a pigeonhole in batches, as the engine sends a lane. @returns the number of delivered
 * attendees
 */
async function sendLane(sink: Sink, pigeonholeId: number, count: number): Promise<number> {
  let memory: Record<string, unknown> = {};
  let delivered = 0;
  let left = Array.from({ length: count }, (_, n) => attendee(pigeonholeId, n));
  while (left.length > 0) {
    const batch = left.slice(0, sink.traits.batchSize);
    const planned = await sink.plan(batch);
    const operations = planned.flatMap((each) => (each.kind === 'send' ? [each.operation] : []));
    const lane: Lane = {
      workspace: 'acme',
      pigeonholeId,
      ledgerId: 'bench',
      memory,
      remember: (more) => Promise.resolve(void Object.assign(memory, more)),
    };
    const result = await sink.send(operations, lane, new AbortController().signal);
    memory = { ...memory, ...result.memory };
    const again = batch.filter((_, at) => result.outcomes[at]!.kind !== 'delivered');
    delivered += batch.length - again.length;
    left = [...again, ...left.slice(batch.length)];
  }
  return delivered;
}

function attendee(pigeonholeId: number, n: number): Subject {
  const key = String(pigeonholeId * 100_000 + n);
  return {
    change: {
      id: key,
      type: 'attendees.created',
      timestamp: '2026-11-21T09:30:00.000Z',
      workspace: 'acme',
      pigeonholeId,
      sessionId: null,
      list: 'attendees',
      key,
      revision: 1,
      sequence: n + 1,
      data: { id: Number(key), Email: `attendee-${key}@example.com` },
    },
    previous: null,
    attendee: null,
    session: null,
    pigeonhole: { id: pigeonholeId, name: `Event ${pigeonholeId}`, startDate: '2026-11-20' },
    object: null,
    removal: null,
  };
}
