import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type FakeRecord = Record<string, unknown> & { Id: string };

export interface SeenCall {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

/** How a call is answered in place of what would be: the first rule that says something decides. */
export type Rule = (
  call: SeenCall,
) => { readonly status: number; readonly body?: unknown; readonly headers?: Record<string, string> } | undefined;

const prefixes: Readonly<Record<string, string>> = {
  Lead: '00Q',
  Contact: '003',
  Campaign: '701',
  CampaignMember: '00v',
};

const text = (name: string, more: object = {}) => ({
  name,
  type: 'string',
  length: 80,
  createable: true,
  updateable: true,
  nillable: true,
  ...more,
});
const key = (name: string) => text(name, { externalId: true, unique: true });

const person = [
  text('Id', { type: 'id', createable: false, updateable: false, nillable: false, defaultedOnCreate: true }),
  text('Email', { type: 'email' }),
  text('FirstName', { length: 40 }),
  text('LastName', { nillable: false }),
  text('Rating', { type: 'picklist', restrictedPicklist: true, picklistValues: [{ value: 'Hot' }, { value: 'Cold' }] }),
  text('Seats__c', { type: 'double' }),
  text('LastEvent__c'),
  text('LastModifiedDate', { type: 'datetime', createable: false, updateable: false }),
];

const describes: Readonly<Record<string, { readonly fields: readonly object[] }>> = {
  Lead: {
    fields: [
      ...person,
      text('Company', { nillable: false }),
      key('Engagement_Id__c'),
      text('IsConverted', { type: 'boolean', createable: false }),
      text('ConvertedContactId', { type: 'reference' }),
    ],
  },
  Contact: { fields: person },
  Campaign: { fields: [text('Id', { type: 'id' }), text('Name', { nillable: false }), key('Event_Id__c')] },
  CampaignMember: {
    fields: [text('Status', { type: 'picklist', picklistValues: [{ value: 'Sent' }, { value: 'Responded' }] })],
  },
  CampaignMemberStatus: { fields: [text('Label')] },
};

/** An org in a few objects, as little of it as tests of this sink look at. The strict one stands in test/doubles. */
export class FakeOrg {
  readonly calls: SeenCall[] = [];
  readonly rules: Rule[] = [];
  readonly tables: Record<string, FakeRecord[]> = {
    Lead: [],
    Contact: [],
    Campaign: [],
    CampaignMember: [],
    CampaignMemberStatus: [],
  };
  /** By object; what it says of itself beside its fields. */
  readonly may: Record<string, { createable: boolean; updateable: boolean; deletable: boolean }> = {};
  logins = 0;
  url = '';
  #token = '';
  #ids = 0;
  readonly #server = createServer((incoming, outgoing) => void this.#serve(incoming, outgoing));

  /** Signs what the sink logs in with. */
  static readonly privateKey = generateKeyPairSync('rsa', { modulusLength: 2048 })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();

