/**
 * Every message that an agent can send, generated from the official schemas: valid ones are read without loss, and
 * invalid ones don't harm the connection. Test titles contain the seed.
 */
import assert from 'node:assert/strict'
import fc, { type Arbitrary } from 'fast-check'
import type { AgentClient } from '../../../src/acp/agent.ts'
import type { SessionUpdate } from '../../../src/acp/model.ts'
import { type MemoryAgent, memoryAgent } from '../../support/memory-agent.ts'
import { officialSchema } from '../../support/official-schema.ts'
import { SEED, scaledRuns } from '../../support/property-tests.ts'
import { malformed, SchemaArbitrary } from '../../support/schema-arbitrary.ts'
import { matchesSchema } from '../../support/schema-check.ts'

const COUNT = scaledRuns(40)

const client: AgentClient = {
  requestPermission: async ({ options }) =>
    options[0] ? { type: 'selected', optionId: options[0].optionId } : { type: 'cancelled' },
  readTextFile: async () => 'text',
  writeTextFile: async () => {},
  createTerminal: async () => ({ terminalId: 't' }),
  terminalOutput: async () => ({ output: '', truncated: false, exit: { exitCode: 0 } }),
  waitForTerminalExit: async () => ({ exitCode: 0 }),
  killTerminal: async () => {},
  releaseTerminal: async () => {},
  createElicitation: async () => ({ action: 'accept', content: { a: 1 } }),
  elicitationComplete: () => {},
  mcpMessage: async ({ params }, _signal, notify) => {
    notify('notifications/progress', params)
    return { result: params ?? null }
  },
}

/** The value after it was sent as JSON. */
const overWire = (value: unknown): unknown => JSON.parse(JSON.stringify(value) ?? 'null')

function sample(values: Arbitrary<unknown>, salt: number, count = COUNT): unknown[] {
  return fc.sample(values, { seed: SEED + salt, numRuns: count }).map(overWire)
}

/** All texts in a value, except under ignored keys. */
function texts(value: unknown, without: ReadonlySet<string> = new Set()): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.flatMap(item => texts(item, without))
  return Object.entries(value).flatMap(([key, part]) => (without.has(key) ? [] : texts(part, without)))
}

/**
 * What may be lost: other annotations and icons aren't shown; the shape of the model implies the name of a variant; groups
 * have names instead of ids; times are parsed; usage has its own update; errors contain their data as text.
 */
const LEFT_OUT = new Set([
  '_meta',
  'annotations',
  'icons',
  'sessionUpdate',
  'type',
  'groupId',
  'group',
  'updatedAt',
  'background',
  'code',
])

/** What the model has in another format: the bytes of a terminal as text. */
function expected(update: { [key: string]: unknown }): string[] {
  const { sessionUpdate } = update
  if (sessionUpdate === 'terminal_output_chunk') return texts({ ...update, data: undefined }, LEFT_OUT)
  if (sessionUpdate === 'terminal_update') return texts({ ...update, output: undefined }, LEFT_OUT)
  if (sessionUpdate === 'state_update') return texts({ ...update, error: undefined }, LEFT_OUT)
  if (sessionUpdate === 'subagent_update') {
    const state = update.state as object | null | undefined
    return texts({ ...update, state: { ...state, error: undefined } }, LEFT_OUT)
  }
  if (sessionUpdate === 'config_option_update') return texts(withoutEmptyGroups(update), LEFT_OUT)
  // raw values are kept unchanged, whatever their keys
  const { rawInput, rawOutput, ...rest } = update
  return [...texts(rest, LEFT_OUT), ...texts(rawInput), ...texts(rawOutput)]
}

/** Removes groups without choices, which Parley drops. */
function withoutEmptyGroups(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmptyGroups)
  if (typeof value !== 'object' || value === null) return value
  const { group, groupId, options } = value as { group?: unknown; groupId?: unknown; options?: unknown }
  if ((group ?? groupId) !== undefined && Array.isArray(options) && options.length === 0) return undefined
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, withoutEmptyGroups(part)]))
}

/** Checks that the connection still answers requests and reads updates. */
async function assertAlive({ pipe, updates, warnings }: MemoryAgent): Promise<void> {
  const before = updates.length
  const content = { type: 'text', text: 'still here' }
  pipe.send(
    {
      method: 'session/update',
      params: {
        sessionId: 'alive',
        update: { sessionUpdate: 'agent_message_chunk', messageId: 'm', content },
      },
    },
    { id: 'alive', method: '_alive', params: {} },
  )
  assert.equal((await pipe.responseTo('alive')).error?.code, -32601)
  assert.equal(updates.length, before + 1)
  assert.deepEqual(
    warnings.filter(warning => /failed/.test(warning)),
    [],
  )
}

/** The error for a valid request that Parley can't show to the user, or doesn't support. */
function refusal(method: string, params: unknown): number | undefined {
  if (method !== 'elicitation/create') return undefined
  const { mode, url, elicitationId } = params as { [key: string]: unknown }
  if (mode === 'form') return undefined
  const can = mode === 'url' && typeof url === 'string' && URL.canParse(url) && elicitationId !== ''
  return can ? undefined : -32602
}

