/** Said outright, so that neither Node's settings nor NODE_TLS_REJECT_UNAUTHORIZED=0 of another tool can weaken it. */
export const strictTls = { minVersion: 'TLSv1.2', rejectUnauthorized: true } as const;
