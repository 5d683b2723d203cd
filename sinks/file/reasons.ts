import { type Causes, type Reasons, unsafePath } from '../reasons.js';

/** The sink writes every change. */
export const fileReasons: Reasons = {};

export const fileCauses: Causes = { 'unsafe-path': unsafePath };
