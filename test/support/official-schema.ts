import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

/** The parts of a JSON schema that tests use. */
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
  pattern?: string
  'x-side'?: string
  'x-method'?: string
}

const SDK = createRequire(import.meta.url).resolve('@agentclientprotocol/sdk')
const loaded = new Map<string, { $defs: Record<string, JsonSchema> }>()

/** The schema file of a version in the official package. */
export function officialSchemaFile(version: 1 | 2, unstable: boolean): string {
  return `schema/v${version}/schema${unstable ? '.unstable' : ''}.json`
}

/** An official schema, which is read once. */
export function officialSchema(version: 1 | 2, unstable: boolean): { $defs: Record<string, JsonSchema> } {
  const file = officialSchemaFile(version, unstable)
  let schema = loaded.get(file)
  if (!schema) {
    schema = JSON.parse(readFileSync(SDK.replace(/dist[\\/].*$/, file), 'utf8')) as {
      $defs: Record<string, JsonSchema>
    }
    loaded.set(file, schema)
  }
  return schema
}
