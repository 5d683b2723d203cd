import { isObject, parsedObject } from '../json.js';
import type { DoubleAnswer, DoubleRequest } from '../serve/double-request.js';
import { anything, type RequestRule } from '../serve/request-rules.js';
import { type RunningDouble, type ServeOptions, serveDouble } from '../serve/serve-double.js';

interface TeamsOptions extends ServeOptions {
  /** The trigger's setting "Who can trigger the flow?". With `tenant`, a request needs a token of Microsoft Entra. */
  readonly mayTrigger?: 'anyone' | 'tenant';
  readonly maxBytes?: number;
}

/** A new workflow that was created as docs/sinks/http/teams.md says. */
export const freshAccount = { mayTrigger: 'anyone', maxBytes: 28 * 1024 } as const satisfies Omit<
  TeamsOptions,
  keyof ServeOptions
>;

/** A message that a workflow posted to its channel. */
interface TeamsMessage {
  /** The lines that a reader sees, in their order. */
  readonly texts: readonly string[];
  /** Addresses that a reader can click: links that Teams renders from Markdown. */
  readonly links: readonly string[];
}

export interface TeamsDouble extends RunningDouble {
  /** The address that Teams shows once. It contains a secret signature. */
  readonly workflowUrl: string;
  /** Messages, oldest first. The channel starts with one message. */
  readonly messages: readonly TeamsMessage[];
}

const path = '/powerautomate/automations/direct/workflows/7f3a/triggers/manual/paths/invoke';
const signature = 's1gnature-of-the-workflow';

const run = { type: anything, text: anything, weight: anything, size: anything } as const;
const rules: readonly RequestRule[] = [
  {
    method: 'POST',
    path: /\/invoke$/,
    query: ['api-version', 'sp', 'sv', 'sig'],
    json: {
      type: anything,
      attachments: [
        {
          contentType: anything,
          contentUrl: anything,
          content: {
            $schema: anything,
            type: anything,
            version: anything,
            body: [{ type: anything, inlines: [run], facts: [{ title: anything, value: anything }] }],
          },
        },
      ],
    },
  },
];

/**
 * Starts a workflow with the trigger "When a Teams webhook request is received" and the action "Post card in a chat or
 * channel". Accepts a message with one Adaptive Card, and checks strictly the parts of cards that the tests need.
 * Sources: sinks/http/README.md, "Microsoft Teams".
 */
export async function startTeamsDouble(options: TeamsOptions = {}): Promise<TeamsDouble> {
  const { mayTrigger, maxBytes } = { ...freshAccount, ...options };
  const messages: TeamsMessage[] = [{ texts: ['Welcome to the channel'], links: [] }];
  const answer = (request: DoubleRequest): DoubleAnswer => {
    if (request.path !== path) return refusal(404, 'WorkflowNotFound');
    if (request.query.get('sig') !== signature || request.query.get('api-version') !== '1') {
      return refusal(401, 'DirectApiInvalidAuthorizationScheme');
    }
    if (mayTrigger === 'tenant') return refusal(401, 'DirectApiAuthorizationRequired');
    if (request.method !== 'POST') return refusal(405, 'MethodNotAllowed');
    if (request.headers['authorization'] !== undefined) return refusal(400, 'UnexpectedAuthorization');
    if (!request.headers['content-type']?.startsWith('application/json')) return refusal(415, 'UnsupportedMediaType');
    if (Buffer.byteLength(request.body) > maxBytes) return refusal(413, 'RequestEntityTooLarge');
    const message = messageOf(request.body);
    if (typeof message === 'string') return refusal(400, message);
    messages.push(message);
    return { status: 202 };
  };
  const double = await serveDouble({ answer, state: () => messages, rules }, options);
  const query = `api-version=1&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=${signature}`;
  return { ...double, messages, workflowUrl: `${double.url}${path}?${query}` };
}

function refusal(status: number, code: string): DoubleAnswer {
  return { status, json: { error: { code, message: `${code}: the request is not accepted` } } };
}

/** @returns the message, or an error code if the card is invalid */
function messageOf(body: string): TeamsMessage | string {
  const message = parsedObject(body) ?? {};
  if (message['type'] !== 'message' || !Array.isArray(message['attachments'])) return 'InvalidMessage';
  const [attachment, ...others] = message['attachments'].map(groupOf);
  if (attachment === undefined || others.length > 0) return 'InvalidAttachments';
  if (attachment['contentType'] !== 'application/vnd.microsoft.card.adaptive') return 'InvalidContentType';
  const card = groupOf(attachment['content']);
  const elements = card['body'];
  if (card['type'] !== 'AdaptiveCard' || !/^1\.[0-5]$/.test(String(card['version']))) return 'InvalidCard';
  if (!Array.isArray(elements) || elements.length === 0) return 'EmptyCard';
  const texts: string[] = [];
  const links: string[] = [];
  for (const element of elements.map(groupOf)) {
    const problem = element['type'] === 'FactSet' ? readFacts(element, { texts, links }) : readText(element, texts);
    if (problem !== undefined) return problem;
  }
  return { texts, links };
}

function readText({ type, inlines }: Record<string, unknown>, texts: string[]): string | undefined {
  if (type !== 'RichTextBlock' || !Array.isArray(inlines) || inlines.length === 0) return 'InvalidElement';
  let line = '';
  for (const { type: kind, text } of inlines.map(groupOf)) {
    if (kind !== 'TextRun' || typeof text !== 'string') return 'InvalidTextRun';
    line += text;
  }
  texts.push(line);
  return undefined;
}

/** Teams renders Markdown in titles and values of facts. */
function readFacts(
  { facts }: Record<string, unknown>,
  { texts, links }: { readonly texts: string[]; readonly links: string[] },
): string | undefined {
  if (!Array.isArray(facts) || facts.length === 0) return 'InvalidFactSet';
  for (const { title, value } of facts.map(groupOf)) {
    if (typeof title !== 'string' || typeof value !== 'string') return 'InvalidFact';
    const line = `${title}: ${value}`;
    texts.push(line);
    links.push(...[...line.matchAll(/\[[^\]]*\]\(([^)]+)\)/g)].map(([, address]) => address!));
  }
  return undefined;
}

function groupOf(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}
