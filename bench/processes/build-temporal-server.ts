import { binarySources } from '../../worker/embedded-temporal/find-binary.js';
import { messageOf } from '../../base/errors.js';
import { temporalPrograms } from './temporal-server.js';

/** `npm run temporal-server`: builds the server that the benchmark `scale` and its scenario need, if it is not cached. */
temporalPrograms(binarySources(), (line) => process.stderr.write(`${line}\n`)).then(
  (programs) => process.stdout.write(`${Object.values(programs).join('\n')}\n`),
  (error: unknown) => {
    process.stderr.write(`${messageOf(error)}\n`);
    process.exitCode = 1;
  },
);
