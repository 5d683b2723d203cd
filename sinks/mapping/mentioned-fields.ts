import type { Expression } from './expression.js';
import { nodesOf, type SyntaxNode } from './check-syntax.js';
import type { Join } from '../sink.js';

/** Parts of the data that an expression can use. */
const viewParts = ['item', 'previous', 'attendee', 'session', 'pigeonhole', 'change'] as const;

export type ViewPart = (typeof viewParts)[number];

export type Mention =
  /** A field of one part, as far as the text determines it; an empty path means the whole part. */
  | { readonly of: ViewPart; readonly path: readonly string[] }
  /** `$field(…)`: the first of these in attendee or item. */
  | { readonly of: 'field'; readonly names: readonly string[] };

/**
 * Returns the fields that an expression reads, each once, as far as its text determines them: a name that is computed
 * at run time, or that belongs to a function's result, is not included. So the expression may read more; it reads
 * everything returned here on some path.
 */
export function mentionedFields(expression: Expression): Mention[] {
  const mentions = new Map<string, Mention>();
  visit(expression.tree, [], (mention) => mentions.set(JSON.stringify(mention), mention));
  return [...mentions.values()];
}

/** The path from the view to which the next name is relative; null if it is not known. */
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
      return; // its names belong to what it is applied to
  }
  visitBelow(node, place, tell);
}

/** Visits parts of a node that are not a path: their names are relative to the same place. */
function visitBelow(node: SyntaxNode, place: ViewPath, tell: Tell): void {
  for (const below of Object.values(node)) {
    for (const each of nearestNodes(below)) visit(each, place, tell);
  }
}

/** Returns the nodes of a member, which may be one, a list, or a list of pairs. */
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
    // the path before a step with an unknown target is read, at least for that step
    if (place === null && before !== null && n > 0) tellOf(before, tell);
    if (n === last && place !== null) tellOf(place, tell);
    for (const filter of [...(step.stages ?? []), ...(step.predicate ?? [])]) visitBelow(filter, place, tell);
  }
  for (const pair of path.group?.lhs ?? []) for (const each of pair) visit(each, place, tell);
}

function placeAfter(step: SyntaxNode, before: ViewPath): ViewPath {
  if (step.focus !== undefined) return null; // `@$v` keeps the place, and `$v` continues from it: rare
  if (step.type === 'name') return before === null ? null : [...before, String(step.value)];
  if (step.type === 'variable') return step.value === '' ? before : step.value === '$' ? [] : null;
  return step.type === 'sort' ? before : null;
}

function tellOf(place: readonly string[], tell: Tell): void {
  const [part, ...path] = place;
  const of = viewParts.find((each) => each === part);
  if (of !== undefined) tell({ of, path });
}

/** Reports functions whose arguments name fields, or that read the view themselves. */
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

/** Returns the joins that these expressions need beside the items: for `SinkType.joins`. */
export function joinsOf(expressions: readonly Expression[]): Join[] {
  const mentioned = new Set(expressions.flatMap((each) => mentionedFields(each).map(({ of }) => of)));
  return [
    ...(mentioned.has('attendee') || mentioned.has('field') ? (['attendees'] as const) : []),
    ...(mentioned.has('session') ? (['sessions'] as const) : []),
    ...(mentioned.has('pigeonhole') ? (['pigeonholes'] as const) : []),
  ];
}