  async open(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  endSession(): void {
    this.#token = '';
  }

  add(type: string, fields: Record<string, unknown>): FakeRecord {
    this.#ids += 1;
    const Id = `${prefixes[type] ?? 'a00'}${String(this.#ids).padStart(15, '0')}`;
    const record = { LastModifiedDate: new Date().toISOString(), ...fields, Id };
    this.tables[type]!.push(record);
    if (type === 'Campaign') {
      this.add('CampaignMemberStatus', { CampaignId: Id, Label: 'Sent', HasResponded: false });
      this.add('CampaignMemberStatus', { CampaignId: Id, Label: 'Responded', HasResponded: true });
    }
    return record;
  }

  /** Calls whose path begins so, as `METHOD path`. */
  paths(start: string): string[] {
    return this.calls.map(({ method, path }) => `${method} ${path}`).filter((each) => each.includes(start));
  }

  async #serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const sent = Buffer.concat(chunks).toString();
    const path = decodeURIComponent(incoming.url!).replace(/^\/services\/data\/v[\d.]+\//, '');
    const body = incoming.headers['content-type'] === 'application/json' ? (JSON.parse(sent) as unknown) : sent;
    const call = { method: incoming.method!, path, body };
    const isLogin = path === '/services/oauth2/token';
    if (!isLogin) this.calls.push(call);
    const ruled = this.rules.map((rule) => rule(call)).find((each) => each !== undefined);
    const answer = ruled ?? (isLogin ? this.#logIn() : this.#answer(call, incoming.headers.authorization));
    outgoing.writeHead(answer.status, {
      'content-type': 'application/json',
      'x-sfdc-request-id': 'req-1',
      ...('headers' in answer ? answer.headers : {}),
    });
    outgoing.end(answer.body === undefined ? undefined : JSON.stringify(answer.body));
  }

  #logIn() {
    this.logins += 1;
    this.#token = `session-${this.logins}`;
    return { status: 200, body: { access_token: this.#token, instance_url: 'https://acme.my.salesforce.com' } };
  }

  #answer({ method, path, body }: SeenCall, authorization: string | undefined): { status: number; body?: unknown } {
    if (authorization !== `Bearer ${this.#token}`) return { status: 401, body: [{ errorCode: 'INVALID_SESSION_ID' }] };
    const described = /^sobjects\/(\w+)\/describe$/.exec(path)?.[1];
    if (described !== undefined) {
      const may = this.may[described] ?? { createable: true, updateable: true, deletable: true };
      return { status: 200, body: { ...may, ...describes[described] } };
    }
    if (path.startsWith('query?q=')) return { status: 200, body: { done: true, records: this.#query(path.slice(8)) } };
    if (method === 'DELETE') return { status: 200, body: this.#delete(/ids=([^&]*)/.exec(path)![1]!.split(',')) };
    const { records } = body as { records: (Record<string, unknown> & { attributes: { type: string } })[] };
    const keyField = /^composite\/sobjects\/\w+\/(\w+)$/.exec(path)?.[1];
    return {
      status: 200,
      body: records.map(({ attributes: { type }, id, ...fields }) => {
        const found = this.tables[type]!.find((each) =>
          keyField === undefined ? each.Id === id : each[keyField] === fields[keyField],
        );
        if (found === undefined && keyField === undefined && method === 'PATCH') return refused('ENTITY_IS_DELETED');
        if (found?.IsConverted === true) return refused('CANNOT_UPDATE_CONVERTED_LEAD');
        if (found !== undefined) Object.assign(found, fields, { LastModifiedDate: new Date().toISOString() });
        const { Id } =
          found ??
          this.add(
            type,
            type === 'CampaignMember' ? { ...fields, HasResponded: fields.Status === 'Responded' } : fields,
          );
        return { id: Id, success: true, errors: [], ...(keyField !== undefined && { created: found === undefined }) };
      }),
    };
  }

  #delete(ids: readonly string[]) {
    return ids.map((id) => {
      for (const table of Object.values(this.tables)) {
        const at = table.findIndex(({ Id }) => Id === id);
        if (at >= 0) table.splice(at, 1);
        if (at >= 0) return { id, success: true, errors: [] };
      }
      return refused('ENTITY_IS_DELETED');
    });
  }

  /** `SELECT … FROM type WHERE field = '…' AND field IN ('…',…)`. */
  #query(soql: string): FakeRecord[] {
    const [, type, where] = /FROM (\w+) WHERE (.*)$/s.exec(soql)!;
    const conditions = where!.split(' AND ').map((each) => {
      const field = /^\w+/.exec(each)![0];
      const values = [...each.matchAll(/'((?:\\.|[^'\\])*)'/g)].map(([, value]) =>
        value!.replace(/\\(.)/g, '$1').toLowerCase(),
      );
      return (record: FakeRecord): boolean => values.includes(String(record[field]).toLowerCase());
    });
    return this.tables[type!]!.filter((record) => conditions.every((holds) => holds(record)));
  }
}

export function refused(statusCode: string, fields: readonly string[] = [], message = 'says ada@example.com') {
  return { success: false, errors: [{ statusCode, fields, message }] };
}
