/** A JSON value of the service and of the control API. */
export type Json = null | boolean | number | string | Json[] | JsonObject;

export interface JsonObject {
  [key: string]: Json;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return isObject(value);
}

/** Whether a value is an object of JSON, and not a list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Parses a JSON object; undefined if the text is not JSON, or another value. */
export function parsedObject(text: string): Record<string, unknown> | undefined {
  const json = parsed(text);
  return isObject(json) ? json : undefined;
}

/** Parses JSON; undefined if the text is none. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/**
 * RFC 7386 JSON merge patch: objects merge, `null` removes a key, everything else replaces.
 * Returns a new object and leaves both arguments as they were.
 */
export function mergePatch(target: JsonObject, patch: JsonObject): JsonObject {
  const merged: JsonObject = { ...target };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else if (isJsonObject(value)) {
      const before = merged[key];
      merged[key] = mergePatch(isJsonObject(before) ? before : {}, value);
    } else merged[key] = value;
  }
  return merged;
}
