import {
  configurationSchema,
  documentIndex,
  documentIndexText,
  documentPaths,
  readDocument,
  rootDocuments,
} from '../base/documents.js';
import type { ApiApp, ApiContext } from './api-app.js';
import { answer, type PageFile, pageFile } from './serve-page.js';

/**
 * `GET /llms.txt`, `/docs/…` and the documents beside that folder: the documentation of this version as Markdown, and the
 * schema of its configuration. They need no token, because the package that contains them is public.
 */
export function serveDocuments(app: ApiApp): void {
  let known: ReadonlyMap<string, () => string> | undefined;
  const read = new Map<string, PageFile>();
  const serve = (c: ApiContext): Response | Promise<Response> => {
    known ??= documents(); // only these paths can be requested
    const { path } = c.req;
    const text = known.get(path);
    if (text === undefined) return c.notFound();
    const file = read.get(path) ?? pageFile(typeOf(path), Buffer.from(text()));
    read.set(path, file);
    return answer(c, file);
  };
  for (const path of [documentIndex, ...rootDocuments, 'docs/*']) app.get(`/${path}`, (c) => serve(c as ApiContext));
}

/** Returns what reads each document, by the path of its request. */
function documents(): ReadonlyMap<string, () => string> {
  const inPackage = [...documentPaths(), configurationSchema];
  return new Map([
    [`/${documentIndex}`, documentIndexText],
    ...inPackage.map((path) => [`/${path}`, () => readDocument(path)] as const),
  ]);
}

function typeOf(path: string): string {
  if (path.endsWith('.json')) return 'application/schema+json';
  return `text/${path.endsWith('.md') ? 'markdown' : 'plain'}; charset=utf-8`;
}
