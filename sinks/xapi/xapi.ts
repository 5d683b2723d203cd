import { mayReachPrivate } from '../network/address-policy.js';
import { shownAddress } from '../network/shown-address.js';
import { TokenSource } from '../rest/token-source.js';
import { RestClient, withCallBudget } from '../rest/rest-client.js';
import { RollingLimiter } from '../network/rolling-limiter.js';
import { unplannable } from '../mapping/mapping-error.js';
import {
  type CheckLine,
  fieldsOf,
  type Planned,
  type Sink,
  type SinkEnvironment,
  type SinkType,
  type Subject,
} from '../sink.js';
import { Activities } from './statement.js';
import { Lrs, versionIn } from './client.js';
import { clientOf, engagementList, secretOf, statementKinds, type XapiConfig, xapiConfigSchema } from './config.js';
import { groupsOf, isJoined, planJoined } from './joined-answers.js';
import { planChange, type PlanContext, planLookUp, type XapiOperation } from './plan.js';
import { inDoubt, sendOperations } from './send.js';
import { classifyAnswer } from './classify.js';
import { compareStatement, readStatements } from './read-back.js';
import { xapiCauses, xapiReasons } from './reasons.js';

/** Number of operations in one `send`. If each issues one statement, they fit into one request. */
const BATCH_SIZE = 100;
const CONNECTIONS = 4;
/** Maximum length of an answer. A statement of pigeonpost has a few KiB. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
/** A `send` starts no request after this time, so that it ends long before the lane's lease expires. */
const START_WINDOW_MS = 30_000;

/**
 * Creates the sink that sends the actions of attendees as xAPI statements, with at most one valid statement per item.
 */
export function createXapiSink(config: XapiConfig, environment: SinkEnvironment): Sink<XapiOperation> {
  const endpoint = new URL(config.endpoint);
  const rest = new RestClient({
    url: endpoint,
    name: 'the LRS',
    environment,
    allowPrivateAddresses: mayReachPrivate(endpoint, config),
    connections: CONNECTIONS,
    maxAnswerBytes: MAX_ANSWER_BYTES,
    requestIdHeaders: ['x-request-id', 'x-amzn-requestid'],
  });
  const activities = new Activities((config.activities ?? config.actor.homePage)!);
  const { limits } = environment;
  const credential = `${clientOf(config)}:${secretOf(config).reveal()}`;
  const account = { type: 'xapi', baseUrl: config.endpoint, credential, limits };
  const { tokenHost, ...login } = loginOf(config, environment);
  const lrs = new Lrs({
    endpoint,
    ...login,
    rest,
    now: environment.now,
    limiters: environment.accounts.share(account, 'requests', () => limitersOf(limits)),
  });
  return {
    traits: {
      order: 'item',
      needsContext: true,
      siblingLists: new Set(statementKinds.answered),
      revisions: 'latest',
      repeats: 'harmless',
      batchSize: BATCH_SIZE,
    },
    check: (signal) => checkLrs(lrs, signal),
    plan: async (subjects) => await planAll(subjects, { config, activities, environment }),
    planLookUp: async (subjects) => subjects.map((subject) => planLookUp(subject, { config, activities, environment })),
    preview: ({ statements }) => [
      { method: 'POST', address: `${shownAddress(endpoint).replace(/\/$/, '')}/statements`, body: statements },
    ],
    async send(operations, _lane, signal) {
      return await withCallBudget(signal, START_WINDOW_MS, async (budget) => {
        const mayStart = (): boolean => !budget.signal.aborted && budget.remainingMs() > 0;
        return { outcomes: await sendOperations(operations, lrs, { signal: budget.signal, mayStart }) };
      });
    },
    /**
     * The LRS may have stored the statements. The object records that, so that the next operation voids them or sends
     * them again.
     */
    recover: (operations) =>
      Promise.resolve({
        outcomes: operations.map((operation) => ({ kind: 'unsent', ...inDoubt(operation) })),
      }),
    async readBack(wanted, _lane, signal) {
      return await withCallBudget(signal, START_WINDOW_MS, async (budget) => {
        const mayStart = (): boolean => !budget.signal.aborted && budget.remainingMs() > 0;
        return await readStatements(wanted, lrs, { config, signal: budget.signal, mayStart });
      });
    },
    compareHeld: (operation, held) => compareStatement(operation, held),
    tryNow: () => lrs.tryNow(),
    async close() {
      await Promise.all([rest.close(), tokenHost?.close()]);
    },
  };
}

/** Returns the header of Basic authentication, or the source of access tokens and the client that it uses. */
function loginOf(
  config: XapiConfig,
  environment: SinkEnvironment,
): { readonly basic: string; readonly tokens?: TokenSource; readonly tokenHost?: RestClient } {
  const { username, password, oauth } = config;
  if (oauth === undefined) {
    return { basic: `Basic ${Buffer.from(`${username}:${password!.reveal()}`).toString('base64')}` };
  }
  const { clientId, clientSecret, clientAuthentication: authentication, scope, audience } = oauth;
  const tokenUrl = new URL(oauth.tokenUrl);
  const allowPrivateAddresses = mayReachPrivate(tokenUrl, config);
  const tokenHost = new RestClient({ url: tokenUrl, environment, allowPrivateAddresses, connections: 1 });
  const tokens = new TokenSource({
    tokenUrl,
    grant: { kind: 'client-credentials', clientId, clientSecret, authentication, scope, audience },
    rest: tokenHost,
    name: 'the token endpoint of the LRS',
    keys: '"oauth.clientId" and "oauth.clientSecret"',
    now: environment.now,
  });
  return { basic: '', tokens, tokenHost };
}

