import { type Causes, type Reasons, unsafePath } from '../reasons.js';

/** The sink writes every change. */
export const s3Reasons: Reasons = {};

export const s3Causes: Causes = { 'unsafe-path': unsafePath };
