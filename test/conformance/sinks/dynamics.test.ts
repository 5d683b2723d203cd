import { Secret } from '../../../config/secret.js';
import { type DynamicsDouble, startDynamicsDouble } from '../../../sandbox/dynamics/start-dynamics-double.js';
import { dynamicsConfigSchema } from '../../../sinks/dynamics/config.js';
import { createDynamicsSink, dynamicsSinkType } from '../../../sinks/dynamics/dynamics.js';
import { subjectOf } from '../../../sinks/plan-of.test-kit.js';
import { sampleChange } from '../../../sinks/sample-change.test-kit.js';
import { environmentOf } from '../../../sinks/sink-environment.test-kit.js';
import type { Sink, Subject } from '../../../sinks/sink.js';
import { PERSONAL_DATA } from './generated-changes.js';
import type { StateDestination } from './state-destination.js';
import { describeStateSink } from './state-sink-conformance.js';

const secret = 'dynamics-secret';

interface DynamicsDestination extends StateDestination {
  readonly double: DynamicsDouble;
}

async function startDynamics(): Promise<DynamicsDestination> {
  // The engine waits between two attempts. The sink does not log in for some seconds after a failed login.
  let laterMs = 0;
  const now = (): number => Date.now() + laterMs;
  const double = await startDynamicsDouble({ now });
  const answer = (status: number, code: string, headers = {}) => ({
    kind: 'answer' as const,
    answer: { status, headers, json: { error: { code, message: `refused ${PERSONAL_DATA.join(' ')}` } } },
  });
  return {
    double,
    open: () => {
      const config = dynamicsConfigSchema.parse({
        baseUrl: `${double.url}/api/data/v9.2`,
        tokenUrl: `${double.url}/oauth2/v2.0/token`,
        clientId: '11111111-2222-3333-4444-555555555555',
        clientSecret: new Secret(secret),
        records: [
          {
            from: 'attendees',
            object: 'contacts',
            match: ['emailaddress1'],
            properties: {
              emailaddress1: 'item.Email',
              lastname: { value: 'item.Name', write: 'if-newer' },
              jobtitle: 'item.job',
            },
          },
        ],
      });
      const sink: Sink = createDynamicsSink(config, environmentOf('crm', { now }));
      return {
        ...sink,
        send: async (...given) => {
          laterMs += 6_000;
          return await sink.send(...given);
        },
      };
    },
    requests: () => double.requests.length,
    secrets: [secret],
    state: () =>
      [...double.contacts.values()]
        .map(({ emailaddress1, lastname, jobtitle }) => JSON.stringify([emailaddress1, lastname, jobtitle]))
        .sort(),
    fail: (how, requestNumber) =>
      double.faults.add({
        skip: requestNumber,
        effect:
          how === 'answer-lost'
            ? { kind: 'dropAfter' }
            : how === 'never-arrives'
              ? { kind: 'dropBefore' }
              : { kind: 'answerAfter', answer: { status: 502, text: '<html>502 Bad Gateway</html>' } },
      }),
    begin: (refusal) =>
      double.faults.add({
        times: 1_000,
        effect: {
          auth: answer(401, '0x80040217'),
          overload: answer(429, '0x80072322', { 'retry-after': '20' }),
          outage: answer(503, '0x80060891'),
          cut: { kind: 'dropBefore' as const },
        }[refusal],
      }),
    repair: () => double.faults.clear(),
    close: () => double.close(),
  };
}

function attendee(id: number, fields: object): Subject {
  const data = { id, Name: PERSONAL_DATA[0], ...fields };
  const change = sampleChange({ id: `a-${id}`, type: 'attendees.created', list: 'attendees', key: String(id), data });
  return subjectOf(change, { pigeonhole: { id: 101, name: 'Autumn', startDate: '2026-11-20' } });
}

const storyWith = (job: string): Subject[] => [
  attendee(1, { Email: PERSONAL_DATA[1], job }),
  attendee(2, { Email: "o'grace@example.com", job }),
  attendee(3, { Email: "O'Grace@example.com", job: 'Admiral' }),
];

describeStateSink('dynamics', {
  type: dynamicsSinkType,
  start: startDynamics,
  addExisting({ double }) {
    double.add({ emailaddress1: PERSONAL_DATA[1]!, lastname: 'Another' });
    double.add({ emailaddress1: "o'grace@example.com", lastname: 'Another' });
  },
  story: () => storyWith('Analyst'),
  edited: () => [storyWith('Countess')[0]!],
  poison: () => attendee(4, { Email: 'long@example.com', job: `${PERSONAL_DATA[0]}${'x'.repeat(100)}` }),
  isFoundAgain: () => true,
  overloadAsksMs: 20_000,
});
