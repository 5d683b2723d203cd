import tls from 'node:tls';

/** Does the work while Node.js is configured to allow TLS below 1.2. */
export async function whileOldTlsIsAllowed(work: () => Promise<void>): Promise<void> {
  const { DEFAULT_MIN_VERSION: minVersion, DEFAULT_CIPHERS: ciphers } = tls;
  tls.DEFAULT_MIN_VERSION = 'TLSv1';
  tls.DEFAULT_CIPHERS = 'DEFAULT@SECLEVEL=0';
  try {
    await work();
  } finally {
    tls.DEFAULT_MIN_VERSION = minVersion;
    tls.DEFAULT_CIPHERS = ciphers;
  }
}
