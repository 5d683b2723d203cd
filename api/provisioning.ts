import type { Hono, MiddlewareHandler } from 'hono';
import { z } from 'zod';

const key = z.string().min(1).max(63);

/** An event file that is to be looked at or created, and what a person has said of its objects. */
export const eventRequestSchema = z.strictObject({
  /** By which messages name it; nothing is read from there. */
  file: z.string().min(1).max(4096),
  /** What stands in it. */
  text: z.string().max(1_000_000),
  /** Objects of the file, by their ids in it, that are existing ones, by these ids at the service. */
  use: z.record(key, z.int().min(1)),
  /** Objects of the file that are to be made although some like them exist, or existed. */
  create: z.array(key).max(10_000),
  /** Objects that are not sent: the service has refused them to this command before. */
  skip: z.array(key).max(10_000),
  by: z.string().min(1).max(200).optional(),
});
export type EventRequest = z.infer<typeof eventRequestSchema>;

/**
 * - `create` it does not exist: it would be, or will be, created
 * - `created`, `exists`; `claim`: it was found to exist, and is taken for the object of the file
 * - `unknown` its answer was lost, and it is looked up before anything is sent again
 * - `undecided` some that exist look like it: `candidates`; `gone` it existed, and was deleted at the service
 * - `held` it waits for its pigeonhole
 * - `refused` by the service; `impossible`: what was said of it by `use` cannot be
 */
export type EventObjectState =
  | 'create'
  | 'created'
  | 'exists'
  | 'claim'
  | 'unknown'
  | 'undecided'
  | 'gone'
  | 'held'
  | 'refused'
  | 'impossible';

export interface EventObjectView {
  /** `pigeonhole`, or the session's id in the file. */
  readonly key: string;
  readonly kind: 'pigeonhole' | 'session';
  readonly state: EventObjectState;
  /** At the service; null where it is not known. */
  readonly id: number | null;
  /** What is sent, or would be. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Of a pigeonhole that exists: with it the audience comes in. */
  readonly passcode: string | null;
  /** What the file has otherwise than the service: lines with their place. Nothing can be changed there by its API. */
  readonly differences: readonly string[];
  readonly candidates: readonly CandidateView[];
  /** Of `refused`: lines with their place, in the service's words. */
  readonly problems: readonly string[];
  /** Of `refused`: what the service's operators ask for. */
  readonly requestId: string | null;
}

/** One that exists and looks like an object of the file. */
export interface CandidateView {
  readonly id: number;
  readonly name: string | null;
  readonly startDate: string | null;
  readonly endDate: string | null;
  readonly status: string | null;
}

export interface EventView {
  readonly workspace: string;
  readonly event: string;
  /** IANA name; times are shown in it. */
  readonly timezone: string;
  /** Under which the pigeonhole is created; null: none is needed. */
  readonly subscription: { readonly id: number; readonly name: string | null } | null;
  /** Empty where `hindrance` kept it from being looked at. */
  readonly objects: readonly EventObjectView[];
  /** What has to be mended in the file before anything is created: lines with their place. */
  readonly problems: readonly string[];
  /** What is allowed but probably not meant: lines with their place. */
  readonly warnings: readonly string[];
  /** What keeps everything from going on. `wait`: it passes by itself. */
  readonly hindrance: {
    readonly kind: 'wait' | 'stop';
    readonly why: 'quota' | 'throttled' | 'unreachable' | 'stopping' | 'credential' | 'refused' | 'paused';
    readonly detail: string;
  } | null;
  /** When asking again gets on; null: not by itself. */
  readonly nextInMs: number | null;
}

export interface ProvisioningSources {
  /** What exists of an event and what is to be created; changes nothing. Throws ConfigError for a file that cannot be used. */
  readonly lookAtEvent: (asked: EventRequest) => Promise<EventView>;
  /** One turn of creating it, of some seconds. Throws as `lookAtEvent`. */
  readonly applyEvent: (asked: EventRequest) => Promise<EventView>;
}

const wanted =
  'an event has "file" and its "text", "use" (ids by object), "create" and "skip" (lists of objects), and may have "by"';

/** `POST /api/events/plan` and `POST /api/events/apply`; whoever asks for the second asks again until nothing is left. */
export function serveProvisioning(
  app: Hono,
  sources: ProvisioningSources,
  to: {
    readonly problem: (status: number, title: string) => Response;
    readonly bodies: MiddlewareHandler;
    /** Answers for a file that cannot be used. */
    readonly usable: (work: () => Promise<Response>) => Promise<Response>;
  },
): void {
  const serve = (path: string, answer: (asked: EventRequest) => Promise<EventView>): void => {
    app.post(path, to.bodies, async (c) => {
      const asked = eventRequestSchema.safeParse(await c.req.json().catch(() => undefined));
      if (!asked.success) return to.problem(400, wanted);
      return await to.usable(async () => c.json(await answer(asked.data)));
    });
  };
  serve('/api/events/plan', (asked) => sources.lookAtEvent(asked));
  serve('/api/events/apply', (asked) => sources.applyEvent(asked));
}
