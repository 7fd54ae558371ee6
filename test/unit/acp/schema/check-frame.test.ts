import assert from 'node:assert/strict'
import { build } from 'esbuild'
import fc from 'fast-check'
import { type CheckedFrame, frameViolations } from '../../../../src/acp/schema/check-frame.ts'
import { schemaViolations } from '../../../../src/acp/schema/json-schema.ts'
import type * as OfficialSchemas from '../../../../src/acp/schema/official-schemas.ts'
import { smallSchemas } from '../../../package/small-schemas.mjs'
import { officialSchema } from '../../../support/official-schema.ts'
import { SEED, scaledRuns } from '../../../support/property-tests.ts'
import { malformed, SchemaArbitrary } from '../../../support/schema-arbitrary.ts'
import { matchesSchema } from '../../../support/schema-check.ts'

/** The violations of a frame from the agent, version 1 unless the fields say otherwise. */
function received(message: object, fields: Partial<CheckedFrame> = {}): string[] {
  return frameViolations({
    version: 1,
    direction: 'receive',
    message: { jsonrpc: '2.0', ...message },
    ...fields,
  })
}

const update = (update: object) => received({ method: 'session/update', params: { sessionId: 's', update } })

describe('frameViolations', () => {
  it('accepts frames of both directions that conform', () => {
    const sent = { direction: 'send' } as const
    assert.deepEqual(
      [
        received(
          { id: 0, method: 'initialize', params: { protocolVersion: 1, clientInfo: undefined } },
          sent,
        ),
        received({ id: 0, result: { protocolVersion: 1 } }, { answers: 'initialize' }),
        received({ method: 'session/cancel', params: { sessionId: 's' } }, sent),
        received({ method: '$/cancel_request', params: { requestId: 1 } }),
        received({ id: 'x', method: 'fs/read_text_file', params: { sessionId: 's', path: '/a' } }),
        received({ id: 'x', result: { content: '' } }, { ...sent, answers: 'fs/read_text_file' }),
        received({ id: null, error: { code: -32700, message: 'Parse error' } }),
        received({ method: '_vendor/status' }),
        update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'a' } }),
        received(
          { id: 1, method: 'session/resume', params: { sessionId: 's', cwd: '/w' } },
          { ...sent, version: 2 },
        ),
      ].flat(),
      [],
    )
  })

  const bad: [string, () => string[], string[]][] = [
    [
      'no JSON-RPC version',
      () => received({ jsonrpc: '1.0', id: 1, result: {} }),
      ['jsonrpc must be "2.0".'],
    ],
    [
      'an id that is no id',
      () => received({ id: {}, result: {} }),
      ['id must be of type null | integer | string, but is object.'],
    ],
    [
      'neither result nor error',
      () => received({ id: 1 }),
      ['A response must have either a result or an error.'],
    ],
    [
      'an error without a code',
      () => received({ id: 1, error: { message: 'no' } }),
      ['error.code is missing.'],
    ],
    [
      'a missing member',
      () => received({ id: 1, result: {} }, { answers: 'session/new' }),
      ['result.sessionId is missing.'],
    ],
    [
      'a null result',
      () => received({ id: 1, result: null }, { answers: 'session/new' }),
      ['result.sessionId is missing.'],
    ],
    [
      'a member of the wrong type, in the variant that the frame names',
      () => update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 5 } }),
      ['params.update.content.text must be of type string, but is number.'],
    ],
    [
      'an item of a list',
      () =>
        update({ sessionUpdate: 'plan', entries: [{ content: 'a', priority: 'urgent', status: 'pending' }] }),
      ['params.update.entries[0].priority must be one of "high", "medium", "low", but is "urgent".'],
    ],
    [
      'an unknown variant',
      () => update({ sessionUpdate: 'agent_message_chunk', content: { type: 'video' } }),
      [
        'params.update.content.type must be one of "text", "image", "audio", "resource_link", "resource", but is "video".',
      ],
    ],
    [
      'a variant without its name',
      () => update({ sessionUpdate: 'agent_message_chunk', content: { text: 'a' } }),
      ['params.update.content.type is missing.'],
    ],
    [
      'a value that may also be null',
      () => update({ sessionUpdate: 'tool_call_update', toolCallId: 't', status: 'done' }),
      ['params.update.status must be one of "pending", "in_progress", "completed", "failed", but is "done".'],
    ],
    [
      'a method of the other side',
      () => received({ id: 1, method: 'session/prompt', params: {} }),
      [
        "The specification doesn't define a request session/prompt. The names of extensions start with an underscore.",
      ],
    ],
    [
      'a request sent as a notification',
      () => received({ method: 'session/request_permission', params: {} }),
      [
        "The specification doesn't define a notification session/request_permission. The names of extensions start with an underscore.",
      ],
    ],
    [
      'what only the other version has',
      () =>
        received(
          { method: 'session/update', params: { sessionId: 's', update: { sessionUpdate: 'state_update' } } },
          { version: 2 },
        ),
      ['params.update.state is missing.'],
    ],
    [
      'text',
      () => frameViolations({ version: 1, direction: 'receive', message: 'hello' }),
      ['A message must be a JSON object.'],
    ],
  ]
  for (const [what, violations, expected] of bad) {
    it(`reports ${what}`, () => assert.deepEqual(violations(), expected))
  }

  it('reports a limited number of violations', () => {
    const entries = Array.from({ length: 1000 }, () => ({}))
    assert.equal(update({ sessionUpdate: 'plan', entries }).length, 20)
  })

  it('never quotes part of a text: redaction would not recognize part of a secret', () => {
    const secret = 'Quite-secret-'.repeat(20)
    const content = { type: secret }
    const [problem, ...others] = update({ sessionUpdate: 'agent_message_chunk', content })
    assert.match(problem!, /^params.update.content.type must be one of .*, but is string\.$/)
    assert.deepEqual(others, [])
    assert.ok(received({ method: secret.repeat(1000) })[0]!.length < 300)
  })

  for (const version of [1, 2] as const)
    it(`checks an enormous message of version ${version} before the user notices`, () => {
      const item = { type: 'content', content: { type: 'text', text: 'a' } }
      const content = Array.from({ length: 200_000 }, () => item)
      const update = { sessionUpdate: 'tool_call_update', toolCallId: 't', content }
      const params = { sessionId: 's', update }
      assert.deepEqual(received({ method: 'session/update', params }, { version }), [])
    }).timeout(2000)
})

