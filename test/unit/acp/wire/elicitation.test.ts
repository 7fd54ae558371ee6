import assert from 'node:assert/strict'
import type { Agent } from '../../../../src/acp/agent.ts'
import type { ElicitationOutcome, ElicitationRequest } from '../../../../src/acp/model.ts'
import { memoryAgent } from '../../../support/memory-agent.ts'
import type { MemoryPipe } from '../../../support/memory-pipe.ts'
import { until } from '../../../support/until.ts'

const FORM = {
  mode: 'form',
  sessionId: 's',
  toolCallId: 't',
  message: 'How?',
  requestedSchema: {
    type: 'object',
    title: 'Choices',
    required: ['name', 'many'],
    properties: {
      name: { type: 'string', title: 'Name', minLength: 1, maxLength: 9, pattern: '^a', default: 'abc' },
      mail: { type: 'string', format: 'email' },
      size: { type: 'integer', minimum: 1, maximum: 5, default: 2 },
      ratio: { type: 'number', default: null },
      sure: { type: 'boolean', default: true },
      one: { type: 'string', enum: ['a', 'b'], default: 'b' },
      titled: { type: 'string', oneOf: [{ const: 'x', title: 'Ex', description: 'the x' }] },
      many: {
        type: 'array',
        minItems: 1,
        maxItems: 2,
        items: { type: 'string', enum: ['p', 'q'] },
        default: ['p'],
      },
      manyTitled: { type: 'array', items: { anyOf: [{ const: 'u', title: 'You' }] } },
      newer: { type: '_color', palette: 3 },
      newerItems: { type: 'array', items: { type: '_color', enum: ['red'] } },
    },
  },
}

function client(answer: ElicitationOutcome) {
  const asked: ElicitationRequest[] = []
  const complete: string[] = []
  return {
    asked,
    complete,
    createElicitation: async (request: ElicitationRequest) => {
      asked.push(request)
      return answer
    },
    elicitationComplete: (id: string) => void complete.push(id),
  }
}

/** Starts a client request that stays pending; returns its id. */
async function underWay(agent: Agent, pipe: MemoryPipe): Promise<number> {
  agent.newSession({ cwd: '/w', additionalDirectories: [], mcpServers: [] }).catch(() => {})
  return Number((await pipe.waitForMethod('session/new')).id)
}

