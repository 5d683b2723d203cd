import { type ConnectForm, quoted } from '../connect.js';

export const xapiForm: ConnectForm = {
  title: 'Learning record store (xAPI)',
  makes: 'statements about what attendees did',
  name: 'lms',
  secrets: 'LRS_',
  reads: [],
  fields: [
    {
      key: 'endpoint',
      label: 'Address of the LRS',
      kind: 'address',
      hint: 'Without /statements at its end.',
      standIn: 'https://lrs.example.com/xapi',
    },
    {
      key: 'username',
      label: 'Key, or user name',
      kind: 'text',
      hint: 'Credentials that may read and write statements.',
      standIn: 'stand-in',
    },
    {
      key: 'password',
      label: 'Secret, or password',
      kind: 'secret',
      hint: 'The secret that belongs to the key.',
      suggested: 'LRS_SECRET',
      standIn: 'stand-in',
    },
    {
      key: 'homePage',
      label: 'Address of the system that knows the attendees',
      kind: 'address',
      hint: 'Statements name a person by an account of this system, with the attendee code as its name.',
      standIn: 'https://example.com',
    },
  ],
  lines: ({ endpoint, username, password, homePage }) => [
    'type: xapi',
    `endpoint: ${quoted(endpoint ?? '')}`,
    `username: ${quoted(username ?? '')}`,
    `password: ${password}`,
    `actor: { homePage: ${quoted(homePage ?? '')}, name: attendee.attendeeCode }`,
  ],
};
