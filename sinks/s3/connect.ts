import { type ConnectForm, quoted } from '../connect.js';

export const s3Form: ConnectForm = {
  title: 'S3',
  makes: 'objects with lines of NDJSON',
  name: 'lake',
  secrets: 'S3_',
  reads: [],
  fields: [
    {
      key: 'bucket',
      label: 'Bucket',
      kind: 'text',
      hint: 'An existing bucket.',
      standIn: 'bucket',
    },
    {
      key: 'region',
      label: 'Region',
      kind: 'text',
      hint: 'For a store other than Amazon S3, us-east-1 usually works.',
      suggested: 'us-east-1',
      standIn: 'us-east-1',
    },
    {
      key: 'endpoint',
      label: 'Address of the store, if it is not Amazon S3',
      kind: 'address',
      hint: 'For example https://storage.googleapis.com.',
      optional: true,
      standIn: '',
    },
    {
      key: 'accessKeyId',
      label: 'Id of the access key',
      kind: 'text',
      hint: 'A user that may list, read, write and delete objects of the bucket.',
      standIn: 'stand-in',
    },
    {
      key: 'secretAccessKey',
      label: 'Secret of the access key',
      kind: 'secret',
      hint: 'The secret that belongs to the id.',
      suggested: 'S3_SECRET_ACCESS_KEY',
      standIn: 'stand-in',
    },
  ],
  lines: ({ bucket, region, endpoint, accessKeyId, secretAccessKey }) => [
    'type: s3',
    `bucket: ${quoted(bucket ?? '')}`,
    `region: ${quoted(region ?? '')}`,
    ...(endpoint === undefined ? [] : [`endpoint: ${quoted(endpoint)}`]),
    `accessKeyId: ${quoted(accessKeyId ?? '')}`,
    `secretAccessKey: ${secretAccessKey}`,
  ],
};
