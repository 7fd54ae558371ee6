import * as l10n from '@vscode/l10n'
import { isRecord } from '../../common/is-record.ts'
import { shortened } from '../../common/visible.ts'

/** The keywords that the official schemas use. There, formats only annotate, as `x-…` keywords and descriptions do. */
export interface JsonSchema {
  $ref?: string
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  properties?: Record<string, JsonSchema>
  required?: string[]
  additionalProperties?: boolean | JsonSchema
  items?: JsonSchema
  oneOf?: JsonSchema[]
  anyOf?: JsonSchema[]
  allOf?: JsonSchema[]
  not?: JsonSchema
  minimum?: number
  maximum?: number
  minLength?: number
  minItems?: number
  'x-side'?: string
  'x-method'?: string
}

export type Definitions = Record<string, JsonSchema>

/** The maximum number of reported violations of one value. */
const MAX_VIOLATIONS = 20
/** the maximum number of characters of a value in a violation, and of a name in its path */
export const MAX_VALUE = 80
/** The maximum number of checked items of a list. */
const MAX_ITEMS = 10_000

/**
 * Returns what is wrong with a value, in sentences that name the wrong member; empty if the value matches. `path` is the name of the value.
 * A value that matches no variant of a union is compared with the variant that it resembles most.
 */
export function schemaViolations(
  value: unknown,
  schema: JsonSchema,
  defs: Definitions,
  path: string,
): string[] {
  const found: Violation[] = []
  check({ value, path }, schema, defs, found)
  return found.slice(0, MAX_VIOLATIONS).map(({ problem }) => problem())
}

interface Violation {
  /** the path of the value that violates the schema */
  path: string
  /** Returns the sentence. It's only made for reported violations, because most variants of a union don't match. */
  problem: () => string
  /** the types that the value may have, if its type is wrong */
  types?: string[]
}

interface Place {
  value: unknown
  path: string
}

function check(place: Place, schema: JsonSchema, defs: Definitions, found: Violation[]): void {
  if (found.length >= MAX_VIOLATIONS) return
  const { value, path } = place
  const types = typeof schema.type === 'string' ? [schema.type] : schema.type
  if (types && !types.some(type => isOfType(value, type))) {
    found.push(wrongType(place, types))
    return
  }
  const allowed = 'const' in schema ? [schema.const] : schema.enum
  if (allowed && !allowed.includes(value)) found.push(notAllowed(place, allowed))
  checkSize(place, schema, found)
  const parts = schema.allOf ?? []
  for (const part of schema.$ref === undefined ? parts : [definition(schema.$ref, defs), ...parts])
    check(place, part, defs, found)
  if (schema.anyOf) checkUnion(place, schema.anyOf, defs, found)
  if (schema.oneOf) checkUnion(place, schema.oneOf, defs, found, 1)
  if (schema.not && matches(place, schema.not, defs))
    found.push({ path, problem: () => l10n.t("{0} can't be {1}.", path, shown(value)) })
  if (isRecord(value)) checkMembers(value, path, schema, defs, found)
  if (!Array.isArray(value) || !schema.items) return
  for (const [index, item] of value.slice(0, MAX_ITEMS).entries())
    check({ value: item, path: `${path}[${index}]` }, schema.items, defs, found)
}

function matches(place: Place, schema: JsonSchema, defs: Definitions): boolean {
  const found: Violation[] = []
  check(place, schema, defs, found)
  return found.length === 0
}

function definition(ref: string, defs: Definitions): JsonSchema {
  return defs[ref.slice('#/$defs/'.length)] ?? {}
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case 'null':
      return value === null
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isRecord(value)
    case 'integer':
      return Number.isInteger(value)
    default:
      return typeof value === type
  }
}

function checkSize({ value, path }: Place, schema: JsonSchema, found: Violation[]): void {
  const { minimum, maximum, minLength = 0, minItems = 0 } = schema
  if (typeof value === 'number') {
    if (minimum !== undefined && value < minimum)
      found.push({
        path,
        problem: () => l10n.t('{0} must be at least {1}, but is {2}.', path, minimum, value),
      })
    if (maximum !== undefined && value > maximum)
      found.push({
        path,
        problem: () => l10n.t('{0} must be at most {1}, but is {2}.', path, maximum, value),
      })
  }
  const length = typeof value === 'string' ? value.length : Number.POSITIVE_INFINITY
  const items = Array.isArray(value) ? value.length : Number.POSITIVE_INFINITY
  if (length < minLength || items < minItems)
    found.push({ path, problem: () => l10n.t("{0} can't be empty.", path) })
}

