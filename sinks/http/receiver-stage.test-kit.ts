import type { DoubleAnswer, DoubleRequest } from '../../sandbox/serve/double-request.js';
import { type RunningDouble, serveDouble } from '../../sandbox/serve/serve-double.js';
import { subjectOf } from '../plan-of.test-kit.js';
import { sampleChange } from '../sample-change.test-kit.js';
import type { Operation, Outcome, Planned, Sink, SinkEnvironment, Subject } from '../sink.js';
import { createHttpSink, httpSinkType } from './http.js';
import { environmentOf, laneOf } from '../sink-environment.test-kit.js';

/** A receiver with scripted responses, reset before each test, and the sinks that the test has opened. */
interface Stage {
  api: RunningDouble;
  /** Responses to the next requests. Every other request gets HTTP 200 and an empty object. */
  answers: ((request: DoubleRequest) => DoubleAnswer)[];
  sinks: Sink[];
  nowMs: number;
}

export const stage = {} as Stage;

beforeEach(async () => {
  stage.answers = [];
  stage.sinks = [];
  stage.nowMs = Date.parse('2026-11-21T09:30:03Z');
  const answer = (request: DoubleRequest): DoubleAnswer =>
    (stage.answers.shift() ?? (() => ({ status: 200, json: {} })))(request);
  stage.api = await serveDouble({ answer, state: () => [] }, {});
});
afterEach(async () => {
  for (const sink of stage.sinks) await sink.close();
  await stage.api.close();
});

export const create = { url: '"/items"', body: '{ "key": change.key, "text": item.text }' };

export function open(keys: object, environment: Partial<SinkEnvironment> = {}): Sink {
  const config = httpSinkType.configSchema.parse({ baseUrl: `${stage.api.url}/v2`, ...keys });
  const around = environmentOf('crm', { now: () => stage.nowMs, ...environment });
  const sink = createHttpSink(config, around) as Sink;
  stage.sinks.push(sink);
  return sink;
}

export const lane = laneOf();

export const item = (key: string, text: unknown = 'hello', around: Partial<Subject> = {}): Subject =>
  subjectOf(sampleChange({ id: `id-${key}`, list: 'questions', key, data: text === null ? null : { text } }), around);

export const records = (requests: object) => ({ records: [{ from: 'questions', create, ...requests }] });

export async function planOne(sink: Sink, subject: Subject): Promise<Planned> {
  return (await sink.plan([subject]))[0]!;
}

export async function send(sink: Sink, ...subjects: readonly Subject[]): Promise<readonly Outcome[]> {
  const planned = await sink.plan(subjects);
  const operations = planned.flatMap((each): Operation[] => (each.kind === 'send' ? [each.operation] : []));
  return (await sink.send(operations, lane, new AbortController().signal)).outcomes;
}

export const bodies = () => stage.api.requests.map(({ body }) => body);
