import { z } from 'zod';
import { duration, oneOf, secret, sinkUrl, text, wholeNumber } from '../../config/values.js';
import { networkKeys, plainHttpStaysPrivate } from '../network/address-policy.js';

const flag = (standard: boolean) => z.boolean({ error: 'allowed: true or false' }).default(standard);

/** docs/sinks/s3.md explains each key to users. */
export const s3ConfigSchema = z
  .strictObject({
    bucket: text('the name of a bucket, such as acme-engagement', (found) =>
      /^[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]$/.test(found) ? found : undefined,
    ).describe('An existing bucket, into which the sink writes objects.'),
    region: text('a region such as eu-central-1', (found) => (/^[a-z0-9-]{2,40}$/.test(found) ? found : undefined))
      .prefault('us-east-1')
      .describe('The region of the bucket. Every signature names it.'),
    prefix: text('a path of letters, digits and ._=-, such as engagement/live', (found) => {
      const bare = found.replace(/^\/+|\/+$/g, '');
      return /^(?:[\w.=-]+(?:\/[\w.=-]+)*)?$/.test(bare) && bare.length <= 300 ? bare : undefined;
    })
      .prefault('')
      .describe('The prefix of the names of objects. It belongs only to this sink.'),
    endpoint: sinkUrl()
      .optional()
      .describe('The address of a store other than Amazon S3, such as https://storage.googleapis.com.'),
    accessKeyId: text('an access key id', (found) => (/^[\w.+=@-]{3,128}$/.test(found) ? found : undefined)).describe(
      'The id of the access key.',
    ),
    secretAccessKey: secret().describe('The secret of the access key.'),
    sessionToken: secret().optional().describe('The session token of temporary credentials.'),
    maxAge: duration({ minMs: 1000, maxMs: 60 * 60_000 })
      .prefault('1m')
      .describe(
        'How long the sink collects changes before it writes an object. Changes arrive at most this much later.',
      ),
    maxLines: wholeNumber({ min: 100, max: 20_000, unit: 'changes' })
      .prefault(5000)
      .describe('The number of collected changes at which the sink writes an object without waiting for `maxAge`.'),
    compression: oneOf(['gzip', 'none']).prefault('gzip').describe('The compression of the objects.'),
    manifest: flag(true).describe('Whether each list and day has a manifest that names its objects.'),
    conditionalWrites: flag(true).describe(
      'Whether objects are written with `If-None-Match`. Set `false` for a store that does not support it.',
    ),
    ...networkKeys,
  })
  .superRefine(plainHttpStaysPrivate('endpoint'));

/**
 * The keys of an `s3` sink in pigeonpost.yaml, without those that all sinks share. `prefix` has no slash at either end,
 * and `maxAge` is in ms.
 */
export type S3Config = Readonly<z.infer<typeof s3ConfigSchema>>;
