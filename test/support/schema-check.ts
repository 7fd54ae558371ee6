import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { TraceFrame, TraceTap } from '../../src/acp/agent.ts'
import { officialSchema, officialSchemaFile } from './official-schema.ts'

export interface SchemaCheckOptions {
  /** The negotiated version. Default: 1 until the agent responds to `initialize` with another one. */
  version?: 1 | 2
  /** Uses the unstable schema, which includes the stable methods. */
  unstable?: boolean
  /** Whose messages are checked: Parley's (`send`, the default), the agent's (`receive`), or both. */
  directions?: Array<TraceFrame['direction']>
  /** Methods that aren't in the specification but are in use. */
  alsoAllowed?: string[]
}

interface Definition {
  /** who handles it: `agent`, `client` or `protocol` (both) */
  side: string
  method: string
  kind: 'Request' | 'Response' | 'Notification'
  name: string
}

/** An official schema, compiled once for all tests. */
interface Schema {
  definitions: Definition[]
  validator(name: string): ValidateFunction
}

const schemas = new Map<string, Schema>()

function loadSchema(version: 1 | 2, unstable: boolean): Schema {
  const file = officialSchemaFile(version, unstable)
  const loaded = schemas.get(file)
  if (loaded) return loaded
  const json = officialSchema(version, unstable)
  // Integer formats (`uint32`, …) are annotations here; the types and ranges are checked.
  const ajv = new Ajv2020({ strict: false, allErrors: false, validateFormats: false })
  ajv.addSchema(json, file)
  const definitions = Object.entries(json.$defs).flatMap(([name, def]) => {
    const side = def['x-side']
    const method = def['x-method']
    const kind = /(Request|Response|Notification)$/.exec(name)?.[1] as Definition['kind'] | undefined
    return side && method && kind ? [{ side, method, kind, name }] : []
  })
  const validators = new Map<string, ValidateFunction>()
  const schema: Schema = {
    definitions,
    validator(name) {
      let validator = validators.get(name)
      if (!validator) {
        validator = ajv.compile({ $ref: `${file}#/$defs/${name}` })
        validators.set(name, validator)
      }
      return validator
    },
  }
  schemas.set(file, schema)
  return schema
}

/** Whether a value matches a definition of an official schema. */
export function matchesSchema(
  version: 1 | 2,
  unstable: boolean,
  definition: string,
  value: unknown,
): boolean {
  return loadSchema(version, unstable).validator(definition)(value)
}

/**
 * Checks every message of a connection against the official schema: pass {@link tap} to the connection, and call
 * {@link assertClean} at the end. Responses are checked by the method of their request.
 */
export class SchemaCheck {
  readonly problems: string[] = []
  /** the number of checked messages, by the name of their definition */
  readonly checked = new Map<string, number>()
  readonly tap: TraceTap = frame => this.see(frame)
  #schema: Schema
  readonly #options: SchemaCheckOptions
  readonly #directions: Set<TraceFrame['direction']>
  readonly #alsoAllowed: Set<string>
  /** methods of pending requests, by sender and id */
  readonly #open = new Map<string, string>()

  constructor(options: SchemaCheckOptions = {}) {
    this.#options = options
    this.#schema = loadSchema(options.version ?? 1, options.unstable ?? false)
    this.#directions = new Set(options.directions ?? ['send'])
    this.#alsoAllowed = new Set(options.alsoAllowed ?? [])
  }

  /** Checks one frame and adds problems to {@link problems}. */
  see(frame: TraceFrame): void {
    const { direction } = frame
    // as on the wire, without undefined properties
    const message = JSON.parse(JSON.stringify(frame.message)) as {
      [key: string]: unknown
      id?: string | number | null
      method?: string
    }
    const other = direction === 'send' ? 'receive' : 'send'
    if (typeof message.method === 'string') {
      if (message.id !== undefined) this.#open.set(`${direction} ${message.id}`, message.method)
      if (this.#directions.has(direction)) {
        const kind = message.id === undefined ? 'Notification' : 'Request'
        this.#envelope(direction, message)
        if (message.method === 'initialize') this.#speak(message.params)
        this.#check(direction, message.method, kind, message.params)
      }
      return
    }
    const key = `${other} ${message.id}`
    const asked = this.#open.get(key)
    this.#open.delete(key)
    if (asked === 'initialize' && 'result' in message) this.#speak(message.result)
    if (!this.#directions.has(direction)) return
    this.#envelope(direction, message)
    if (asked === undefined) this.#problem(direction, 'an answer to nothing', message)
    else if ('error' in message) this.#validate(direction, 'Error', message.error)
    else if ('result' in message) this.#check(direction, asked, 'Response', message.result)
    else this.#problem(direction, 'neither result nor error', message)
  }

  /** @throws Error that lists every invalid message */
  assertClean(): void {
    if (this.problems.length > 0) throw new Error(`Not as the schema has it:\n${this.problems.join('\n')}`)
  }

  /** Checks later messages against the offered version, and then the negotiated one. */
  #speak(said: unknown): void {
    const { version, unstable = false } = this.#options
    const { protocolVersion } = (said ?? {}) as { protocolVersion?: unknown }
    if (version === undefined) this.#schema = loadSchema(protocolVersion === 2 ? 2 : 1, unstable)
  }

  #check(direction: TraceFrame['direction'], method: string, kind: Definition['kind'], body: unknown): void {
    // The receiver handles a request or notification; the sender of a response has handled its request.
    const handler = (direction === 'send') === (kind === 'Response') ? 'client' : 'agent'
    const definition = this.#schema.definitions.find(
      entry =>
        entry.method === method &&
        entry.kind === kind &&
        (entry.side === handler || entry.side === 'protocol'),
    )
    if (definition) this.#validate(direction, definition.name, body)
    else if (!method.startsWith('_') && !this.#alsoAllowed.has(method)) {
      this.#problem(direction, `there is no ${kind.toLowerCase()} ${method}`, body)
    }
  }

  #validate(direction: TraceFrame['direction'], name: string, body: unknown): void {
    this.checked.set(name, (this.checked.get(name) ?? 0) + 1)
    const validator = this.#schema.validator(name)
    if (validator(body ?? {})) return
    const [error] = validator.errors ?? []
    this.#problem(direction, `${name}${error?.instancePath ?? ''} ${error?.message}`, body)
  }

  #envelope(direction: TraceFrame['direction'], message: { [key: string]: unknown }): void {
    if (message.jsonrpc !== '2.0') this.#problem(direction, 'no jsonrpc: "2.0"', message)
  }

  #problem(direction: TraceFrame['direction'], problem: string, body: unknown): void {
    this.problems.push(`${direction}: ${problem}: ${JSON.stringify(body)?.slice(0, 500)}`)
  }
}