/** Plans the changes in groups. If the mapping fails, the changes of the group become dead letters. */
async function planAll(subjects: readonly Subject[], context: PlanContext): Promise<Planned<XapiOperation>[]> {
  const planned: Planned<XapiOperation>[] = [];
  const plan = async (indexes: readonly number[]): Promise<void> => {
    const group = indexes.map((index) => subjects[index]!);
    const plans = group.some(isJoined)
      ? await planJoined(group, context)
      : await Promise.all(group.map((subject) => planChange(subject, context)));
    for (const [at, index] of indexes.entries()) planned[index] = plans[at]!;
  };
  const planOrReject = (indexes: readonly number[]): Promise<void> =>
    plan(indexes).catch((error: unknown) => {
      for (const index of indexes) planned[index] = unplannable(error);
    });
  await Promise.all(groupsOf(subjects).map(planOrReject));
  return planned;
}

function limitersOf(limits: SinkEnvironment['limits']): RollingLimiter[] {
  const { per10s, perDay } = limits ?? {};
  return [
    ...(per10s === undefined ? [] : [new RollingLimiter({ limit: per10s, windowMs: 10_000 })]),
    ...(perDay === undefined ? [] : [new RollingLimiter({ limit: perDay, windowMs: 24 * 60 * 60 * 1000 })]),
  ];
}

export const xapiSinkType: SinkType<XapiConfig> = {
  type: 'xapi',
  configSchema: xapiConfigSchema,
  acceptsByDefault: ['obtained'],
  mappingKeys: ['actor', 'statements', 'credit'],
  reasons: xapiReasons,
  causes: xapiCauses,
  lists: ({ statements, credit }) => [
    'attendees', // read even without `attended`, because changes of consent are changes of this list
    ...statements.filter((kind) => kind !== 'attended').flatMap((kind) => statementKinds[kind]),
    ...(credit === undefined ? [] : [engagementList]),
  ],
  joins: () => ['attendees', 'sessions', 'pigeonholes'],
  destination: (config) => `${config.endpoint}\n${clientOf(config)}`,
  create: createXapiSink,
};

/** An id that no statement has, so that the check's request returns no data. */
const nobodysStatement = '00000000-0000-4000-8000-000000000000';

/**
 * Checks that the LRS answers, supports a known version and accepts the credentials. To test the credentials, reads a
 * statement that does not exist. A server without an LRS answers the same (HTTP 404) at any path, so an LRS that does
 * not report its version must also answer with a list. Only the first statement shows whether the credentials may write.
 * Never throws.
 */
async function checkLrs(lrs: Lrs, signal: AbortSignal): Promise<CheckLine[]> {
  const about = await lrs.getAbout(signal);
  if (about.kind === 'no-answer') return [bad(about.detail)];
  const lines: CheckLine[] = [];
  if (about.status === 200) lines.push(versionLine(lrs.host, about.body));
  const answer = await lrs.getStatement('statementId', nobodysStatement, signal);
  if (answer.kind === 'no-answer') return [...lines, bad(answer.detail)];
  if (answer.status === 404 && (about.status !== 200 || versionIn(about.body) === undefined)) {
    const list = await lrs.getNoStatements(signal);
    if (list.kind === 'no-answer') return [...lines, bad(list.detail)];
    if (list.status === 200 && Array.isArray(fieldsOf(list.body)['statements'])) return [...lines, accepted(lrs.host)];
    const text = `${lrs.host} has no LRS at this address (HTTP ${list.status} for its statements): check the path of "endpoint", to which /statements is appended`;
    return [...lines, bad(text)];
  }
  switch (answer.status) {
    case 404:
    case 200:
      return [...lines, accepted(lrs.host)];
    case 401:
      return [
        ...lines,
        bad(`${lrs.host} refuses the credentials (HTTP 401): check "username" and "password", or "oauth"`),
      ];
    case 403:
      return [
        ...lines,
        bad(
          `the credentials may not read statements at ${lrs.host} (HTTP 403): allow reading, so that pigeonpost can compare a statement whose id is already in use`,
        ),
      ];
    default: {
      const verdict = classifyAnswer(answer, []);
      return [...lines, bad(verdict.kind === 'failed' ? verdict.result.detail : `${lrs.host}: ${verdict.detail}`)];
    }
  }
}

function versionLine(host: string, body: unknown): CheckLine {
  const version = versionIn(body);
  if (version === undefined) return bad(`${host} does not report xAPI 1.0 or 2.0: check "endpoint"`);
  return { ok: true, text: `${host} is an LRS for xAPI ${version === '1.0.3' ? '1.0' : '2.0'}` };
}

function accepted(host: string): CheckLine {
  return { ok: true, text: `${host} accepts the credentials` };
}

function bad(text: string): CheckLine {
  return { ok: false, text };
}
