import { LinearRegExp } from './evaluation-limits.js';
import { mappingFunctions, withheldFunctions } from './mapping-functions.js';

/** JSONata's built-in functions. A test compares the list with JSONata. Source: JSONata 2.2, "Function Library". */
export const jsonataFunctions: readonly string[] = `
  abs append assert average base64decode base64encode boolean ceil clone contains count decodeUrl decodeUrlComponent distinct each encodeUrl
  encodeUrlComponent error eval exists filter floor formatBase formatInteger formatNumber fromMillis join keys length
  lookup lowercase map match max merge millis min not now number pad parseInteger power random reduce replace reverse
  round shuffle sift single sort split spread sqrt string substring substringAfter substringBefore sum toMillis trim
  type uppercase zip`
  .trim()
  .split(/\s+/);

/**
 * Finds mistakes in an expression that would make it fail for every item. Called when the configuration is read.
 * @throws {SyntaxError} with the mistake and its position
 */
export function checkSyntax(root: SyntaxNode): void {
  const nodes = [...nodesOf(root)];
  const own = new Set(nodes.flatMap(namesGiven));
  for (const node of nodes) {
    if (node.type === 'variable') checkVariable(node, own);
    if (node.type === 'regex') checkRegExp(node);
    if (node.type === 'function' || node.type === 'partial') checkCall(node, own);
  }
}

function checkVariable({ value, position }: SyntaxNode, own: ReadonlySet<unknown>): void {
  const why =
    typeof value === 'string' && Object.hasOwn(withheldFunctions, value) ? withheldFunctions[value] : undefined;
  if (why !== undefined && !own.has(value)) throw mistake(`$${String(value)} cannot be used here: ${why}`, position);
}

function checkRegExp({ value, position }: SyntaxNode): void {
  try {
    if (value instanceof RegExp) new LinearRegExp(value);
  } catch (error) {
    throw mistake((error as Error).message, position);
  }
}

function checkCall({ procedure }: SyntaxNode, own: ReadonlySet<unknown>): void {
  if (procedure?.type !== 'variable' || typeof procedure.value !== 'string') return;
  const name = procedure.value;
  if (own.has(name) || Object.hasOwn(mappingFunctions, name) || jsonataFunctions.includes(name)) return;
  throw mistake(`there is no function $${name}`, procedure.position);
}

/** Returns the names that a node defines: with `:=`, as a function's arguments, or with `@` and `#`. */
function namesGiven(node: SyntaxNode & { readonly lhs?: unknown }): unknown[] {
  if (node.type === 'bind') return [(node.lhs as SyntaxNode | undefined)?.value];
  if (node.type === 'lambda') return (node.arguments ?? []).map(({ value }) => value);
  return [node.focus, node.index].filter((name) => name !== undefined);
}

function mistake(message: string, position: number | undefined): SyntaxError {
  return new SyntaxError(`${message} (at character ${position ?? 0})`);
}

/**
 * The parts of JSONata's syntax tree that pigeonpost reads. `jsonata.ExprNode` lacks half of them. They were taken from
 * syntax trees of JSONata 2.2; the tests of mentioned-fields.ts have an example of each form.
 */
export interface SyntaxNode {
  readonly type?: string;
  readonly value?: unknown;
  readonly position?: number;
  readonly steps?: readonly SyntaxNode[];
  /** Filters and positions of a name, in order. */
  readonly stages?: readonly SyntaxNode[];
  /** Filters on nodes that are not names. */
  readonly predicate?: readonly SyntaxNode[];
  readonly group?: { readonly lhs: readonly (readonly [SyntaxNode, SyntaxNode])[] };
  readonly procedure?: SyntaxNode;
  readonly arguments?: readonly SyntaxNode[];
  readonly body?: SyntaxNode;
  readonly focus?: string;
  readonly index?: string;
}

/** Yields a node and all nodes below it, each once. */
export function* nodesOf(root: unknown, seen = new Set<object>()): Generator<SyntaxNode> {
  if (typeof root !== 'object' || root === null || root instanceof RegExp || seen.has(root)) return;
  seen.add(root);
  if (!Array.isArray(root)) yield root as SyntaxNode;
  for (const below of Object.values(root)) yield* nodesOf(below, seen);
}
