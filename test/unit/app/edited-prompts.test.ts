import assert from 'node:assert/strict'
import { EditedPrompts, editedPrompt } from '../../../src/app/conversation/edited-prompts.ts'
import { DraftStore, editKey } from '../../../src/app/storage/draft-store.ts'
import type { StoredPrompt } from '../../../src/conversation/attachment.ts'
import type { Entry } from '../../../src/conversation/state.ts'
import type { ConversationController } from '../../../src/sessions/conversation-controller.ts'
import { MemoryUnsentTexts, UnsentTable } from '../../support/memory-unsent-texts.ts'

/** A conversation with these prompts, and what the agent says to each. */
function conversation(...prompts: string[]): Entry[] {
  return prompts.flatMap((text, i): Entry[] => [
    { kind: 'message', id: `e${2 * i}`, turn: i, role: 'user', blocks: [{ type: 'text', text }] },
    { kind: 'message', id: `e${2 * i + 1}`, turn: i, role: 'agent', blocks: [{ type: 'text', text }] },
  ])
}

describe('the prompts that are edited where they are', () => {
  let table: UnsentTable
  const returned: Array<{ key: string; prompt: StoredPrompt; reason?: string }> = []
  let session: { phase: string; state: { entries: Entry[] } } | undefined
  let drafts: DraftStore
  let edited: EditedPrompts

  beforeEach(() => {
    table = new UnsentTable()
    returned.length = 0
    drafts = new DraftStore(new MemoryUnsentTexts(table))
    edited = new EditedPrompts(drafts, {
      get current() {
        return session && { session }
      },
      prompts: {
        giveBack: (key: string, prompt: StoredPrompt, reason?: string) =>
          returned.push({ key, prompt, ...(reason && { reason }) }),
      },
    } as unknown as ConversationController)
  })
  afterEach(() => drafts.dispose())
  function edit(entries: Entry[], entryId: string, text: string): void {
    drafts.setText(editKey('a', entryId), text, [], () => editedPrompt(entries, entryId))
  }
  /** The page closes its editors before it gets where the prompts are. */
  function shown(): Array<[string, string]> | undefined {
    const first = edited.forSnapshot('a')
    const edits = edited.isDue && session?.phase === 'ready' ? edited.forSnapshot('a') : first
    return edits?.map(({ entryId, draft }) => [entryId, draft.text])
  }

  it('is found by its text after a replay, and by its number among equal ones', () => {
    edit(conversation('one', 'go on', 'go on', 'go on'), 'e4', 'second')
    edit(conversation('one', 'go on', 'go on', 'go on'), 'e0', 'first')
    session = { phase: 'loading', state: { entries: conversation('earlier') } }
    assert.equal(shown(), undefined)
    assert.equal(edited.isDue, false)
    session = { phase: 'ready', state: { entries: conversation('earlier', ' one\n', 'go on', 'go  on') } }
    assert.equal(edited.isDue, true)
    assert.equal(edited.forSnapshot('a'), undefined)
    assert.deepEqual(shown(), [
      ['e6', 'second'],
      ['e2', 'first'],
    ])
    assert.deepEqual(returned, [])
    assert.equal(edited.isDue, false)
    // where they are now is stored
    drafts.dispose()
    drafts = new DraftStore(new MemoryUnsentTexts(table))
    assert.deepEqual(
      drafts.edits('a').map(({ entryId }) => entryId),
      ['e6', 'e2'],
    )
  })

  it('goes to the composer if its prompt is gone', () => {
    edit(conversation('one', 'go on', 'go on'), 'e4', 'kept')
    edit(conversation('one', 'go on', 'go on'), 'e0', 'stays')
    session = { phase: 'ready', state: { entries: conversation('one', 'go on') } }
    assert.deepEqual(shown(), [['e0', 'stays']])
    assert.deepEqual(
      returned.map(({ key, prompt, reason }) => [key, prompt.draft.text, reason]),
      [['a', 'kept', "The prompt that you edited isn't in the conversation anymore."]],
    )
  })

  it('stays with the entry that an earlier version stored, unless that is no prompt', () => {
    drafts.setText(editKey('a', 'e0'), 'one', [])
    drafts.setText(editKey('a', 'e1'), 'of an answer', [])
    session = { phase: 'ready', state: { entries: conversation('one') } }
    assert.deepEqual(shown(), [['e0', 'one']])
    assert.deepEqual(
      returned.map(({ prompt }) => prompt.draft.text),
      ['of an answer'],
    )
  })

  it('goes with its conversation to the next session', () => {
    edit(conversation('one'), 'e0', 'edited')
    drafts.moveEdits('b', 'a')
    drafts.moveEdits('a', 'b')
    session = { phase: 'ready', state: { entries: conversation('earlier', 'one') } }
    assert.deepEqual(shown(), [])
    assert.equal(edited.forSnapshot('b'), undefined)
    assert.deepEqual(
      edited.forSnapshot('b')?.map(({ entryId }) => entryId),
      ['e2'],
    )
  })

  it('is not replaced by another edit that moves to the same entry: that goes to the composer', () => {
    drafts.set('b', { text: 'draft', chips: [], items: [] })
    drafts.setText(editKey('a', 'e0'), 'of a', [])
    drafts.setText(editKey('b', 'e0'), 'of b', [])
    drafts.moveEdits('a', 'b')
    assert.deepEqual(
      drafts.edits('b').map(({ entryId, draft }) => [entryId, draft.text]),
      [['e0', 'of b']],
    )
    assert.match(drafts.get('b').text, /^draft\s+of a$/)
    assert.deepEqual(drafts.edits('a'), [])
  })
})