function checkMembers(
  value: Record<string, unknown>,
  path: string,
  schema: JsonSchema,
  defs: Definitions,
  found: Violation[],
): void {
  const { required = [], properties = {}, additionalProperties: others } = schema
  for (const name of required) if (value[name] === undefined) found.push(missing(memberPath(path, name)))
  for (const [name, member] of Object.entries(properties)) {
    if (!Object.hasOwn(value, name) || value[name] === undefined) continue
    check({ value: value[name], path: memberPath(path, name) }, member, defs, found)
  }
  if (typeof others !== 'object') return
  for (const [name, member] of Object.entries(value)) {
    if (Object.hasOwn(properties, name)) continue
    check({ value: member, path: memberPath(path, name) }, others, defs, found)
  }
}

/** Checks a value against a union. `most` is how many variants may match. */
function checkUnion(
  place: Place,
  variants: JsonSchema[],
  defs: Definitions,
  found: Violation[],
  most = Number.POSITIVE_INFINITY,
): void {
  let matching = 0
  const failed: Violation[][] = []
  for (const variant of variants) {
    const violations = otherTag(place, variant)
    if (violations.length === 0) check(place, variant, defs, violations)
    if (violations.length > 0) failed.push(violations)
    else if (++matching === 1 && most === Number.POSITIVE_INFINITY) return
  }
  const { path } = place
  if (matching > most) found.push({ path, problem: () => l10n.t('{0} matches more than one variant.', path) })
  if (matching > 0) return
  // A variant can't be the meant one if the value as a whole, or the member that names the variant, doesn't match.
  const tags = variants.flatMap(variantTag)
  const names = new Set([path, ...tags.map(([tag]) => memberPath(path, tag))])
  const closest = failed
    .filter(violations => !violations.some(violation => names.has(violation.path)))
    .sort((a, b) => a.length - b.length)[0]
  found.push(...(closest ?? noVariant(place, variants, tags, failed)))
}

/** Returns the violation of a value that resembles no variant. It says which variants there are. */
function noVariant(
  { value, path }: Place,
  variants: JsonSchema[],
  tags: [string, unknown][],
  failed: Violation[][],
): Violation[] {
  const constants = variants.flatMap(variant => ('const' in variant ? [variant.const] : []))
  if (constants.length === variants.length) return [notAllowed({ value, path }, constants)]
  const [tag] = tags[0] ?? []
  if (isRecord(value) && tag !== undefined && tags.length === variants.length) {
    const place = { value: value[tag], path: memberPath(path, tag) }
    return [
      place.value === undefined
        ? missing(place.path)
        : notAllowed(
            place,
            tags.map(([, name]) => name),
          ),
    ]
  }
  const other = failed.find(([violation]) => !violation?.types)
  return (
    other ?? [
      wrongType(
        { value, path },
        failed.flatMap(([violation]) => violation?.types ?? []),
      ),
    ]
  )
}

/** Returns the member by which a variant of a union is recognized, as its name and its constant value. */
function variantTag({ properties = {} }: JsonSchema): [string, unknown][] {
  return Object.entries(properties)
    .flatMap(([key, member]): [string, unknown][] => ('const' in member ? [[key, member.const]] : []))
    .slice(0, 1)
}

/** Returns a violation if the value names another variant. Looks at no other member, because each item of a long list may be a union. */
function otherTag({ value, path }: Place, variant: JsonSchema): Violation[] {
  if (!isRecord(value)) return []
  const [tag, name] = variantTag(variant)[0] ?? []
  if (tag === undefined || !Object.hasOwn(value, tag) || value[tag] === name) return []
  return [notAllowed({ value: value[tag], path: memberPath(path, tag) }, [name])]
}

function missing(path: string): Violation {
  return { path, problem: () => l10n.t('{0} is missing.', path) }
}

function wrongType({ value, path }: Place, types: string[]): Violation {
  const problem = () =>
    l10n.t('{0} must be of type {1}, but is {2}.', path, types.join(' | '), jsonType(value))
  return { path, types, problem }
}

function notAllowed({ value, path }: Place, allowed: unknown[]): Violation {
  const problem = () =>
    l10n.t('{0} must be one of {1}, but is {2}.', path, allowed.map(shown).join(', '), shown(value))
  return { path, problem }
}

function memberPath(path: string, name: string): string {
  return /^[\w$]+$/.test(name) ? `${path}.${name}` : `${path}[${JSON.stringify(shortened(name, MAX_VALUE))}]`
}

/**
 * Returns a value for a sentence. Objects, arrays and long texts are shown by their type, which is short and says enough. Part of a text
 * could be part of a secret, which redaction wouldn't recognize.
 */
function shown(value: unknown): string {
  if (typeof value === 'object') return jsonType(value)
  if (typeof value !== 'string') return String(value)
  return value.length > MAX_VALUE ? 'string' : JSON.stringify(value)
}

/** Returns the type of a value, to show instead of the value. The value could be a secret that only its usual place reveals. */
function jsonType(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
}
