import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { RegistrantFileError } from '../importing/files/registrant-file.js';
import { createDeferred } from '../base/deferred.js';
import { apiSources, asLocalUser, emptyConfig, emptyLedger, localToken } from './api-sources.test-kit.js';
import { createApp } from './create-app.js';
import { createPlaces } from './places.js';
import { deskOf } from '../importing/desk/desk.test-kit.js';
import type { ImportDesk } from '../importing/desk/import-desk.js';
import { ImportRefusal, type ImportRefusalKind, type ImportRequest } from '../importing/desk/import-request.js';
import type { ImportReportRow, ImportView } from '../importing/desk/import-views.js';
import { type ApiServer, startApi } from './start-api.js';
import { UploadedBytes, UploadTooLarge } from './uploads.js';

const open: ApiServer[] = [];
afterEach(async () => {
  for (const api of open.splice(0)) await api.close();
});

async function serving(desk: Partial<ImportDesk>): Promise<string> {
  const api = await startApi({ host: '127.0.0.1', port: 0 });
  open.push(api);
  api.serve(apiSources({ ledger: emptyLedger(), imports: deskOf(desk) }));
  return api.url;
}

interface Answer {
  readonly status: number;
  readonly type: string | undefined;
  readonly text: string;
}

/** Sends all bytes even if the response arrives before their end, as a client does that reads only afterwards. */
async function ask(url: string, method = 'GET', body: string | number = ''): Promise<Answer> {
  return await new Promise((resolve, reject) => {
    const type = url.endsWith('/actions') ? 'application/json' : 'application/octet-stream';
    const headers = { 'content-type': type, authorization: `Bearer ${localToken}` };
    const sent = request(url, { method, agent: false, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode!, type: response.headers['content-type'], text }));
    });
    sent.on('error', reject);
    if (typeof body === 'string') return void sent.end(body);
    const piece = Buffer.alloc(64 * 1024, 'x');
    const pump = (left: number): void => {
      if (left <= 0) sent.end();
      else sent.write(piece, () => pump(left - piece.length));
    };
    pump(body);
  });
}

const detailOf = ({ text }: Answer): string => (JSON.parse(text) as { detail: string }).detail;
const view = { id: '7', state: 'running' } as ImportView;

async function textOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  let text = '';
  for await (const piece of bytes) text += Buffer.from(piece).toString();
  return text;
}

describe('the list of imports', () => {
  it('is returned in pages that follow each other', async () => {
    const numbers = [11, 9, 7, 4, 2];
    const url = await serving({
      list: async ({ before, limit }) =>
        numbers
          .filter((n) => before === null || n < before)
          .slice(0, limit)
          .map((n) => ({ ...view, id: String(n) })),
    });
    const parts: string[][] = [];
    for (let after: string | null = ''; after !== null;) {
      const answer = await ask(`${url}/api/imports?limit=2${after === '' ? '' : `&after=${after}`}`);
      const { items, next } = JSON.parse(answer.text) as { items: ImportView[]; next: string | null };
      parts.push(items.map(({ id }) => id));
      after = next;
    }
    expect(parts).toEqual([['11', '9'], ['7', '4'], ['2']]);
    expect(JSON.parse((await ask(`${url}/api/imports?limit=1`)).text)).toMatchObject({ items: [{ event: null }] });
  });
});

