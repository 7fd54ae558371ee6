import assert from 'node:assert/strict'
import { activityWord } from '../../../../src/webview/conversation/work/working-line.tsx'
import { message, toolCall } from './entries.ts'

describe("the description of the agent's activity", () => {
  const word = (last: Parameters<typeof activityWord>[1]) =>
    activityWord('running', last, 0, { cwd: '/p', additional: [] })

  it('comes from the last update', () => {
    assert.deepEqual(word(message('t', 'thought', 'Hm')), { text: 'Thinking' })
    assert.deepEqual(word(message('a', 'agent', 'So')), { text: 'Writing' })
    assert.deepEqual(
      word(toolCall('x', { toolKind: 'execute', status: 'in_progress', title: '`npm test`' })),
      {
        text: 'Running',
        code: 'npm test',
      },
    )
    assert.deepEqual(
      word(toolCall('x', { toolKind: 'edit', status: 'in_progress', title: 'Edit /p/a/b.ts' })),
      {
        text: 'Editing',
        code: 'b.ts',
      },
    )
    assert.deepEqual(word(toolCall('x', { toolKind: 'edit' })), { text: 'Working' })
    assert.deepEqual(word(undefined), { text: 'Working' })
  })

  it("is empty if the agent doesn't report it", () => {
    const last = message('a', 'agent', 'So')
    assert.deepEqual(activityWord('running', last, 0, undefined, true), { text: 'Status unknown' })
    assert.deepEqual(activityWord('running', last, 1, undefined, true), { text: 'Waiting for your answer' })
  })

  it('mentions the user while a request is pending', () => {
    assert.deepEqual(activityWord('requires_action', undefined, 0, undefined), {
      text: 'Waiting for your answer',
    })
    assert.deepEqual(activityWord('running', message('a', 'agent', 'x'), 1, undefined), {
      text: 'Waiting for your answer',
    })
  })
})
