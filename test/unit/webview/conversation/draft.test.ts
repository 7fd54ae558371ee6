import assert from 'node:assert/strict'
import { EMPTY_DRAFT } from '../../../../src/common/draft.ts'
import type { Attachment, StoredPrompt } from '../../../../src/conversation/attachment.ts'
import { Draft } from '../../../../src/webview/conversation/composer/draft.ts'

const key = 'agent/session'
const comment = (line: number): Attachment => ({
  id: 'c1',
  label: `a.ts:${line}`,
  icon: 'comment',
  content: { type: 'comment', uri: 'file:///a.ts', startLine: line, endLine: line, quote: 'x', text: 'Why?' },
})

describe('the draft', () => {
  const labels = (draft: Draft) => draft.content.value.items.map(({ label }) => label)
  let sent: StoredPrompt[]
  let draft: Draft

  before(() => {
    const target = { addEventListener() {} }
    const acquireVsCodeApi = () => ({ getState: () => undefined, setState() {} })
    Object.assign(globalThis, { window: target, document: target, acquireVsCodeApi })
  })
  after(() => {
    for (const name of ['window', 'document', 'acquireVsCodeApi']) Reflect.deleteProperty(globalThis, name)
  })
  beforeEach(() => {
    sent = []
    draft = new Draft({
      saveText: async () => {},
      saveItems: () => {},
      enqueue: async (_, prompt) => void sent.push(prompt),
      movedToComposer: async () => {},
    })
    draft.show(key, EMPTY_DRAFT)
    draft.putComment(key, 'c1', comment(2))
  })

  it('has a comment at the lines to which it moved', () => {
    draft.putComment(key, 'c1', comment(3))
    assert.deepEqual(labels(draft), ['a.ts:3'])
  })

  it('has no comment any more that was sent while its lines moved', async () => {
    draft.send()
    draft.putComment(key, 'c1', comment(3))
    assert.deepEqual(labels(draft), [])
    assert.deepEqual(
      sent.map(({ draft: { items } }) => items.map(({ id }) => id)),
      [['c1']],
    )
  })

  it('has no comment any more that the user removed while its lines moved', () => {
    draft.detach('c1')
    draft.putComment(key, 'c1', comment(3))
    assert.deepEqual(labels(draft), [])
  })
})
