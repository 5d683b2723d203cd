import { type Causes, type Reasons, unsafePath } from '../reasons.js';

/** The sink writes every change. */
export const s3Reasons: Reasons = {};

export const s3Causes: Causes = {
  'unsafe-path': unsafePath,
  'no-read-right': {
    meaning: 'the access key may not list the bucket or read its objects',
    help: 'allow s3:ListBucket on the bucket and s3:GetObject on the prefix, and audit the sink again',
  },
};
