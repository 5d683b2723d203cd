import { mayReachPrivate } from '../network/address-policy.js';
import { type Clock, systemClock } from '../network/rolling-limiter.js';
import { expressionsIn } from '../mapping/expression-schema.js';
import { joinsOf } from '../mapping/mentioned-fields.js';
import { planEach } from '../mapping/mapping-error.js';
import { underOwnSignal } from '../network/within-deadline.js';
import { shownAddress } from '../network/shown-address.js';
import { RestClient } from '../rest/rest-client.js';
import type { Sink, SinkEnvironment, SinkType } from '../sink.js';
import type { SlackApi, TokenSource } from './client.js';
import { EditTimes, SlackRates } from './rates.js';
import { checkSlack, sendTestByToken } from './check.js';
import { listChannels } from './choices.js';
import { webhookMode } from './incoming-webhook.js';
import { channelsOf, type SlackConfig, slackConfigSchema } from './config.js';
import type { SlackMode, SlackOperation } from './operation.js';
import { planSubject } from './plan.js';
import { previewOf } from './preview.js';
import { planLookUp, recoverOperations } from './recover.js';
import { compareMessage, CopyScans, type HeldMessage, readMessages, removeCopies } from './read-back.js';
import { sendByToken } from './send.js';
import { RotatingTokens, fixedToken } from './tokens.js';
import { Sending, type SlackAccount } from './sending.js';
import { slackCauses, slackReasons } from './reasons.js';

const DEFAULT_BASE_URL = 'https://slack.com/api';
/** Twice the number of posts that a channel accepts in 10 s, because edits run at the same time. */
const BATCH_SIZE = 20;
/** No call of a `send` starts after this time. A lane's cycle takes 10 s, and new changes wait for its end. */
const SEND_MS = 8_000;
/** Longer than a `send`, because a look-up reads many pages, and each page needs a permit. */
const RECOVER_MS = 60_000;
/** Enough for a dozen pages at the rate of Slack. An audit continues with the rest later. */
const READ_MS = 15_000;
/** About twice a page of 200 messages of maximum length. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;
/** Enough for four lanes that post, edit and look up at the same time. */
const CONNECTIONS = 16;

/** Posts a message for each item and keeps it up to date. */
export function createSlackSink(
  config: SlackConfig,
  environment: SinkEnvironment,
  { clock = systemClock }: { readonly clock?: Clock } = {},
): Sink<SlackOperation> {
  const { token, rotation, webhookUrl } = config;
  const url = new URL(webhookUrl?.reveal() ?? config.baseUrl ?? DEFAULT_BASE_URL);
  const wallNow = environment.now;
  const rest = new RestClient({
    url,
    environment,
    allowPrivateAddresses: mayReachPrivate(url, config),
    connections: CONNECTIONS,
    maxAnswerBytes: MAX_ANSWER_BYTES,
    requestIdHeaders: ['x-slack-req-id'],
    ...(webhookUrl !== undefined && { shown: (address: string) => shownAddress(address, { isSecret: true }) }),
  });
  const credential = token ?? rotation?.refreshToken ?? webhookUrl!;
  const account = { type: 'slack', baseUrl: url.origin, credential, limits: environment.limits };
  const rates = environment.accounts.share(account, 'rates', () => new SlackRates(environment.limits?.per10s, clock));
  const api = { rest, wallNow, baseUrl: config.baseUrl ?? DEFAULT_BASE_URL };
  const tokens =
    rotation === undefined ? token && fixedToken(token) : new RotatingTokens(api, rotation, environment.credentials);
  const mode =
    tokens === undefined
      ? webhookMode({ rest, wallNow, url: webhookUrl! }, { rates, clock, name: environment.name, sendMs: SEND_MS })
      : tokenMode({ api, tokens, rates, clock, config, name: environment.name });
  return {
    traits: { order: 'item', needsContext: true, revisions: 'latest', repeats: 'lookUp', batchSize: BATCH_SIZE },
    async check(signal) {
      if (rotation !== undefined && environment.credentials === undefined) return [checkedLater];
      const lines = await mode.check(signal);
      if (environment.limits?.perDay === undefined) return lines;
      return [...lines, { ok: false, text: 'Slack has no daily message limit: remove "limits.perDay"' }];
    },
    plan: (subjects) => planEach(subjects, (subject) => planSubject(config, environment.name, subject)),
    preview: (operation) => previewOf(operation, config.baseUrl ?? DEFAULT_BASE_URL, webhookUrl?.reveal()),
    send: (operations, lane, signal) => underOwnSignal(signal, (own) => mode.send(operations, lane, own)),
    recover: (operations, lane, signal) => underOwnSignal(signal, (own) => mode.recover(operations, lane, own)),
    planLookUp: (subjects) => Promise.resolve(subjects.map(planLookUp)),
    sendTest: (signal) => underOwnSignal(signal, (own) => mode.sendTest(own)),
    ...(tokens !== undefined && {
      choices: (_field, signal) => underOwnSignal(signal, (own) => listChannels(api, tokens, own)),
    }),
    ...(mode.readBack && { readBack: mode.readBack }),
    ...(mode.compareHeld && { compareHeld: mode.compareHeld }),
    ...(mode.removeHeld && { removeHeld: mode.removeHeld }),
    tryNow() {
      rates.reopen();
      tokens?.tryNow?.();
    },
    async close() {
      await tokens?.settled();
      await rest.close();
    },
  };
}

