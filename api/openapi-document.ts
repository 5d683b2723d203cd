import type { ApiSources } from './api-sources.js';
import type { ApiApp } from './api-app.js';

const about = `How an installation of pigeonpost stands, and what can be asked of it.

Every request takes a token as \`Authorization: Bearer …\`. A browser that a link of \`pigeonpost open\` has signed in sends
its session as a cookie instead. What is sent is JSON and says so. Every answer carries \`X-Request-Id\`; what goes wrong is answered as
\`application/problem+json\` (RFC 9457). \`x-right\` says what a token needs: \`pigeonpost token create --help\` shows which
role has it.`;

/** `GET /openapi.json`: the description of every route, made of the schemas that check requests. Holds nothing secret. */
export function documentApi(app: ApiApp, sources: Pick<ApiSources, 'version'>): void {
  app.openAPIRegistry.registerComponent('securitySchemes', 'token', { type: 'http', scheme: 'bearer' });
  let document: unknown;
  app.get('/openapi.json', (c) => {
    document ??= describe(app, sources.version);
    return c.json(document as object);
  });
}

function describe(app: ApiApp, version: string): object {
  return app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: { title: 'pigeonpost', version, description: about },
    servers: [{ url: '/' }],
  });
}

/** Returns the methods of an address; empty if no route has it. */
export function allowedMethods(app: ApiApp, path: string): string[] {
  const own = methodsWrittenOut(app, path);
  return own.length > 0 ? own : methodsOf(app, (pattern) => matches(pattern, path));
}

/**
 * Returns the methods of an address that a route names literally, so that a pattern of another route does not take it;
 * empty if there is none.
 */
export function methodsWrittenOut(app: ApiApp, path: string): string[] {
  return methodsOf(app, (pattern) => pattern === path);
}

function methodsOf(app: ApiApp, isMeant: (pattern: string) => boolean): string[] {
  const methods = app.openAPIRegistry.definitions.flatMap((definition) =>
    definition.type === 'route' && isMeant(definition.route.path) ? [definition.route.method.toUpperCase()] : [],
  );
  return [...new Set(methods)].toSorted();
}

function matches(pattern: string, path: string): boolean {
  const parts = pattern.split('/');
  const given = path.split('/');
  return parts.length === given.length && parts.every((part, n) => part.startsWith('{') || part === given[n]);
}
