/**
 * JSONata's tree of an expression, as far as it is looked at here. `jsonata.ExprNode` leaves out half of what stands
 * there. Found by looking at the trees of JSONata 2.2; a test of mentioned-fields.ts has an example of each form.
 */
export interface SyntaxNode {
  readonly type?: string;
  readonly value?: unknown;
  readonly position?: number;
  readonly steps?: readonly SyntaxNode[];
  /** Of a name: filters and positions, in their order. */
  readonly stages?: readonly SyntaxNode[];
  /** Filters of what is no name. */
  readonly predicate?: readonly SyntaxNode[];
  readonly group?: { readonly lhs: readonly (readonly [SyntaxNode, SyntaxNode])[] };
  readonly procedure?: SyntaxNode;
  readonly arguments?: readonly SyntaxNode[];
  readonly body?: SyntaxNode;
  readonly focus?: string;
  readonly index?: string;
}

/** A node and all below it, each once. */
export function* nodesOf(root: unknown, seen = new Set<object>()): Generator<SyntaxNode> {
  if (typeof root !== 'object' || root === null || root instanceof RegExp || seen.has(root)) return;
  seen.add(root);
  if (!Array.isArray(root)) yield root as SyntaxNode;
  for (const below of Object.values(root)) yield* nodesOf(below, seen);
}