/**
 * The check result for an app with token rotation. A refresh token works once, so a process that cannot store the next
 * one must not use it.
 */
const checkedLater = {
  ok: true,
  text: 'the refresh token works once, so only a running pigeonpost uses it: check the token and the channels with "pigeonpost ready" while "pigeonpost start" runs',
};

function tokenMode({
  config,
  name,
  ...calling
}: {
  readonly api: SlackApi;
  readonly tokens: TokenSource;
  readonly rates: SlackRates;
  readonly clock: Clock;
  readonly config: SlackConfig;
  /** The sink's name. */
  readonly name: string;
}): SlackMode {
  const channels = channelsOf(config);
  const account: SlackAccount = {
    ...calling,
    aheadMs: 0,
    scopes: undefined,
    edits: new EditTimes(calling.clock),
    clearedAt: new Map(),
    wroteAt: new Map(),
    joining: new Map(),
    onlyChannel: channels.length === 1 ? channels[0] : undefined,
  };
  const scans = new CopyScans();
  return {
    check: (signal) => checkSlack({ ...calling, channels }, signal),
    send: (operations, lane, signal) => sendByToken(operations, new Sending(account, lane, signal, SEND_MS)),
    recover: (operations, lane, signal) =>
      recoverOperations(operations, new Sending(account, lane, signal, RECOVER_MS)),
    sendTest: (signal) => sendTestByToken(account, { channel: channels[0]!, sink: name }, signal),
    readBack: (wanted, lane, signal) =>
      underOwnSignal(signal, (own) => {
        const sending = new Sending(account, lane, own, READ_MS);
        return readMessages(wanted, config, { sending, scans });
      }),
    compareHeld: (operation, held) => compareMessage(operation, held as HeldMessage),
    removeHeld: (extras, lane, signal) =>
      underOwnSignal(signal, (own) => removeCopies(extras, new Sending(account, lane, own, READ_MS))),
  };
}

export const slackSinkType: SinkType<SlackConfig> = {
  type: 'slack',
  configSchema: slackConfigSchema,
  acceptsByDefault: ['obtained'],
  mappingKeys: ['messages', 'routes'],
  reasons: slackReasons,
  causes: slackCauses,
  lists: ({ messages }) => [...new Set(messages.map(({ from }) => from))],
  joins: (config) => joinsOf(expressionsIn(config).map(({ expression }) => expression)),
  destination: (config) =>
    config.webhookUrl?.reveal() ?? JSON.stringify([config.baseUrl ?? DEFAULT_BASE_URL, ...channelsOf(config).sort()]),
  create: createSlackSink,
};
