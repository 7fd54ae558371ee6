import assert from 'node:assert/strict'
import type { EditedEntry } from '../../../../src/bridge/conversation.ts'
import type { EntryId, MessageEntry } from '../../../../src/conversation/state.ts'
import { movedChoice } from '../../../../src/webview/conversation/composer/use-accepted-mention.ts'
import type { App } from '../../../../src/webview/conversation/context.ts'
import { editOf, finishEdit } from '../../../../src/webview/conversation/entries/prompt-edits.ts'

describe('a prompt that is edited', () => {
  /** what the host got, in order */
  let stored: Array<{ edit: EditedEntry; text: string }>
  let app: App
  const prompt = (id: string) =>
    ({
      id: id as EntryId,
      kind: 'user',
      blocks: [{ type: 'text', text: 'as sent' }],
    }) as unknown as MessageEntry

  before(() => {
    const target = { addEventListener() {} }
    const acquireVsCodeApi = () => ({ getState: () => undefined, setState() {} })
    Object.assign(globalThis, { window: target, document: target, acquireVsCodeApi })
  })
  after(() => {
    for (const name of ['window', 'document', 'acquireVsCodeApi']) Reflect.deleteProperty(globalThis, name)
  })
  beforeEach(() => {
    stored = []
    app = {
      editsRound: 1,
      edits: new Map(),
      editing: { peek: () => '' },
      host: {
        send() {},
        request: async (_: string, params: (typeof stored)[number]) => void stored.push(params),
      },
      store: { key: 'a' },
    } as unknown as App
  })

  it('keeps its last keys and its cursor when a replay gives it another entry, and is stored there from then on', () => {
    const edit = editOf(app, 'a/1', prompt('1'))
    assert.equal(edit.draft.text.peek(), 'as sent')
    edit.draft.put({ text: 'typed', chips: [], items: [] })
    edit.caret = () => 3
    const from = edit.at
    app.editsRound = 2
    app.edits.set('a/2', { from, draft: { text: 'stored', chips: [], items: [] } })
    const moved = editOf(app, 'a/2', prompt('2'))
    assert.deepEqual([moved.draft.text.peek(), moved.before?.caret()], ['typed', 3])
    stored = []
    edit.draft.put({ text: 'late', chips: [], items: [] })
    moved.draft.put({ text: 'typed on', chips: [], items: [] })
    assert.deepEqual(
      stored.map(({ edit: { round, entryId }, text }) => [round, entryId, text]),
      [[2, '2', 'typed on']],
    )
    finishEdit(app, from)
    finishEdit(app, moved.at)
  })

  it('begins again with the prompt as it was sent after it was finished, which ends the storing', () => {
    const edit = editOf(app, 'a/1', prompt('1'))
    edit.draft.put({ text: 'typed', chips: [], items: [] })
    assert.equal(editOf(app, 'a/1', prompt('1')), edit)
    finishEdit(app, edit.at)
    stored = []
    edit.draft.put({ text: 'late', chips: [], items: [] })
    assert.deepEqual(stored, [])
    const next = editOf(app, 'a/1', prompt('1'))
    assert.equal(next.draft.text.peek(), 'as sent')
    finishEdit(app, next.at)
  })
})

describe('a mention that was accepted before it was found', () => {
  const choice = { query: 'src', from: 4, to: 8, row: 0, continues: false, next: () => {} }

  it('moves with the text before it, and is given up if its own text changes', () => {
    const inserted = (at: number, length: number) => ({
      mapPos: (offset: number, side?: number) =>
        offset > at || (offset === at && (side ?? 0) > 0) ? offset + length : offset,
    })
    assert.deepEqual(movedChoice(choice, inserted(0, 2)), { ...choice, from: 6, to: 10 })
    assert.deepEqual(movedChoice(choice, inserted(8, 5)), choice)
    assert.equal(movedChoice(choice, inserted(6, 1)), undefined)
  })
})