describe('schemaViolations', () => {
  /** as they are in the bundle */
  let bundled: typeof OfficialSchemas
  before(async () => {
    const { outputFiles } = await build({
      entryPoints: ['src/acp/schema/official-schemas.ts'],
      bundle: true,
      write: false,
      format: 'esm',
      plugins: [smallSchemas],
    })
    const code = Buffer.from(outputFiles[0]!.contents).toString('base64')
    bundled = (await import(`data:text/javascript;base64,${code}`)) as typeof OfficialSchemas
  })

  for (const version of [1, 2] as const) {
    it(`decides in the bundle as Ajv does for every definition of version ${version}, valid and malformed (seed ${SEED})`, () => {
      const arbitrary = new SchemaArbitrary(version, true)
      const defs = version === 2 ? bundled.V2 : bundled.V1
      const official = officialSchema(version, true).$defs
      const names = Object.keys(defs)
      for (const [name, { 'x-side': side = 'proxy' }] of Object.entries(official))
        assert.ok(side === 'proxy' || names.includes(name), name)
      let accepted = 0
      let refused = 0
      for (const name of names) {
        const values = arbitrary.definition(name)
        for (const value of fc.sample(fc.oneof(values, malformed(values)), {
          seed: SEED,
          numRuns: scaledRuns(20),
        })) {
          const sent: unknown = JSON.parse(JSON.stringify(value) ?? 'null')
          const expected = matchesSchema(version, true, name, sent)
          const found = schemaViolations(sent, defs[name]!, defs, 'value')
          assert.equal(found.length === 0, expected, `${name} ${JSON.stringify(sent)}: ${found.join(' ')}`)
          if (expected) accepted++
          else refused++
        }
      }
      assert.ok(accepted > 1000 && refused > 300, `${accepted} accepted, ${refused} refused`)
    })
  }
})
