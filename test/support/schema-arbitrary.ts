import fc, { type Arbitrary } from 'fast-check'
import { type JsonSchema, officialSchema } from './official-schema.ts'

/** Text of all kinds, but never empty, since ids can't be empty. */
const text: Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 12 }) },
  { weight: 2, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }) },
  { weight: 1, arbitrary: fc.constantFrom('__proto__', 'constructor', 'null', '\u0000', '\r\n', '{"a":1}') },
)

const FORMATS: Record<string, Arbitrary<string>> = {
  uri: fc.webUrl(),
  byte: fc.uint8Array({ maxLength: 24 }).map(bytes => Buffer.from(bytes).toString('base64')),
}

type Schema = JsonSchema & { format?: string; contentEncoding?: string; maxItems?: number }
type Json = { [key: string]: unknown }

/** Generates values from an official schema. Check that they are valid, since `not` is ignored. */
export class SchemaArbitrary {
  readonly #defs: Record<string, JsonSchema>

  constructor(version: 1 | 2, unstable: boolean) {
    this.#defs = officialSchema(version, unstable).$defs
  }

  definition(name: string): Arbitrary<unknown> {
    return this.of({ $ref: `#/$defs/${name}` })
  }

  /** The variants of a union by the value of `property`; those without one are `other`. */
  variants(name: string, property: string): Map<string, Arbitrary<unknown>> {
    const { oneOf, anyOf } = this.#defs[name]!
    return new Map(
      (oneOf ?? anyOf ?? []).map(variant => [
        String(variant.properties?.[property]?.const ?? 'other'),
        this.of(variant),
      ]),
    )
  }

  of(schema: Schema, depth = 0): Arbitrary<unknown> {
    if (schema.$ref) {
      const name = schema.$ref.replace('#/$defs/', '')
      return this.of(this.#defs[name]!, depth + 1)
    }
    if ('const' in schema) return fc.constant(schema.const)
    if (schema.enum) return fc.constantFrom(...schema.enum)
    const parts = (schema.allOf ?? []).map(part => this.of(part, depth))
    const union = schema.oneOf ?? schema.anyOf
    if (union) parts.push(fc.oneof(...union.map(part => this.of(part, depth))))
    if (schema.properties || (schema.type === 'object' && parts.length === 0)) {
      parts.unshift(this.#object(schema, depth))
    } else if (schema.type && parts.length === 0) parts.push(this.#typed(schema, depth))
    const [only] = parts
    if (!only) return fc.jsonValue({ maxDepth: 2 })
    if (parts.length === 1) return only
    return fc.tuple(...parts).map(values => {
      const records = values.filter(value => typeof value === 'object' && value !== null)
      return records.length === values.length ? Object.assign({}, ...records) : values.at(-1)
    })
  }

  #typed(schema: Schema, depth: number): Arbitrary<unknown> {
    const { type } = schema
    if (Array.isArray(type)) {
      return fc.oneof(...type.map(one => this.#typed({ ...schema, type: one }, depth)))
    }
    switch (type) {
      case 'null':
        return fc.constant(null)
      case 'boolean':
        return fc.boolean()
      case 'string': {
        if (schema.pattern) return fc.stringMatching(new RegExp(schema.pattern))
        const format = schema.contentEncoding === 'base64' ? 'byte' : schema.format
        return FORMATS[format ?? ''] ?? text
      }
      case 'integer':
        return fc.integer({ min: schema.minimum ?? -1000, max: Math.min(schema.maximum ?? 1e6, 1e6) })
      case 'number':
        return fc.double({ noNaN: true, noDefaultInfinity: true, min: schema.minimum ?? -1e6, max: 1e6 })
      case 'array':
        return fc.array(schema.items ? this.of(schema.items, depth + 1) : fc.jsonValue({ maxDepth: 1 }), {
          minLength: schema.minItems ?? 0,
          maxLength: Math.max(schema.minItems ?? 0, depth > 4 ? 1 : 3),
        })
      default:
        return this.#object(schema, depth)
    }
  }

  #object(schema: Schema, depth: number): Arbitrary<Json> {
    const properties = Object.fromEntries(
      Object.entries(schema.properties ?? {}).map(([key, value]) => [key, this.of(value, depth + 1)]),
    )
    const required = (schema.required ?? []).filter(key => key in properties)
    const record = fc.record(properties, { requiredKeys: required }) as Arbitrary<Json>
    const { additionalProperties } = schema
    if (typeof additionalProperties !== 'object') return record.map(value => ({ ...value }))
    const keys = text.filter(key => key !== '__proto__' && !(key in properties))
    const extra = fc.dictionary(keys, this.of(additionalProperties, depth + 1), { maxKeys: 2 })
    return fc.tuple(extra, record).map(([more, value]) => ({ ...more, ...value }))
  }
}

/** Damages values: removes or replaces parts. */
export function malformed(values: Arbitrary<unknown>): Arbitrary<unknown> {
  const junk = fc.oneof(
    fc.constantFrom(null, true, -1, 1e21, '', 'junk', [], {}, [[]], { type: 5 }, { toString: 1 }),
    fc.jsonValue({ maxDepth: 2 }),
  )
  const cut = fc.record({ at: fc.nat(), how: fc.constantFrom('drop', 'replace', 'wrap', 'rename'), junk })
  return fc.tuple(values, fc.array(cut, { minLength: 1, maxLength: 3 })).map(([value, cuts]) => {
    let mutant = structuredClone(value)
    for (const { at, how, junk: constant } of cuts) {
      // a later change may modify it in place
      const junk = structuredClone(constant)
      const places = placesOf(mutant)
      const place = places[at % (places.length + 1)]
      if (!place) mutant = junk
      else if (how === 'replace') set(place, junk)
      else if (how === 'wrap') set(place, [place.holder[place.key as never]])
      else if (how === 'rename') {
        set({ ...place, key: `${place.key}x` }, place.holder[place.key as never])
        remove(place)
      } else remove(place)
    }
    return mutant
  })
}

interface Place {
  holder: Json | unknown[]
  key: string | number
}

function placesOf(value: unknown): Place[] {
  if (typeof value !== 'object' || value === null) return []
  const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value)
  const holder = value as Json
  return keys.flatMap(key => [{ holder, key }, ...placesOf(holder[key])])
}

function set({ holder, key }: Place, value: unknown): void {
  Object.defineProperty(holder, key, { value, enumerable: true, writable: true, configurable: true })
}

function remove({ holder, key }: Place): void {
  if (Array.isArray(holder)) holder.splice(Number(key), 1)
  else delete holder[key]
}
