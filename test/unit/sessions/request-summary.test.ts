import assert from 'node:assert/strict'
import type { PermissionRequest } from '../../../src/acp/model.ts'
import { Session } from '../../../src/conversation/session.ts'
import { requestSummary } from '../../../src/sessions/request-notifications.ts'
import { FakeAgent } from '../conversation/fake-agent.ts'
import { permissionRequest } from '../conversation/updates.ts'

function ask(...requests: PermissionRequest[]) {
  const session = new Session({
    agent: new FakeAgent(),
    sessionId: 's',
    setup: { cwd: '/w', additionalDirectories: [], mcpServers: [] },
    phase: 'ready',
  })
  for (const request of requests)
    void session.requests.requestPermission(request, new AbortController().signal)
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

  describe('that would change files', () => {
    const edit = (title: string, ...changes: Array<[path: string, oldText: string, newText: string]>) =>
      ask(
        permissionRequest({
          title,
          subject: {
            type: 'tool_call',
            toolCall: {
              toolCallId: 't',
              title,
              kind: 'edit',
              content: changes.map(([path, oldText, newText]) => ({
                type: 'diff',
                changes: [{ operation: 'modify', path, oldText, newText }],
              })),
            },
          },
        }),
      )

    it('has relative paths and the numbers of lines', () => {
      const question = edit('Edit /w/src/a.js', ['/w/src/a.js', 'a\nb\nc\n', 'a\nx\ny\nc\n'])
      assert.equal(question?.text, 'Edit src/a.js (+2 −1)')
      assert.equal(question.hasDiff, true)
      assert.equal(question.options.length, 2)
    })

    it('names its only file', () => {
      assert.equal(edit('Edit', ['/w/a.js', '', 'a\n'])?.text, 'Edit a.js (+1 −0)')
    })

    it('keeps paths outside of the folder', () => {
      assert.equal(edit('Edit /w2/a.js', ['/w2/a.js', 'a', 'b'])?.text, 'Edit /w2/a.js (+1 −1)')
    })

    it('keeps the paths of a command', () => {
      assert.equal(ask(command('rm /w/a.js'))?.text, 'Run? rm /w/a.js')
    })
  })

  it('names the tool of a server and what it is about', () => {
    const title = 'mcp__vscode__show_diff'
    const toolCall = { toolCallId: 't', title, kind: 'other' as const, rawInput: { file: 'src/a.ts' } }
    const question = ask(permissionRequest({ title, subject: { type: 'tool_call', toolCall } }))
    assert.equal(question?.text, 'show_diff of VS Code: src/a.ts')
  })

  it('is undefined without a pending request', () => assert.equal(ask(), undefined))
})
