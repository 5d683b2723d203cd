import { runSandbox, type Sandbox, type SandboxOptions } from './start-sandbox.js';
import type { Json, JsonObject } from './json.js';

/** A parsed response, for assertions. */
export interface Answer {
  status: number;
  headers: Headers;
  body: JsonObject;
}

export interface ListPage {
  data: JsonObject[];
  links: { next: string | null };
  meta: { perPage: number; nextCursor: string | null; hasMore: boolean };
}

/** A sandbox with a client for its service and control API. By default, it is small, frozen and at a fixed time. */
export interface TestSandbox extends Sandbox {
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  post(path: string, body: Json): Promise<Answer>;
  page(path: string): Promise<ListPage>;
  /** Returns every item of a list, following nextCursor with pages of `count`. */
  walk(path: string, count?: number): Promise<JsonObject[]>;
  control(method: string, path: string, body?: unknown): Promise<JsonObject>;
  truth(path: string): Promise<JsonObject[]>;
}

export const NOW_MS = Date.parse('2026-11-21T09:00:00Z');

const open: Sandbox[] = [];

/** Starts a sandbox. `closeSandboxes` stops it. */
export async function startTestSandbox(options: SandboxOptions = {}): Promise<TestSandbox> {
  const sandbox = await runSandbox({ frozen: true, attendees: 60, questions: 12, nowMs: NOW_MS, ...options });
  open.push(sandbox);
  const { baseUrl } = sandbox;
  const key = sandbox.apiKeys[0] ?? '';

  const get = async (path: string, headers: Record<string, string> = {}): Promise<Answer> =>
    answerOf(await fetch(baseUrl + path, { headers: { 'X-API-KEY': key, ...headers } }));
  const page = async (path: string): Promise<ListPage> => {
    const { status, body } = await get(path);
    if (status !== 200) throw new Error(`${path} answered ${status} ${JSON.stringify(body)}`);
    return body as unknown as ListPage;
  };
  return {
    ...sandbox,
    get,
    page,
    post: async (path, body) =>
      answerOf(
        await fetch(baseUrl + path, {
          method: 'POST',
          headers: { 'X-API-KEY': key, 'Content-Type': 'application/json' },
          body: JSON.stringify(body),
        }),
      ),
    walk: async (path, count = 300) => {
      const items: JsonObject[] = [];
      const separator = path.includes('?') ? '&' : '?';
      let cursor: string | null = null;
      do {
        const after: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
        const { data, meta }: ListPage = await page(`${path}${separator}count=${count}${after}`);
        items.push(...data);
        cursor = meta.nextCursor;
      } while (cursor !== null);
      return items;
    },
    control: async (method, path, body) => {
      const response = await fetch(`${baseUrl}/_control/${path}`, {
        method,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path} answered ${response.status} ${text}`);
      return JSON.parse(text) as JsonObject;
    },
    truth: async (path) => {
      const text = await (await fetch(`${baseUrl}/_control/truth/${path}`)).text();
      return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as JsonObject]));
    },
  };
}

/** Stops every sandbox that was started here. For use in `afterEach`. */
export async function closeSandboxes(): Promise<void> {
  await Promise.all(open.splice(0).map((sandbox) => sandbox.close()));
}

async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text();
  let body: JsonObject = {};
  try {
    body = JSON.parse(text) as JsonObject;
  } catch {
    body = { text };
  }
  return { status: response.status, headers: response.headers, body };
}

/** Returns the ids of items, as most lists show them. */
export function idsOf(items: readonly JsonObject[]): Json[] {
  return items.map((item) => item['id'] ?? (item['question'] as JsonObject)['id'] ?? null);
}

/** Returns a string or number as a string. Throws for any other type, which the test does not expect. */
export function textOf(value: Json | undefined): string {
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  throw new TypeError(`expected a text or a number, got ${JSON.stringify(value)}`);
}
