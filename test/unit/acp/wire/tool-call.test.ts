import assert from 'node:assert/strict'
import { readToolCall } from '../../../../src/acp/wire/tool-call.ts'

describe('a tool call of an agent', () => {
  it('has a title that the user can read as a whole, since it may be a command', () => {
    const command = `echo ${'x'.repeat(60_000)}`
    assert.equal(readToolCall({ toolCallId: 't', title: command }, assert.fail)?.title, command)
    const title = readToolCall({ toolCallId: 't', title: 'x'.repeat(1_000_000) }, assert.fail)?.title
    assert.equal(title, `${'x'.repeat(65_536)}…`)
  })

  it('has no location that no system can have', () => {
    const problems: string[] = []
    const locations = [{ path: `/${'x'.repeat(1_000_000)}` }, { path: '/a.ts', line: 3 }]
    const call = readToolCall({ toolCallId: 't', locations }, problem => problems.push(problem))
    assert.deepEqual(call?.locations, [{ path: '/a.ts', line: 3 }])
    assert.equal(problems.length, 1)
  })
})
