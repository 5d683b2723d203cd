import type { z } from '@hono/zod-openapi';

/**
 * Types of all requests and answers of the API, for the command line and the page. They follow from the routes, so that
 * no generated file can be out of date. Clients import only types, so nothing of the server is loaded.
 */
type Route =
  | RoutesIn<typeof import('./actions.js')>
  | RoutesIn<typeof import('./activity.js')>
  | RoutesIn<typeof import('./alerts.js')>
  | RoutesIn<typeof import('./audit-log.js')>
  | RoutesIn<typeof import('./backup.js')>
  | RoutesIn<typeof import('./configuration.js')>
  | RoutesIn<typeof import('./configurations.js')>
  | RoutesIn<typeof import('./dead-letters.js')>
  | RoutesIn<typeof import('./deletions.js')>
  | RoutesIn<typeof import('./deliveries.js')>
  | RoutesIn<typeof import('./erasures.js')>
  | RoutesIn<typeof import('./drafts.js')>
  | RoutesIn<typeof import('./event-story.js')>
  | RoutesIn<typeof import('./exports.js')>
  | RoutesIn<typeof import('./find.js')>
  | RoutesIn<typeof import('./imports.js')>
  | RoutesIn<typeof import('./incidents.js')>
  | RoutesIn<typeof import('./items.js')>
  | RoutesIn<typeof import('./live-changes.js')>
  | RoutesIn<typeof import('./parity.js')>
  | RoutesIn<typeof import('./person-story.js')>
  | RoutesIn<typeof import('./persons.js')>
  | RoutesIn<typeof import('./pigeonholes.js')>
  | RoutesIn<typeof import('./provisioning.js')>
  | RoutesIn<typeof import('./ready.js')>
  | RoutesIn<typeof import('./page-codes.js')>
  | RoutesIn<typeof import('./sign-out.js')>
  | RoutesIn<typeof import('./sinks.js')>
  | RoutesIn<typeof import('./statements.js')>
  | RoutesIn<typeof import('./status.js')>
  | RoutesIn<typeof import('./syncs.js')>
  | RoutesIn<typeof import('./tokens.js')>
  | RoutesIn<typeof import('./uploads.js')>
  | RoutesIn<typeof import('./why.js')>;

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
