import { bucketUrl } from './client.js';

describe('the URL of a bucket', () => {
  it.each([
    ['acme', 'us-east-1', 'https://acme.s3.us-east-1.amazonaws.com/'],
    ['acme', 'eu-central-1', 'https://acme.s3.eu-central-1.amazonaws.com/'],
    // The certificate covers only one label before the host.
    ['events.acme.com', 'eu-central-1', 'https://s3.eu-central-1.amazonaws.com/events.acme.com/'],
    ['acme', 'cn-north-1', 'https://acme.s3.cn-north-1.amazonaws.com.cn/'],
    ['events.acme.cn', 'cn-northwest-1', 'https://s3.cn-northwest-1.amazonaws.com.cn/events.acme.cn/'],
  ])('is the address of Amazon S3 if there is no endpoint: bucket %s in %s', (bucket, region, url) => {
    expect(bucketUrl({ bucket, region, endpoint: undefined }).href).toBe(url);
  });

  it.each(['acme', 'events.acme.com'])('contains the bucket in the path of an endpoint: %s', (bucket) => {
    const endpoint = 'https://storage.googleapis.com';
    expect(bucketUrl({ bucket, region: 'us-east-1', endpoint }).href).toBe(`${endpoint}/${bucket}/`);
  });
});
