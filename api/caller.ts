import { createRoute, z } from '@hono/zod-openapi';
import type { ApiApp } from './api-app.js';
import { jsonAnswer, needs, problems } from './route-parts.js';

const callerSchema = z
  .object({
    name: z.string().describe("A token's name; `server.token`; `local` where none was needed."),
    roles: z.array(z.string()),
    rights: z.array(z.string()).describe('What the roles allow; a route names the one that it takes as `x-right`.'),
    workspace: z.string().nullable().describe('The only one of which the caller may know; null: all.'),
  })
  .openapi('Caller');
export type CallerView = z.infer<typeof callerSchema>;

const callerRoute = createRoute({
  method: 'get',
  path: '/api/caller',
  operationId: 'showCaller',
  tags: ['Tokens'],
  summary: 'Who the presented token says that you are, and what it allows',
  ...needs({ right: 'read' }),
  responses: { 200: jsonAnswer('You.', callerSchema), ...problems() },
});

/** `GET /api/caller`. */
export function serveCaller(app: ApiApp): void {
  app.openapi(callerRoute, (c) => {
    const { name, roles, rights, workspace } = c.get('caller');
    return c.json({ name, roles: [...roles], rights: [...rights], workspace }, 200);
  });
}