describe('an upload to the API', () => {
  it('passes the body and its options to the import desk', async () => {
    const seen: [ImportRequest, string][] = [];
    const url = await serving({
      start: async (asked, bytes) => {
        seen.push([asked, await textOf(bytes)]);
        return view;
      },
    });
    const query = new URLSearchParams({
      pigeonhole: 'acme/101',
      name: 'people.csv',
      map: '["A=Name"]',
      canary: '1',
      force: 'true',
    });
    const answer = await ask(`${url}/api/imports?${query.toString()}`, 'POST', 'attendeeCode\n1\n');
    expect([answer.status, JSON.parse(answer.text)]).toEqual([201, view]);
    expect(seen).toEqual([
      [{ pigeonhole: 'acme/101', name: 'people.csv', map: ['A=Name'], canary: 1, force: true }, 'attendeeCode\n1\n'],
    ]);
  });

  it.each([
    ['', 'pigeonhole, name'],
    ['pigeonhole=summit&name=a', 'pigeonhole'],
    ['pigeonhole=1&name=a&map={', 'map'],
    ['pigeonhole=1&name=a&map={}', 'map'],
    ['pigeonhole=1&name=a&canary=0', 'canary'],
    ['pigeonhole=1&name=a&force=yes', 'force'],
  ])('with the query "%s" is refused, and the message names %s', async (query, key) => {
    const url = await serving({});
    const answer = await ask(`${url}/api/imports/check?${query}`, 'POST', 'x');
    expect(answer.status).toBe(400);
    expect(detailOf(answer)).toMatch(new RegExp(`check: ${key}$`));
  });

  it('receives its response even if it is refused before most of it has arrived', async () => {
    const url = await serving({
      check: async (_, bytes) => {
        for await (const piece of bytes) if (piece.length > 0) break;
        throw new RegistrantFileError('not-a-table', 'The file is no table.');
      },
    });
    const answer = await ask(`${url}/api/imports/check?pigeonhole=1&name=people.csv`, 'POST', 8 * 1024 ** 2);
    expect([answer.status, detailOf(answer)]).toEqual([422, 'people.csv: The file is no table.']);
  });

  it('is answered with generated codes while it is still being sent', async () => {
    const url = await serving({
      async *generatedCodes(_, bytes) {
        yield 'attendeeCode\r\n';
        for await (const piece of bytes) yield `${Buffer.from(piece).toString()}\r\n`;
      },
    });
    const sent = request(`${url}/api/imports/codes?pigeonhole=1&name=a`, {
      method: 'POST',
      agent: false,
      headers: { 'content-type': 'application/octet-stream', authorization: `Bearer ${localToken}` },
    });
    sent.write('first');
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    sent.end('last');
    const text = Buffer.concat(await answer.toArray()).toString();
    expect([answer.statusCode, text]).toEqual([200, 'attendeeCode\r\nfirst\r\nlast\r\n']);
  });

  it('is refused with 422 if it fails before the first code', async () => {
    const url = await serving({
      // oxlint-disable-next-line require-yield -- it fails before the first code
      async *generatedCodes() {
        throw new RegistrantFileError('not-a-table', 'The file is no table.');
      },
    });
    const answer = await ask(`${url}/api/imports/codes?pigeonhole=1&name=people.csv`, 'POST', 1024 ** 2);
    expect([answer.status, detailOf(answer)]).toEqual([422, 'people.csv: The file is no table.']);
  });

  it.each<[ImportRefusalKind, number]>([
    ['unknown', 404],
    ['wrong', 422],
    ['stopped', 409],
    ['unreachable', 503],
  ])('that is refused as %s is answered with status %i and the reason', async (kind, status) => {
    const url = await serving({
      check: async () => await Promise.reject(new ImportRefusal(kind, 'registrants are off')),
    });
    const answer = await ask(`${url}/api/imports/check?pigeonhole=1&name=a`, 'POST', 'x');
    expect([answer.status, detailOf(answer)]).toEqual([status, 'registrants are off']);
  });

  it('reveals nothing of an internal error', async () => {
    const url = await serving({ check: async () => await Promise.reject(new Error('ada@example.com')) });
    const answer = await ask(`${url}/api/imports/check?pigeonhole=1&name=a`, 'POST', 'x');
    expect([answer.status, answer.text.includes('ada')]).toEqual([500, false]);
  });
});

describe('the bytes of an upload', () => {
  const bodyOf = (...pieces: number[]): ReadableStream<Uint8Array> =>
    new ReadableStream({
      start(controller) {
        for (const length of pieces) controller.enqueue(new Uint8Array(length));
        controller.close();
      },
    });

  it('are limited, with an error beyond the limit', async () => {
    expect((await textOf(new UploadedBytes(bodyOf(5, 5), 10))).length).toBe(10);
    await expect(textOf(new UploadedBytes(bodyOf(5, 6), 10))).rejects.toThrow(UploadTooLarge);
  });

  it('are empty without a body', async () => {
    expect(await textOf(new UploadedBytes(null))).toBe('');
  });
});

