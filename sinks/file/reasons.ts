import { type Causes, type Reasons, unsafePath } from '../reasons.js';

/** The sink writes every change. */
export const fileReasons: Reasons = {};

export const fileCauses: Causes = {
  'unsafe-path': unsafePath,
  'file-moved': {
    meaning: 'the file was moved or deleted after its day',
    help: 'put the file back into its folder, and audit the sink again',
  },
};
