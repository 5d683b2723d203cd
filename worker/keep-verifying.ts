import { dropWeakTls } from '../config/environment.js';

/** Has certificates checked whatever the environment says. Call it before anything connects. */
export function keepVerifying(): void {
  if (!dropWeakTls()) return;
  process.stderr.write(
    'pigeonpost: NODE_TLS_REJECT_UNAUTHORIZED=0 is ignored: name the authority of a certificate in the configuration\n',
  );
}
