import { declaredCause, engineCauses } from '../../../sinks/reasons.js';
import type { Outcome, Planned, SendResult, Sink, SinkType } from '../../../sinks/sink.js';

/** The declarations of a sink type. */
export type Declaring = Pick<SinkType, 'type' | 'reasons' | 'causes'>;

/**
 * Returns the sink with a check of each plan and outcome: the sink type must declare its reasons and causes.
 * @throws from `plan`, `planLookUp`, `send` and `recover`, with the codes that the type does not declare
 */
export function withDeclaredCodes<S extends Sink>(declaring: Declaring, sink: S): S {
  const { reasons, causes } = declaring;
  const isDeclared = (each: Planned | Outcome): boolean => {
    if (each.kind === 'nothing') return Object.hasOwn(reasons, each.reason);
    if (each.kind !== 'unplannable' && each.kind !== 'rejected') return true;
    return declaredCause({ ...engineCauses, ...causes }, each.cause) !== undefined;
  };
  const checked = (results: readonly (Planned | Outcome)[]): void => {
    const unknown = results
      .filter((each) => !isDeclared(each))
      .map((each) => ('reason' in each ? each.reason : 'cause' in each ? each.cause : ''));
    if (unknown.length > 0) throw new Error(`sink type ${declaring.type} does not declare ${unknown.join(', ')}`);
  };
  const planned = async (call: Promise<Planned[]>): Promise<Planned[]> => {
    const plans = await call;
    checked(plans);
    return plans;
  };
  const sent = async (call: Promise<SendResult>): Promise<SendResult> => {
    const result = await call;
    checked(result.outcomes);
    return result;
  };
  return new Proxy(sink, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      const method = value.bind(target) as (...args: unknown[]) => Promise<never>;
      if (name === 'plan' || name === 'planLookUp') return (...args: unknown[]) => planned(method(...args));
      if (name === 'send' || name === 'recover') return (...args: unknown[]) => sent(method(...args));
      return method;
    },
  });
}
