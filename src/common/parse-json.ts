/** Parses JSON from a file, a database or another program, which may be damaged. */

/** Parses a text; `undefined` if it isn't JSON. */
export function parseJson(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

/** Parses a text; `undefined` if it isn't JSON or doesn't match the schema. */
export function parseJsonAs<T>(
  schema: { safeParse(value: unknown): { data?: T | undefined } },
  json: string,
): T | undefined {
  return schema.safeParse(parseJson(json)).data
}
