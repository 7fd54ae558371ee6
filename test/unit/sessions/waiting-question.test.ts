import assert from 'node:assert/strict'
import type { PermissionRequest } from '../../../src/acp/model.ts'
import { Session } from '../../../src/conversation/session.ts'
import { waitingQuestion } from '../../../src/sessions/question-calls.ts'
import { FakeAgent } from '../conversation/fake-agent.ts'
import { asking } from '../conversation/updates.ts'

const never = new AbortController().signal

function ask(...requests: PermissionRequest[]) {
  const session = new Session({
    agent: new FakeAgent(),
    sessionId: 's',
    setup: { cwd: '/w', additionalDirectories: [], mcpServers: [] },
    phase: 'ready',
  })
  for (const request of requests) void session.requestPermission(request, never)
  return waitingQuestion(session)
}
const command = (line: string) => asking({ title: 'Run?', subject: { type: 'command', command: line } })

describe('a question in a notification', () => {
  it('has the words and the answers of the oldest one', () => {
    const question = ask(command('npm test'), command('npm publish'))
    assert.equal(question?.text, 'Run? npm test')
    assert.equal(question?.count, 2)
    assert.deepEqual(question?.options, asking().options)
  })

  it('cannot be answered there when it is not seen as a whole', () => {
    for (const line of [
      `echo ${'x'.repeat(300)}`,
      'npm test\nrm -rf /',
      'echo \u202eabc',
      '[ls](command:workbench.action.quit)',
      'echo [x',
    ]) {
      assert.deepEqual(ask(command(line))?.options, [], line)
    }
  })

  it('is none when nothing waits', () => assert.equal(ask(), undefined))
})
