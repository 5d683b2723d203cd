import jsonata from 'jsonata';
import type { SettingPlace } from '../../config/tell-places.js';
import { booleanValue } from './boolean-value.js';
import { checkSyntax } from './check-syntax.js';
import { StepCounter } from './evaluation-limits.js';
import { failureCode, failureInWords } from './failure-words.js';
import { inTurn } from './in-turn.js';
import { LinearRegExp } from './linear-regexp.js';
import { FunctionError } from './function-error.js';
import { mappingFunctions, withheldFunctions } from './mapping-functions.js';
import { FailedMapping } from './failed-mapping.js';
import type { MappingError } from './mapping-error.js';
import type { MappingView } from './mapping-view.js';
import { plainValue } from './plain-value.js';
import type { SyntaxNode } from './syntax-tree.js';

/**
 * A JSONata expression of pigeonpost.yaml, compiled once. Bounded in steps, depth, sizes and time (evaluation-limits.ts),
 * its regular expressions in time linear in the text (linear-regexp.ts). The same change gives the same value each time.
 */
export class Expression {
  readonly #compiled: jsonata.Expression;
  readonly #steps = new StepCounter();
  #place: SettingPlace | undefined;

  /** @throws {SyntaxError} with what is wrong and at which position of the text; never quotes an item */
  constructor(readonly text: string) {
    this.#compiled = compile(text, this.#steps);
    checkSyntax(this.tree);
    // The check sees names, and an expression can give one of these names to something of its own. In the frame below its
    // own ones there is no such function, whichever way an expression comes to look the name up.
    for (const name of Object.keys(withheldFunctions)) {
      this.#compiled.registerFunction(name, () => {
        throw new FunctionError('withheld');
      });
    }
    for (const [name, call] of Object.entries(mappingFunctions)) {
      this.#compiled.registerFunction(name, function (...given: unknown[]) {
        return call(this.environment.lookup('$') as MappingView, ...given); // `$` there is what the evaluation was given
      });
    }
  }

  /** How JSONata has read it. */
  get tree(): SyntaxNode {
    return this.#compiled.ast() as SyntaxNode;
  }

  /** Where it stands in pigeonpost.yaml; undefined where it stands in none. */
  get place(): SettingPlace | undefined {
    return this.#place;
  }

  /** Called by whoever reads the file: config/tell-places.ts. */
  standsAt(place: SettingPlace): void {
    this.#place = place;
  }

  /** What tells it from another one: two processes with the same text map alike. */
  toJSON(): string {
    return this.text;
  }

  /**
   * The value for one item, as plain data; undefined: none.
   * @param key where the expression stands, for messages: sink and key path, e.g. `crm.records[0].properties.email`
   * @param read what the value has to be (property-value.ts); any by default
   * @throws {MappingError} when it fails for this item, takes too much, or its value cannot be read
   */
  async evaluate<Value = unknown>(
    view: MappingView,
    key: string,
    read: (value: unknown, key: string) => Value = (value) => value as Value,
  ): Promise<Value> {
    return await inTurn(async () => {
      this.#steps.restart();
      try {
        return read(plainValue(await this.#compiled.evaluate(view)), key);
      } catch (error) {
        throw this.#failure(error, view, key);
      }
    });
  }

  /**
   * Whether a condition holds for one item: what its value counts as ($boolean). One that fails is neither true nor
   * false: the change is unplannable then.
   * @throws {MappingError} as `evaluate`
   */
  async holds(view: MappingView, key: string): Promise<boolean> {
    return booleanValue(await this.evaluate(view, key));
  }

  #failure(error: unknown, { change }: MappingView, key: string): MappingError {
    const line = this.#place === undefined ? '' : ` (line ${this.#place.line} of the configuration)`;
    const where = `${line} for ${change.list}:${change.key}`;
    if (error instanceof FailedMapping) return error.placed(where);
    const code = failureCode(error);
    const { position } = (error ?? {}) as { position?: unknown };
    const at = typeof position === 'number' ? `, at character ${position}` : '';
    return new FailedMapping(key, code, `failed: ${failureInWords(code)}${at}`, where);
  }
}

function compile(text: string, steps: StepCounter): jsonata.Expression {
  try {
    // The type asks for RegExp's constructor; JSONata uses nothing of it but `exec` and `lastIndex`.
    const RegexEngine = LinearRegExp as unknown as RegExpConstructor;
    // a getter: JSONata keeps the object, and reads `stack` from it at each step
    return jsonata(text, Object.assign(steps.options, { RegexEngine }));
  } catch (error) {
    const { message, position } = error as { message?: string; position?: number };
    throw new SyntaxError(`${message ?? 'not a JSONata expression'} (at character ${position ?? 0})`, { cause: error });
  }
}
