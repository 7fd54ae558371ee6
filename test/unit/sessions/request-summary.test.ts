import assert from 'node:assert/strict'
import type { PermissionRequest } from '../../../src/acp/model.ts'
import { Session } from '../../../src/conversation/session.ts'
import { requestSummary } from '../../../src/sessions/request-notifications.ts'
import { FakeAgent } from '../conversation/fake-agent.ts'
import { permissionRequest } from '../conversation/updates.ts'

const never = new AbortController().signal

function ask(...requests: PermissionRequest[]) {
  const session = new Session({
    agent: new FakeAgent(),
    sessionId: 's',
    setup: { cwd: '/w', additionalDirectories: [], mcpServers: [] },
    phase: 'ready',
  })
  for (const request of requests) void session.requestPermission(request, never)
  return requestSummary(session)
}
const command = (line: string) =>
  permissionRequest({ title: 'Run?', subject: { type: 'command', command: line } })

describe('a request in a notification', () => {
  it('shows the text and the options of the oldest one', () => {
    const question = ask(command('npm test'), command('npm publish'))
    assert.equal(question?.text, 'Run? npm test')
    assert.equal(question?.count, 2)
    assert.deepEqual(question?.options, permissionRequest().options)
  })

  it("can't be answered there if it doesn't fit", () => {
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

  it('shows the title of a choice, which is made only in the conversation', () => {
    const question = ask(
      permissionRequest({ title: 'Whose lines stay?', description: 'x\ny', isChoice: true }),
    )
    assert.equal(question?.text, 'Whose lines stay?')
    assert.deepEqual(question?.options, [])
  })

  it('is undefined without a pending request', () => assert.equal(ask(), undefined))
})