for (const version of [1, 2] as const) {
  describe(`elicitation in v${version}`, () => {
    it('reads a form with every kind of field', async () => {
      const host = client({ action: 'accept', content: { name: 'abc', many: ['p'], size: 2, sure: false } })
      const { pipe } = memoryAgent({}, host, { version })
      pipe.send({ id: 7, method: 'elicitation/create', params: FORM })
      assert.deepEqual((await pipe.responseTo(7)).result, {
        action: 'accept',
        content: { name: 'abc', many: ['p'], size: 2, sure: false },
      })
      assert.deepEqual(host.asked, [
        {
          message: 'How?',
          sessionId: 's',
          toolCallId: 't',
          mode: 'form',
          title: 'Choices',
          fields: [
            {
              key: 'name',
              title: 'Name',
              required: true,
              type: 'text',
              pattern: '^a',
              minLength: 1,
              maxLength: 9,
              default: 'abc',
            },
            { key: 'mail', title: 'mail', required: false, type: 'text', format: 'email' },
            {
              key: 'size',
              title: 'size',
              required: false,
              type: 'integer',
              minimum: 1,
              maximum: 5,
              default: 2,
            },
            { key: 'ratio', title: 'ratio', required: false, type: 'number' },
            { key: 'sure', title: 'sure', required: false, type: 'boolean', default: true },
            {
              key: 'one',
              title: 'one',
              required: false,
              type: 'select',
              choices: [
                { value: 'a', title: 'a' },
                { value: 'b', title: 'b' },
              ],
              default: 'b',
            },
            {
              key: 'titled',
              title: 'titled',
              required: false,
              type: 'select',
              choices: [{ value: 'x', title: 'Ex', description: 'the x' }],
            },
            {
              key: 'many',
              title: 'many',
              required: true,
              type: 'multi_select',
              choices: [
                { value: 'p', title: 'p' },
                { value: 'q', title: 'q' },
              ],
              minItems: 1,
              maxItems: 2,
              default: ['p'],
            },
            {
              key: 'manyTitled',
              title: 'manyTitled',
              required: false,
              type: 'multi_select',
              choices: [{ value: 'u', title: 'You' }],
            },
            {
              key: 'newer',
              title: 'newer',
              required: false,
              type: 'unknown',
              raw: { type: '_color', palette: 3 },
            },
            {
              key: 'newerItems',
              title: 'newerItems',
              required: false,
              type: 'unknown',
              raw: { type: 'array', items: { type: '_color', enum: ['red'] } },
            },
          ],
        },
      ])
    })

    it('reads a URL for a session or a client request, and its completion', async () => {
      const host = client({ action: 'accept' })
      const { agent, pipe } = memoryAgent({}, host, { version })
      const requestId = await underWay(agent, pipe)
      const url = 'https://sign.in.test/now'
      pipe.send(
        {
          id: 1,
          method: 'elicitation/create',
          params: { mode: 'url', requestId, message: 'Go', elicitationId: 'e', url },
        },
        { method: 'elicitation/complete', params: { elicitationId: 'e' } },
        { method: 'elicitation/complete', params: {} },
      )
      assert.deepEqual((await pipe.responseTo(1)).result, { action: 'accept' })
      assert.deepEqual(host.asked, [{ message: 'Go', mode: 'url', elicitationId: 'e', url }])
      await until(() => host.complete.length === 1)
      assert.deepEqual(host.complete, ['e'])
    })

    it('ends with the client request it belongs to', async () => {
      let signal: AbortSignal | undefined
      const host = {
        createElicitation: (_: ElicitationRequest, withdrawn: AbortSignal) => {
          signal = withdrawn
          return new Promise<ElicitationOutcome>(resolve =>
            withdrawn.addEventListener('abort', () => resolve({ action: 'cancel' })),
          )
        },
      }
      const { agent, pipe } = memoryAgent({}, host, { version })
      const requestId = await underWay(agent, pipe)
      const { sessionId, toolCallId, ...params } = FORM
      pipe.send({ id: 1, method: 'elicitation/create', params: { ...params, requestId } })
      await until(() => signal !== undefined)
      assert.equal(signal?.aborted, false)
      pipe.send({ id: requestId, result: { sessionId: 's' } })
      assert.deepEqual((await pipe.responseTo(1)).result, { action: 'cancel' })
      assert.equal(signal?.aborted, true)
    })

    it("isn't shown for a request that isn't pending", async () => {
      const host = client({ action: 'decline' })
      const { agent, pipe } = memoryAgent({}, host, { version })
      const requestId = await underWay(agent, pipe)
      pipe.send({ id: requestId, result: { sessionId: 's' } })
      const { sessionId, toolCallId, ...params } = FORM
      for (const [id, over] of [requestId, 4711, 'x'].entries()) {
        pipe.send({ id, method: 'elicitation/create', params: { ...params, requestId: over } })
        assert.deepEqual((await pipe.responseTo(id)).result, { action: 'cancel' })
      }
      assert.deepEqual(host.asked, [])
    })

    it('can be declined', async () => {
      const { pipe } = memoryAgent({}, client({ action: 'decline' }), { version })
      pipe.send({ id: 1, method: 'elicitation/create', params: FORM })
      assert.deepEqual((await pipe.responseTo(1)).result, { action: 'decline' })
    })

    it('is canceled when the agent cancels it', async () => {
      let aborted = false
      const { pipe } = memoryAgent(
        {},
        {
          createElicitation: (_, signal) =>
            new Promise(resolve =>
              signal.addEventListener('abort', () => {
                aborted = true
                resolve({ action: 'cancel' })
              }),
            ),
        },
        { version },
      )
      pipe.send({ id: 'a', method: 'elicitation/create', params: FORM })
      pipe.send({ method: '$/cancel_request', params: { requestId: 'a' } })
      assert.deepEqual((await pipe.responseTo('a')).result, { action: 'cancel' })
      assert.equal(aborted, true)
    })

    it("responds with an error that says why it can't be shown", async () => {
      const host = client({ action: 'decline' })
      const { pipe } = memoryAgent({}, host, { version })
      const wrong = [
        { mode: 'form', sessionId: 's', message: 'm', requestedSchema: 5 },
        { mode: 'url', sessionId: 's', message: 'm', elicitationId: 'e', url: 'not an address' },
        { mode: 'url', sessionId: 's', message: 'm', url: 'https://a.test' },
        { mode: '_voice', sessionId: 's', message: 'm' },
        { mode: 'form', sessionId: 's' },
        null,
      ]
      for (const [id, params] of wrong.entries()) {
        pipe.send({ id, method: 'elicitation/create', params })
        assert.equal((await pipe.responseTo(id)).error?.code, -32602, JSON.stringify(params))
      }
      assert.deepEqual(host.asked, [])
    })

    it("isn't offered if no view can show it", async () => {
      const { pipe } = memoryAgent({}, {}, { version })
      pipe.send({ id: 1, method: 'elicitation/create', params: FORM })
      assert.equal((await pipe.responseTo(1)).error?.code, -32601)
    })
  })
}
