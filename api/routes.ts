import type { z } from '@hono/zod-openapi';
import type * as actions from './actions.js';
import type * as alerts from './alerts.js';
import type * as auditLog from './audit-log.js';
import type * as backup from './backup.js';
import type * as configuration from './configuration.js';
import type * as deadLetters from './dead-letters.js';
import type * as deletions from './deletions.js';
import type * as erasures from './erasures.js';
import type * as fields from './fields.js';
import type * as imports from './imports.js';
import type * as items from './items.js';
import type * as liveChanges from './live-changes.js';
import type * as pageLinks from './page-links.js';
import type * as persons from './persons.js';
import type * as pigeonholes from './pigeonholes.js';
import type * as preview from './preview.js';
import type * as provisioning from './provisioning.js';
import type * as ready from './ready.js';
import type * as sinks from './sinks.js';
import type * as status from './status.js';
import type * as syncs from './syncs.js';
import type * as tokens from './tokens.js';
import type * as uploads from './uploads.js';
import type * as why from './why.js';

/**
 * Types of all requests and answers of the API, for the command line and the page. They follow from the routes, so that
 * no generated file can be out of date. Clients import only types, so nothing of the server is loaded.
 */
type Route =
  | RoutesIn<typeof actions>
  | RoutesIn<typeof alerts>
  | RoutesIn<typeof auditLog>
  | RoutesIn<typeof backup>
  | RoutesIn<typeof configuration>
  | RoutesIn<typeof deadLetters>
  | RoutesIn<typeof deletions>
  | RoutesIn<typeof erasures>
  | RoutesIn<typeof fields>
  | RoutesIn<typeof imports>
  | RoutesIn<typeof items>
  | RoutesIn<typeof liveChanges>
  | RoutesIn<typeof pageLinks>
  | RoutesIn<typeof persons>
  | RoutesIn<typeof pigeonholes>
  | RoutesIn<typeof preview>
  | RoutesIn<typeof provisioning>
  | RoutesIn<typeof ready>
  | RoutesIn<typeof sinks>
  | RoutesIn<typeof status>
  | RoutesIn<typeof syncs>
  | RoutesIn<typeof tokens>
  | RoutesIn<typeof uploads>
  | RoutesIn<typeof why>;

/** The routes that a file exports. */
type RoutesIn<File> = Extract<File[keyof File], { readonly operationId: string }>;

type Method = 'get' | 'post';
type RouteAt<M extends Method, Path> = Extract<Route, { readonly method: M; readonly path: Path }>;

/** Addresses that accept a method, with parameters such as `{id}`. */
export type PathOf<M extends Method> = Extract<Route, { readonly method: M }>['path'];

/** JSON body of the successful response of an address. */
export type AnswerAt<M extends Method, Path> = AnswerOf<RouteAt<M, Path>['responses']>;
type AnswerOf<Responses> = Responses extends { readonly 200: infer Answer } ? JsonOf<Answer, 'output'> : never;

/** Parts of a request to an address: values of its parameters, its query and its JSON body. */
export type AskedAt<M extends Method, Path> = RequestOf<RouteAt<M, Path>>;
type RequestOf<R> = R extends { readonly request: infer Request }
  ? ParamsOf<Request> & QueryOf<Request> & BodyOf<Request>
  : Nothing;
type Nothing = Readonly<Record<never, never>>;

type ParamsOf<Request> = Request extends { readonly params: infer Params extends z.ZodType }
  ? { readonly params: { readonly [Name in keyof z.input<Params>]: string | number } }
  : Nothing;
type QueryOf<Request> = Request extends { readonly query: infer Query extends z.ZodType }
  ? { readonly query?: { readonly [Name in keyof z.input<Query>]?: string | number | undefined } }
  : Nothing;
type BodyOf<Request> = Request extends { readonly body: infer Body }
  ? { readonly json: JsonOf<Body, 'input'> }
  : Nothing;

type JsonOf<Holder, Side extends 'input' | 'output'> = Holder extends {
  readonly content: { readonly 'application/json': { readonly schema: infer Schema extends z.ZodType } };
}
  ? { input: z.input<Schema>; output: z.output<Schema> }[Side]
  : never;
