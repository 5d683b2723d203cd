import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

export interface FakeSubmission {
  grade: string | null;
  score: number | null;
  gradedAt: string | null;
  excused?: boolean;
}

interface Job {
  readonly id: number;
  looksLeft: number;
  readonly grades: Readonly<Record<string, { posted_grade: string }>>;
  state: 'queued' | 'completed' | 'failed';
  message: string | null;
}

/** Canvas as far as this sink's own tests need it: one course 42 with one assignment 7, and students 1 to 99. */
export class FakeCanvas {
  readonly token = 'canvas-t0ken';
  /** By id. */
  readonly submissions = new Map<number, FakeSubmission>();
  readonly jobs: Job[] = [];
  readonly requests: string[] = [];
  published = true;
  mayGrade = true;
  /** Number of polls at which a job is not finished. */
  looksUntilDone = 0;
  /** Students whose grade makes a job fail there and then. */
  readonly poison = new Set<number>();
  /** Students who can be read and not graded. */
  readonly ungradable = new Set<number>();
  /** Answers in place of the API, or takes the connection away after its work. */
  answer: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
  loseAnswersTo: RegExp | undefined;
  #minutes = 0;
  readonly #server = createServer((request, response) => void this.#serve(request, response));

  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  grade(userId: number, grade: string, by: Partial<FakeSubmission> = {}): void {
    const none = grade === '';
    const score = /^-?[\d.]+$/.test(grade) ? Number(grade) : 90;
    if (this.submissions.get(userId)?.grade === grade) return; // an unchanged grade does not count as graded again
    this.submissions.set(userId, {
      grade: none ? null : /^-?[\d.]+$/.test(grade) ? grade : `${grade}!`,
      score: none ? null : score,
      gradedAt: `2026-11-21T10:${String((this.#minutes += 1)).padStart(2, '0')}:00Z`,
      ...by,
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', 'http://canvas');
    this.requests.push(`${request.method} ${decodeURIComponent(pathname)}`);
    const body = request.method === 'POST' ? ((await json(request)) as Record<string, unknown>) : {};
    if (this.answer?.(request, response) === true) return;
    const send = (status: number, content: object, headers: Record<string, string> = {}): void => {
      if (this.loseAnswersTo?.test(pathname)) response.destroy();
      else response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(content));
    };
    if (request.headers.authorization !== `Bearer ${this.token}`) {
      send(
        401,
        { errors: [{ message: 'Invalid access token.' }] },
        { 'www-authenticate': 'Bearer realm="canvas-lms"' },
      );
      return;
    }
    const notFound = (): void => send(404, { errors: [{ message: 'The specified resource does not exist.' }] });
    const rest = /^\/api\/v1\/courses\/(?:42|sis_course_id:C42)(\/.*)?$/.exec(pathname)?.[1];
    const progress = /^\/api\/v1\/progress\/(\d+)$/.exec(pathname)?.[1];
    if (pathname === '/api/v1/users/self') send(200, { id: 900, name: 'Ada Lovelace' });
    else if (progress !== undefined) this.#progress(Number(progress), send, notFound);
    else if (rest === '/permissions') send(200, { manage_grades: this.mayGrade });
    else if (rest?.startsWith('/assignments/7') !== true) notFound();
    else if (!this.mayGrade) send(401, { status: 'unauthorized', errors: [{ message: 'user not authorized' }] });
    else if (rest === '/assignments/7') send(200, { id: 7, published: this.published });
    else if (rest === '/assignments/7/submissions/update_grades') this.#begin(body, send);
    else this.#submission(rest.slice('/assignments/7/submissions/'.length), send, notFound);
  }

  #submission(reference: string, send: (status: number, content: object) => void, notFound: () => void): void {
    const userId = Number(/^(?:sis_user_id:A)?(\d+)$/.exec(reference)?.[1] ?? 0);
    if (userId < 1 || userId > 99) return notFound();
    const { grade, score, gradedAt, excused } = this.submissions.get(userId) ?? {
      grade: null,
      score: null,
      gradedAt: null,
    };
    send(200, {
      user_id: userId,
      entered_grade: grade,
      entered_score: score,
      graded_at: gradedAt,
      excused: excused === true,
    });
  }

  #begin(body: Record<string, unknown>, send: (status: number, content: object) => void): void {
    const grades = body['grade_data'] as Job['grades'];
    const job: Job = {
      id: 500 + this.jobs.length,
      looksLeft: this.looksUntilDone,
      grades,
      state: 'queued',
      message: null,
    };
    this.jobs.push(job);
    if (this.looksUntilDone === 0) this.finish(job);
    send(200, { id: job.id, workflow_state: 'queued' });
  }

  #progress(id: number, send: (status: number, content: object) => void, notFound: () => void): void {
    const job = this.jobs.find((each) => each.id === id);
    if (job === undefined) return notFound();
    if (job.state === 'queued' && job.looksLeft === 0) this.finish(job);
    job.looksLeft -= 1;
    send(200, { id, workflow_state: job.state, message: job.message });
  }

  finish(job: Job): void {
    job.state = 'completed';
    const missing: string[] = [];
    for (const [userId, { posted_grade: grade }] of Object.entries(job.grades)) {
      if (this.poison.has(Number(userId))) {
        job.state = 'failed';
        return;
      }
      if (this.ungradable.has(Number(userId))) missing.push(`'${userId}'`);
      else this.grade(Number(userId), grade);
    }
    if (missing.length === 0) return;
    job.state = 'failed';
    job.message = `Couldn't find User(s) with API ids ${missing.join(', ')}`;
  }
}