describe('an import in the API', () => {
  const rows: ImportReportRow[] = [2, 3].map((row) => ({
    row,
    outcome: 'rejected',
    code: 'rejected',
    column: 'Email',
    optionalColumn: true,
    message: 'is no address',
    requestId: 'r1',
  }));

  it('has a report with one line per row, or as CSV', async () => {
    const asked: string[] = [];
    const url = await serving({
      find: async () => view,
      async *report(id, only) {
        asked.push(`${id} ${only}`);
        yield rows.slice(0, 1);
        yield rows.slice(1);
      },
      async *reportCsv() {
        yield 'row\r\n';
        yield '2\r\n';
      },
    });
    const lines = await ask(`${url}/api/imports/7/report?only=problems`);
    expect(
      lines.text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual(rows);
    expect(asked).toEqual(['7 problems']);
    expect(await ask(`${url}/api/imports/7/report?format=csv`)).toEqual({
      status: 200,
      type: 'text/csv; charset=utf-8',
      text: 'row\r\n2\r\n',
    });
  });

  it('is answered with 404 on every route if it does not exist', async () => {
    const url = await serving({ find: async () => undefined });
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/report'],
      ['POST', '/actions'],
    ] as const) {
      const answer = await ask(`${url}/api/imports/9${path}`, method, method === 'POST' ? '{"do":"pause"}' : '');
      expect([path, answer.status, detailOf(answer)]).toEqual([
        path,
        404,
        'no import 9 is known: run "pigeonpost import list" to see what exists',
      ]);
    }
  });

  it('accepts only known actions', async () => {
    const asked: unknown[] = [];
    const url = await serving({
      find: async () => view,
      act: async (id, action) => {
        asked.push([id, action]);
        return view;
      },
    });
    expect((await ask(`${url}/api/imports/7/actions`, 'POST', '{"do":"pause","by":"ada"}')).status).toBe(200);
    expect((await ask(`${url}/api/imports/7/actions`, 'POST', '{"do":"delete"}')).status).toBe(400);
    expect(asked).toEqual([['7', { do: 'pause', by: 'ada' }]]);
  });
});

describe('uploads that arrive together', () => {
  it('are read two at a time; the others wait, and are refused with Retry-After if that takes long', async () => {
    const gate = createDeferred();
    const bothRead = createDeferred();
    let reading = 0;
    let most = 0;
    const check = async (): Promise<never> => {
      most = Math.max(most, (reading += 1));
      if (reading === 2) bothRead.resolve();
      await gate.promise;
      reading -= 1;
      throw new RegistrantFileError('empty', 'The file is empty.');
    };
    const app = createApp(apiSources({ ledger: emptyLedger(), imports: deskOf({ check }) }), createPlaces(20));
    const upload = async () =>
      app.request('/api/imports/check?pigeonhole=acme/101&name=a.csv', {
        method: 'POST',
        headers: { ...asLocalUser, 'content-type': 'application/octet-stream' },
        body: 'x',
      });
    const first = [upload(), upload()];
    await bothRead.promise;
    const late = await Promise.all([upload(), upload(), upload(), upload()]);
    expect(late.map(({ status, headers }) => [status, headers.get('retry-after')])).toEqual(Array(4).fill([503, '5']));
    gate.resolve();
    expect((await Promise.all(first)).map(({ status }) => status)).toEqual([422, 422]);
    expect(most).toBe(2);
    expect((await upload()).status).toBe(422); // the places are free again
  });
});

describe('previews, comparisons and event files that arrive together', () => {
  it('are computed two at a time', async () => {
    const gate = createDeferred();
    const bothRun = createDeferred();
    let running = 0;
    const wait = async (): Promise<never> => {
      running += 1;
      if (running === 2) bothRun.resolve();
      await gate.promise;
      throw new Error('ended');
    };
    const config = { ...emptyConfig({ host: '127.0.0.1', port: 0 }), sinks: { crm: {} } } as never;
    const slow = { preview: wait, lookAtEvent: wait, planConfiguration: wait };
    const app = createApp(apiSources({ ledger: emptyLedger(), config, ...slow }), createPlaces(20));
    const ask = async (path: string, body: object): Promise<number> =>
      (await app.request(path, { method: 'POST', headers: asLocalUser, body: JSON.stringify(body) })).status;
    const preview = {
      sink: 'crm',
      list: null,
      pigeonhole: null,
      key: null,
      limit: 1,
      configuration: {},
      changedFrom: null,
    };
    const first = [ask('/api/preview', preview), ask('/api/configuration/plan', {})];
    await bothRun.promise;
    expect(await ask('/api/events/plan', { file: '/tmp/a.yaml', text: 'x', use: {}, create: [], skip: [] })).toBe(503);
    expect(await ask('/api/preview', preview)).toBe(503);
    gate.resolve();
    expect(await Promise.all(first)).toEqual([500, 500]);
  });
});
