import type { Expression } from './expression.js';
import { nodesOf, type SyntaxNode } from './check-syntax.js';
import type { Join } from '../sink.js';

/** The parts of the data that an expression can read. */
const viewParts = ['item', 'previous', 'attendee', 'session', 'pigeonhole', 'change'] as const;

export type ViewPart = (typeof viewParts)[number];

export type Mention =
  /** A field of one part, as far as the expression's text determines it. An empty path means the whole part. */
  | { readonly of: ViewPart; readonly path: readonly string[] }
  /** The names in a call of `$field(…)`, which reads the first of them that the attendee or the item has. */
  | { readonly of: 'field'; readonly names: readonly string[] };

/**
 * Returns the fields that an expression reads, each once, as far as its text determines them. Names that are computed
 * at run time, or that belong to a function's result, are not included. For a single item, the expression may read
 * fewer fields, because it may not evaluate all its parts.
 */
export function mentionedFields(expression: Expression): Mention[] {
  const mentions = new Map<string, Mention>();
  visit(expression.tree, [], (mention) => mentions.set(JSON.stringify(mention), mention));
  return [...mentions.values()];
}

/** The path to which the next name is relative, starting at the view; null if it is not known. */
type ViewPath = readonly string[] | null;

type Tell = (mention: Mention) => void;

function visit(node: SyntaxNode, place: ViewPath, tell: Tell): void {
  switch (node.type) {
    case 'path':
      visitPath(node, place, tell);
      return;
    case 'function':
    case 'partial':
      tellOfFunction(node, place, tell);
      break;
    case 'transform':
      return; // the names in it are relative to the value to which it is applied
  }
  visitBelow(node, place, tell);
}

/** Visits the parts of a node that is not a path. Their names are relative to the same path. */
function visitBelow(node: SyntaxNode, place: ViewPath, tell: Tell): void {
  for (const below of Object.values(node)) {
    for (const each of nearestNodes(below)) visit(each, place, tell);
  }
}

/** Returns the nodes in a member of a node. The member may be a node, a list, or a list of pairs. */
function nearestNodes(member: unknown): SyntaxNode[] {
  if (Array.isArray(member)) return member.flatMap(nearestNodes);
  if (typeof member !== 'object' || member === null || member instanceof RegExp) return [];
  const node = member as SyntaxNode;
  return node.type === undefined ? Object.values(node).flatMap(nearestNodes) : [node];
}

function visitPath(path: SyntaxNode, from: ViewPath, tell: Tell): void {
  let place = from;
  const last = (path.steps ?? []).length - 1;
  for (const [n, step] of (path.steps ?? []).entries()) {
    const before = place;
    place = placeAfter(step, before);
    if (step.type !== 'name' && step.type !== 'variable') visit(step, before, tell);
    // a step whose target is not known reads at least the path before it
    if (place === null && before !== null && n > 0) tellOf(before, tell);
    if (n === last && place !== null) tellOf(place, tell);
    for (const filter of [...(step.stages ?? []), ...(step.predicate ?? [])]) visitBelow(filter, place, tell);
  }
  for (const pair of path.group?.lhs ?? []) for (const each of pair) visit(each, place, tell);
}

function placeAfter(step: SyntaxNode, before: ViewPath): ViewPath {
  if (step.focus !== undefined) return null; // after `@$v`, `$v` refers to this place; this is rare and not followed
  if (step.type === 'name') return before === null ? null : [...before, String(step.value)];
  if (step.type === 'variable') return step.value === '' ? before : step.value === '$' ? [] : null;
  return step.type === 'sort' ? before : null;
}

function tellOf(place: readonly string[], tell: Tell): void {
  const [part, ...path] = place;
  const of = viewParts.find((each) => each === part);
  if (of !== undefined) tell({ of, path });
}

/**
 * Reports the fields that a function call reads, either because its arguments name them or because the function reads
 * the view.
 */
function tellOfFunction({ procedure, arguments: given = [] }: SyntaxNode, place: ViewPath, tell: Tell): void {
  if (procedure?.type !== 'variable') return;
  const names = given.flatMap((each) => [...nodesOf(each)]).filter(({ type }) => type === 'string');
  switch (procedure.value) {
    case 'field':
      tell({ of: 'field', names: names.map(({ value }) => String(value)) });
      return;
    case 'eventDate':
    case 'eventTime':
    case 'hubspotDate':
      tell({ of: 'pigeonhole', path: ['timezone'] });
      return;
    case 'lookup': {
      const [object, name] = given;
      if (object?.type !== 'path' || name?.type !== 'string') return;
      visitPath({ ...object, steps: [...(object.steps ?? []), { type: 'name', value: name.value }] }, place, tell);
    }
  }
}

/** Returns the data that these expressions need besides the items, for `SinkType.joins`. */
export function joinsOf(expressions: readonly Expression[]): Join[] {
  const mentioned = new Set(expressions.flatMap((each) => mentionedFields(each).map(({ of }) => of)));
  return [
    ...(mentioned.has('attendee') || mentioned.has('field') ? (['attendees'] as const) : []),
    ...(mentioned.has('session') ? (['sessions'] as const) : []),
    ...(mentioned.has('pigeonhole') ? (['pigeonholes'] as const) : []),
  ];
}
