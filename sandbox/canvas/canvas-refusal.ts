import type { DoubleAnswer } from '../serve/double-request.js';

/** A refusal of Canvas, as `{"errors": [{"message": …}]}`. */
export class CanvasRefusal extends Error {
  override readonly name = 'CanvasRefusal';

  constructor(
    readonly status: number,
    message: string,
    /** `unauthenticated` and `unauthorized` stand in the body too. */
    readonly state?: 'unauthenticated' | 'unauthorized',
  ) {
    super(message);
  }

  answer(): DoubleAnswer {
    return {
      status: this.status,
      json: { ...(this.state !== undefined && { status: this.state }), errors: [{ message: this.message }] },
      ...(this.status === 401 && { headers: { 'WWW-Authenticate': 'Bearer realm="canvas-lms"' } }),
    };
  }
}

export function notFound(): CanvasRefusal {
  return new CanvasRefusal(404, 'The specified resource does not exist.');
}
