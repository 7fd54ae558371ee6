import assert from 'node:assert/strict'
import { deferred } from '../../../../src/common/async.ts'
import { AgentDiffs } from '../../../../src/mcp/terminal/agent-diffs.ts'
import { FakeTerminalEditor } from '../../../support/fake-terminal-editor.ts'

describe('the diffs of an agent in a terminal', () => {
  let editor: FakeTerminalEditor
  let diffs: AgentDiffs
  let ready: () => void

  const propose = (text: string, name = 'a.ts') =>
    diffs.open(name, { path: `/work/${name}`, oldPath: `/work/${name}`, text, title: name })
  const shown = () => editor.openDiffs.map(({ text }) => text)

  beforeEach(() => {
    editor = new FakeTerminalEditor('/work')
    diffs = new AgentDiffs(editor)
    const gate = deferred()
    editor.ready = gate.promise
    ready = gate.resolve
  })

  it('are closed if that is asked for while they open', async () => {
    const opening = propose('new')
    const closing = diffs.close('a.ts')
    ready()
    assert.equal(await closing, 'new')
    assert.equal(await (await opening).outcome, undefined)
    assert.deepEqual(shown(), [])
    assert.equal(await diffs.close('a.ts'), undefined)
  })

  it('reject a diff that is still opening when another with its name replaces it', async () => {
    const [first, second] = [propose('one'), propose('two')]
    ready()
    assert.equal(await (await first).outcome, undefined)
    await second
    assert.deepEqual(shown(), ['two'])
    editor.openDiffs[0]?.answer('two')
    assert.equal(await (await second).outcome, 'two')
  })

  it('are all closed, also those that still open', async () => {
    const opening = [propose('one'), propose('two', 'b.ts')]
    const closing = diffs.closeAll()
    ready()
    assert.equal(await closing, 2)
    for (const diff of opening) assert.equal(await (await diff).outcome, undefined)
    assert.equal(await diffs.closeAll(), 0)
  })

  it('do not outlive the agent, also those that still open or wait', async () => {
    const opening = propose('one')
    const waiting = assert.rejects(propose('two'), /has gone/)
    // so that the first one has begun
    await Promise.resolve()
    await Promise.resolve()
    diffs.dispose()
    ready()
    assert.equal(await (await opening).outcome, undefined)
    await waiting
    assert.deepEqual(
      editor.proposed.map(({ text }) => text),
      ['one'],
    )
    await assert.rejects(propose('three', 'c.ts'), /has gone/)
  })

  it('are opened after one that could not be', async () => {
    const { openDiff } = editor
    editor.openDiff = async () => Promise.reject(new Error('no editor'))
    await assert.rejects(propose('one'), /no editor/)
    editor.openDiff = openDiff
    ready()
    for (let i = 0; i < 20; i++) await propose(`${i}`)
    assert.deepEqual(shown(), ['19'])
  })
})
