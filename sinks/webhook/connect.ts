import { type ConnectForm, quoted } from '../connect.js';

export const webhookForm: ConnectForm = {
  title: 'Webhook',
  makes: 'a signed request for each change',
  name: 'hooks',
  secrets: 'HOOK_',
  reads: [],
  fields: [
    {
      key: 'url',
      label: 'Address that receives the requests',
      kind: 'address',
      hint: 'Your own receiver, or one of a service such as Zapier.',
      standIn: 'https://hooks.example.com/',
    },
    {
      key: 'secret',
      label: 'Signing secret (whsec_…)',
      kind: 'secret',
      hint: 'Create one: echo "whsec_$(openssl rand -base64 32)". The receiver verifies each request with it.',
      suggested: 'HOOK_SECRET',
      standIn: 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=',
    },
  ],
  lines: ({ url, secret }) => ['type: webhook', `url: ${quoted(url ?? '')}`, `secret: ${secret}`],
};
