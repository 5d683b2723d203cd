import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

type Stored = { readonly id: string } & Readonly<Record<string, unknown>>;

/** An LRS in small, for what the sink does with its answers. Whether statements are right, test/conformance asks a strict one. */
export interface SmallLrs {
  readonly endpoint: string;
  readonly stored: Map<string, Stored>;
  /** `POST` or `GET` with the number of statements, or the query. */
  readonly requests: string[];
  /** How often it was asked which versions it speaks; not counted among the others. */
  about: number;
  /** Asked for its versions, it answers with a page. */
  isPortal: boolean;
  /** What it answers then; undefined: it has no About resource. */
  versions: readonly string[] | undefined;
  /** The versions of the requests. */
  readonly spoken: string[];
  /** Asked first: true when it has answered in its own way. */
  answer: (request: IncomingMessage, response: ServerResponse, statements: readonly Stored[]) => boolean;
  /** Why a batch with this statement is refused; undefined: it is not. */
  refuses: (statement: Stored) => number | undefined;
  /** Stores, and closes the connection before it answers. */
  loseAnswers: boolean;
  /** Ids that stand and are not voided. */
  standing(): string[];
  close(): Promise<void>;
}

export async function startSmallLrs(): Promise<SmallLrs> {
  const stored = new Map<string, Stored>();
  const server = createServer((request, response) => {
    text(request).then(
      (body) => serve(request, response, body),
      () => response.destroy(),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const voided = (): Set<string> =>
    new Set(
      [...stored.values()].flatMap(({ object }) =>
        (object as { objectType: string }).objectType === 'StatementRef' ? [(object as { id: string }).id] : [],
      ),
    );
  const lrs: SmallLrs = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/xapi`,
    stored,
    requests: [],
    about: 0,
    isPortal: false,
    versions: ['1.0.3'],
    spoken: [],
    answer: () => false,
    refuses: () => undefined,
    loseAnswers: false,
    standing: () => {
      const gone = voided();
      return [...stored.values()].filter(({ id, verb }) => !gone.has(id) && !isVoiding(verb)).map(({ id }) => id);
    },
    close: async () => {
      server.close();
      server.closeAllConnections();
    },
  };

  function serve(request: IncomingMessage, response: ServerResponse, body: string): void {
    const url = new URL(request.url ?? '/', 'http://lrs');
    const statements = body === '' ? [] : (JSON.parse(body) as Stored[]);
    if (url.pathname === '/xapi/about') {
      lrs.about += 1;
      if (lrs.isPortal) return void response.writeHead(200).end('<h1>Welcome</h1>');
      return json(response, lrs.versions === undefined ? 404 : 200, { version: lrs.versions });
    }
    lrs.requests.push(`${request.method} ${request.method === 'POST' ? statements.length : url.search}`);
    lrs.spoken.push(String(request.headers['x-experience-api-version']));
    if (lrs.answer(request, response, statements)) return;
    if (request.method === 'GET') return read(url, response);
    const refused = statements.map((statement) => lrs.refuses(statement)).find((status) => status !== undefined);
    if (refused !== undefined) return json(response, refused, { message: 'Ada Lovelace' });
    const conflict = statements.some((each) => stored.has(each.id) && !sameText(stored.get(each.id)!, each));
    if (conflict) return json(response, 409, {});
    for (const statement of statements) stored.set(statement.id, statement);
    if (lrs.loseAnswers) return void response.destroy();
    json(
      response,
      200,
      statements.map(({ id }) => id),
    );
  }

  function read(url: URL, response: ServerResponse): void {
    const id = url.searchParams.get('statementId') ?? url.searchParams.get('voidedStatementId') ?? '';
    const found = voided().has(id) === url.searchParams.has('voidedStatementId') ? stored.get(id) : undefined;
    json(response, found === undefined ? 404 : 200, found ?? {});
  }
  return lrs;
}

function isVoiding(verb: unknown): boolean {
  return (verb as { id: string }).id === 'http://adlnet.gov/expapi/verbs/voided';
}

function sameText(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
