import type { ApiSources, ApiApp } from './api-app.js';
import { createRoute, z } from '@hono/zod-openapi';
import { audited } from './audit-log.js';
import { Refused } from './problem.js';
import { needs, problems, streamOf } from './route-parts.js';
import { requireEveryWorkspace } from './scope.js';

export const backupRoute = createRoute({
  method: 'get',
  path: '/api/backup',
  operationId: 'backUp',
  tags: ['Access'],
  summary: 'Download the embedded store as an archive for "pigeonpost restore"',
  ...needs({ right: 'administer' }),
  responses: {
    200: {
      description: 'A tar archive compressed with gzip. A response that ends early is not a backup.',
      content: { 'application/gzip': { schema: z.string() } },
    },
    ...problems(409),
  },
});

/** `GET /api/backup`, for administrators and audited, because a backup contains all personal data. */
export function serveBackup(app: ApiApp, { ledger, backup }: Pick<ApiSources, 'ledger' | 'backup'>): void {
  app.openapi(backupRoute, async (c) => {
    requireEveryWorkspace(c);
    const headers = { 'content-type': 'application/gzip' };
    // `HEAD` needs only the headers, so do not copy the whole store for it.
    if (c.req.method === 'HEAD' && backup !== null) return new Response(null, { headers }) as never;
    const bytes = await audited(c, ledger, { action: 'back-up', target: null }, async () => {
      if (backup === null) throw new Refused(409, 'the store is a PostgreSQL database: back it up with pg_dump');
      return await backup();
    });
    return new Response(streamOf(bytes), { headers }) as never;
  });
}
