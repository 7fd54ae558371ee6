import assert from 'node:assert/strict'
import fc from 'fast-check'
import { isWindowMessage, windowMessages } from '../../../src/agent-host/window-messages.ts'

const command = {
  info: { id: 'c', shown: 'ls', cwd: '/', outputLimit: 9, sessionId: 's', isAnswered: false },
  request: { command: 'ls', args: ['-l'], cwd: '/', env: { A: 'b' } },
}
const valid: Record<string, Record<string, unknown>> = {
  write: {},
  endInput: {},
  taken: { number: 1 },
  confirm: { number: 1 },
  keep: { times: { silentMs: 0 } },
  secrets: { values: ['x'] },
  note: { sessionId: 's' },
  serve: { port: 80 },
  stop: {},
  runCommand: command,
  killCommand: { id: 'c', graceMs: 5 },
  forgetCommand: { id: 'c' },
}

/** with the fields that may be missing */
const whole: Record<string, Record<string, unknown>> = {
  keep: { times: { silentMs: 1, idleMs: 2, totalMs: 3 } },
  note: { sessionId: 's', note: { text: 'x' } },
  stop: { times: { terminateAfterMs: 1, killAfterMs: 2 } },
  runCommand: { ...command, request: { ...command.request, encoding: 'utf8' } },
}

describe('a message of a window to the agent host', () => {
  it('of each kind is accepted, and refused without any one of its fields or with null for it', () => {
    assert.deepEqual(Object.keys(valid), Object.keys(windowMessages))
    for (const [type, params] of Object.entries(valid)) {
      assert.ok(isWindowMessage({ type, ...params }), type)
      for (const name of Object.keys(params)) {
        assert.equal(isWindowMessage({ type, ...params, [name]: null }), false, `${type}.${name}`)
        const { [name]: _, ...others } = params
        assert.equal(isWindowMessage({ type, ...others }), false, `${type} without ${name}`)
      }
    }
    for (const [part, values] of Object.entries(command))
      for (const name of Object.keys(values)) {
        const wrong = { ...command, [part]: { ...values, [name]: null } }
        assert.equal(isWindowMessage({ type: 'runCommand', ...wrong }), false, `${part}.${name}`)
      }
  })

  it('may have all of its fields, none of which may have another type', () => {
    for (const [type, params] of Object.entries(whole)) {
      assert.ok(isWindowMessage({ type, ...params }), type)
      for (const [field, value] of Object.entries(params)) {
        if (field === 'note' || typeof value !== 'object') continue
        for (const name of Object.keys(value as object)) {
          const wrong: Record<string, unknown> = { ...params, [field]: { ...(value as object), [name]: {} } }
          if (name !== 'env') assert.equal(isWindowMessage({ type, ...wrong }), false, `${type}.${name}`)
        }
      }
    }
  })

  it('of an unknown kind is refused, and no value makes the check fail', () => {
    for (const type of ['fly', 'toString', '__proto__']) assert.equal(isWindowMessage({ type }), false)
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.keys(valid)),
        fc.dictionary(fc.string(), fc.anything()),
        (type, params) => {
          assert.equal(typeof isWindowMessage({ ...valid[type], ...params, type }), 'boolean')
        },
      ),
    )
  })
})
