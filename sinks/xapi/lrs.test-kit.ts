import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

type Stored = { readonly id: string } & Readonly<Record<string, unknown>>;

/** A minimal LRS, for tests of what the sink does with answers. test/conformance checks statements with the strict stand-in. */
export interface SmallLrs {
  readonly endpoint: string;
  readonly stored: Map<string, Stored>;
  /** `POST` or `GET` with the number of statements, or the query. */
  readonly requests: string[];
  /** The number of requests for its versions, which `requests` leaves out. */
  about: number;
  /** Answers the request for its versions with an HTML page. */
  isPortal: boolean;
  /** Its versions; undefined if it has no About resource. */
  versions: readonly string[] | undefined;
  /** The version header of each request. */
  readonly spoken: string[];
  /** Called first; returns true if it has answered the request. */
  answer: (request: IncomingMessage, response: ServerResponse, statements: readonly Stored[]) => boolean;
  /** Status with which a batch that contains this statement is refused; undefined if it is accepted. */
  refuses: (statement: Stored) => number | undefined;
  /** Stores, and closes the connection before it answers. */
  loseAnswers: boolean;
  /** Ids of statements that are not voided. */
  valid(): string[];
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
    valid: () => {
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
