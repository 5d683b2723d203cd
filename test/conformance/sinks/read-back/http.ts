import type { DoubleAnswer, DoubleRequest } from '../../../../sandbox/serve/double-request.js';
import { serveDouble } from '../../../../sandbox/serve/serve-double.js';
import { createHttpSink, httpSinkType } from '../../../../sinks/http/http.js';
import { environmentOf } from '../../../../sinks/sink-environment.test-kit.js';
import type { Fields } from '../../../../sinks/sink.js';
import { changeOf, type HeldDestination, type Version } from './held-destination.js';

const records = [
  {
    from: 'attendees',
    properties: { title: 'item.Title' },
    find: {
      url: '"/people?key=" & change.key',
      idFrom: 'body.people[0].id',
      holds: 'body.people[0].{ "title": title }',
    },
    create: { url: '"/people"', body: '$merge([properties, { "key": change.key }])', idFrom: 'body.id' },
    update: { url: '"/people/" & record.id', body: 'properties' },
    delete: { url: '"/people?key=" & change.key' },
  },
];

/**
 * An API with `find`, which also deletes by key. What `find` finds first counts, so a second record of a colleague is not
 * found.
 */
export async function startHttp(): Promise<HeldDestination> {
  const people = new Map<string, Fields>();
  let nextId = 0;
  const answer = ({ method, path, query, body }: DoubleRequest): DoubleAnswer => {
    const id = /^\/people\/(\w+)$/.exec(path)?.[1];
    const fields = body === '' ? {} : (JSON.parse(body) as Fields);
    if (method === 'GET') {
      const found = idsByKey.get(query.get('key') ?? '')?.filter((each) => people.has(each)) ?? [];
      return { status: 200, json: { people: found.map((each) => ({ id: each, ...people.get(each) })) } };
    }
    if (method === 'POST') return { status: 201, json: { id: add(fields) } };
    if (method === 'DELETE') return { status: people.delete(idOf(Number(query.get('key')))) ? 204 : 404 };
    if (id === undefined || !people.has(id)) return { status: 404 };
    people.set(id, { ...people.get(id), ...fields });
    return { status: 200, json: { id } };
  };
  const idsByKey = new Map<string, string[]>();
  const add = (fields: Fields): string => {
    const id = `p${(nextId += 1)}`;
    people.set(id, fields);
    const key = String(fields['key']);
    idsByKey.set(key, [...(idsByKey.get(key) ?? []), id]);
    return id;
  };
  const idOf = (number: number): string => idsByKey.get(String(number))?.find((id) => people.has(id)) ?? '';
  const double = await serveDouble({ answer, state: () => [...people] }, {});
  const sink = createHttpSink(
    httpSinkType.configSchema.parse({ baseUrl: double.url, records }),
    environmentOf('people', { requestTimeoutMs: 60_000, onForget: 'delete' }),
  );
  const titleOf = (version: Version): string => `Title, ${version}`;
  return {
    sink,
    findsCopies: false,
    item: (number, version) => changeOf('attendees', number, version, { id: number, Title: titleOf(version) }),
    contents: () => [...people].map(([id, fields]) => [id, Number(fields['key']), JSON.stringify(fields)] as const),
    remove: (number) => people.delete(idOf(number)),
    edit(number) {
      const id = idOf(number);
      people.set(id, { ...people.get(id), title: titleOf('edited'), other: 'kept' });
    },
    backup(number) {
      const id = idOf(number);
      const fields = people.get(id)!;
      return () => people.set(id, fields);
    },
    duplicate: (number) => add({ key: String(number), title: 'Copy' }),
    async close() {
      await sink.close();
      await double.close();
    },
  };
}
