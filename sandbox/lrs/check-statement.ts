import { statement as statementRule } from '@learninglocker/xapi-validation/dist/factory';
import { isObject, type JsonObject } from './statement.js';

/**
 * What is wrong with a statement, each fault with the place where it stands; none: it is valid. The rules are those of
 * a conformance-tested LRS, and what they leave out: ids of interaction components are distinct within their list
 * (xAPI 1.0.3, Data, 2.4.4.1).
 */
export function statementProblems(statement: unknown): string[] {
  if (!isObject(statement)) return ['a statement is an object'];
  const found = statementRule(statement, ['statement']).map(
    ({ name, path }) => `${name.replace(/Warning$/, '')} at ${path.join('.')}`,
  );
  return found.length > 0 ? found : repeatedComponents(statement['object']);
}

/** The statement with every kind of context activity as a list: a single one is accepted for one (xAPI 1.0.3, Data, 2.4.6.2). */
export function withActivityLists(statement: JsonObject): JsonObject {
  const { context } = statement;
  if (!isObject(context) || !isObject(context['contextActivities'])) return statement;
  const lists = Object.entries(context['contextActivities']).map(([kind, value]) => [
    kind,
    isObject(value) ? [value] : value,
  ]);
  return { ...statement, context: { ...context, contextActivities: Object.fromEntries(lists) as JsonObject } };
}

function repeatedComponents(object: unknown): string[] {
  const definition = isObject(object) && isObject(object['definition']) ? object['definition'] : {};
  return ['choices', 'scale', 'source', 'target', 'steps']
    .filter((name) => {
      const components = definition[name];
      if (!Array.isArray(components)) return false;
      const ids = components.map((component: unknown) => (isObject(component) ? component['id'] : undefined));
      return new Set(ids).size < ids.length;
    })
    .map((name) => `an id is repeated at statement.object.definition.${name}`);
}