for (const version of [1, 2] as const) {
  describe(`messages generated from the v${version} schema`, () => {
    const schema = new SchemaArbitrary(version, true)
    const kinds = schema.variants('SessionUpdate', 'sessionUpdate')
    const start = () => memoryAgent({ info: { name: 'a' } }, client, { version, unstable: true })

    for (const [salt, [kind, values]] of [...kinds].entries()) {
      const valid = () =>
        sample(values, salt, COUNT * 2).filter(update =>
          matchesSchema(version, true, 'SessionUpdate', update),
        ) as Array<{ [key: string]: unknown }>

      it(`${kind}: valid ones are read without loss (seed ${SEED})`, async () => {
        const memory = start()
        const { agent, pipe, warnings } = memory
        let reported: SessionUpdate[] = []
        agent.onUpdate(({ update }) => reported.push(update))
        const all = valid()
        assert.ok(all.length > COUNT / 2, `${all.length} of ${COUNT * 2} are valid`)
        for (const [i, update] of all.entries()) {
          reported = []
          const id = `${kind} ${i}`
          pipe.send({ method: 'session/update', params: { sessionId: 's', update } }, { id, method: '_sync' })
          await pipe.responseTo(id)
          const kept = new Set(texts(reported))
          const lost = expected(update).filter(text => !kept.has(text))
          assert.deepEqual(lost, [], `${JSON.stringify(update)}\nbecame ${JSON.stringify(reported)}`)
        }
        assert.deepEqual(warnings, [])
        await assertAlive(memory)
      })

      it(`${kind}: malformed ones do no harm (seed ${SEED})`, async () => {
        const memory = start()
        const params = values.map(update => ({ sessionId: 's', update }))
        for (const wrong of sample(malformed(params), salt)) {
          memory.pipe.send({ method: 'session/update', params: wrong })
        }
        await assertAlive(memory)
      })
    }

    const definitions = Object.entries(officialSchema(version, true).$defs)
    const asked = definitions.filter(
      ([name, def]) => def['x-side'] === 'client' && /(Request|Notification)$/.test(name),
    )
    for (const [salt, [name, def]] of asked.entries()) {
      const method = def['x-method'] ?? ''
      it(`${method}: valid ones are answered as the schema requires, malformed ones with an error (seed ${SEED})`, async () => {
        const memory = start()
        const { pipe, check } = memory
        const isRequest = name.endsWith('Request')
        const values = schema.definition(name)
        const valid = sample(values, salt).filter(params => matchesSchema(version, true, name, params))
        assert.ok(valid.length > COUNT / 4, `${valid.length} of ${COUNT} are valid`)
        const wrong = sample(malformed(values), salt)
        for (const [i, params] of [...valid, ...wrong].entries()) {
          if (!isRequest) pipe.send({ method, params })
          else {
            pipe.send({ id: i, method, params })
            const { error } = await pipe.responseTo(i)
            if (i < valid.length)
              assert.equal(error?.code, refusal(method, params), JSON.stringify({ params, error }))
            else assert.ok(!error || [-32601, -32602].includes(error.code), JSON.stringify({ params, error }))
          }
        }
        await assertAlive(memory)
        check.assertClean()
      })
    }

    it(`responses: valid ones are read, malformed ones do no harm (seed ${SEED})`, async () => {
      const memory = start()
      const { agent, pipe } = memory
      const setup = { cwd: '/w', additionalDirectories: [], mcpServers: [] }
      const valid = sample(schema.definition('NewSessionResponse'), 1).filter(result =>
        matchesSchema(version, true, 'NewSessionResponse', result),
      ) as Array<{ sessionId: string }>
      assert.ok(valid.length > COUNT / 4)
      const wrong = sample(malformed(schema.definition('NewSessionResponse')), 2)
      for (const [i, result] of [...valid, ...wrong].entries()) {
        const session = agent.newSession(setup).then(
          start => start,
          (error: Error) => error,
        )
        const { id } = await pipe.waitFor(frame => frame.method === 'session/new' && frame.id === i)
        pipe.send({ id, result })
        const start = await session
        if (i >= valid.length) continue
        assert.ok(!(start instanceof Error), `${start} of ${JSON.stringify(result)}`)
        assert.equal(start.sessionId, (result as { sessionId: string }).sessionId)
      }
      await assertAlive(memory)
    })

    it(`initialize: any response is read (seed ${SEED})`, () => {
      const answers = schema.definition('InitializeResponse')
      for (const answer of [...sample(answers, 1), ...sample(malformed(answers), 2)]) {
        const { agent, exit } = memoryAgent(
          { ...(typeof answer === 'object' ? answer : {}), protocolVersion: version },
          client,
          { version },
        )
        assert.equal(agent.protocolVersion, version)
        exit()
      }
    })
  })
}
