import { type ConnectForm, quoted } from '../connect.js';

export const httpForm: ConnectForm = {
  title: 'Any HTTP API',
  makes: 'requests that you describe',
  name: 'api',
  secrets: 'API_',
  reads: [],
  fields: [
    {
      key: 'baseUrl',
      label: 'Address of the API',
      kind: 'address',
      hint: 'Such as https://api.example.net/v1. The requests begin with it.',
      standIn: 'https://api.example.com/v1',
    },
    {
      key: 'token',
      label: 'Token',
      kind: 'secret',
      hint: 'Sent as "Authorization: Bearer …". For other credentials, see docs/sinks/http.md.',
      suggested: 'API_TOKEN',
      standIn: 'stand-in',
    },
    {
      key: 'path',
      label: 'Path for new items',
      kind: 'text',
      hint: 'Such as /questions.',
      suggested: '/questions',
      standIn: '/questions',
    },
  ],
  lines: ({ baseUrl, token, path }) => {
    const address = (path ?? '').replaceAll("'", '').replaceAll('"', '');
    return [
      'type: http',
      `baseUrl: ${quoted(baseUrl ?? '')}`,
      `auth: { type: bearer, token: "${token}" }`,
      'records:',
      '  - from: qna-questions',
      '    properties: { id: item.id, text: item.content, session: session.name }',
      `    create: { url: '"${address}"', body: properties, idFrom: body.id }`,
      `    update: { url: '"${address}/" & record.id', body: properties }`,
      `    delete: { url: '"${address}/" & record.id' }`,
    ];
  },
};
