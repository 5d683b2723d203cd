import { type Causes, contentRejected, type Reasons } from '../reasons.js';

/** The sink sends every change. */
export const webhookReasons: Reasons = {};

export const webhookCauses: Causes = { 'http:*': contentRejected };
