import assert from 'node:assert/strict'
import { mock } from 'node:test'
import { LineComments } from '../../../src/app/conversation/line-comments.ts'
import { DraftStore } from '../../../src/app/storage/draft-store.ts'
import type { CommentAction, ShownComment } from '../../../src/app/workbench.ts'
import { EMPTY_DRAFT } from '../../../src/common/draft.ts'
import { Emitter } from '../../../src/common/event.ts'
import type { Attachment } from '../../../src/conversation/attachment.ts'
import { MemoryUnsentTexts, UnsentTable } from '../../support/memory-unsent-texts.ts'
import { memoryStore } from '../sessions/sessions-fixture.ts'

const comment = {
  ...{ id: 'one', uri: 'file:///work/a.js', startLine: 2, endLine: 3 },
  ...{ quote: 'let a\nlet b', text: 'Is this needed?' },
}

/** Time stands still unless a test lets it pass. */
describe('a comment on lines', () => {
  let drafts: DraftStore
  let comments: LineComments
  let act: Emitter<CommentAction>
  /** What was done at the lines, in order. */
  let done: string[]
  let key: string
  let hasPage: boolean
  /** What the page was told and hasn't received yet. */
  let toPage: Array<{ key: string; item: Attachment | undefined }>

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] })
    drafts = new DraftStore(new MemoryUnsentTexts(new UnsentTable()))
    act = new Emitter()
    done = []
    key = 'agent/session'
    hasPage = true
    toPage = []
    const surface = {
      get controller() {
        return { key, agentName: 'Agent' }
      },
      commentChanged(key: string, _id: string, item?: Attachment) {
        if (hasPage) toPage.push({ key, item })
        return hasPage
      },
    }
    comments = new LineComments({
      drafts,
      threads: {
        onDidAct: act.event,
        show: ({ id, state, startLine }: ShownComment) =>
          void done.push(`${id} is shown as ${state} at ${startLine}`),
        hide: id => void done.push(`${id} is gone`),
        reveal: async () => {},
      },
      surfaces: { active: surface, withKey: (one: string) => (one === key ? surface : undefined) } as never,
      sessions: { withKey: () => undefined },
      tracker: { files: { onDidChange: () => ({ dispose() {} }) } } as never,
      store: memoryStore(),
      folders: () => [],
      onAdd: () => {},
    })
  })
  afterEach(() => {
    comments.dispose()
    drafts.dispose()
    mock.timers.reset()
  })

  const item = () => toPage.at(-1)!.item!

  it('stays although its page stores a draft from before the comment', () => {
    act.fire({ type: 'add', ...comment })
    drafts.setItems(key, [])
    mock.timers.tick(10_000)
    assert.ok(!done.includes('one is gone'), String(done))
    drafts.setItems(key, [item()])
    mock.timers.tick(10_000)
    assert.ok(!done.includes('one is gone'), String(done))
    // from now on, the user removes it
    drafts.setItems(key, [])
    mock.timers.tick(10_000)
    assert.equal(done.at(-1), 'one is gone')
  })

  it('stays if another is written, or its lines move, before its page stores a draft without them', () => {
    act.fire({ type: 'add', ...comment })
    act.fire({ type: 'add', ...comment, id: 'two' })
    act.fire({ type: 'move', ...comment, id: 'two', startLine: 4, endLine: 5 })
    const items = toPage.map(({ item }) => item!)
    drafts.setItems(key, [])
    mock.timers.tick(10_000)
    assert.deepEqual(
      done.filter(one => one.endsWith('gone')),
      [],
    )
    drafts.setItems(key, [items[0]!, items[2]!])
    drafts.setItems(key, [])
    mock.timers.tick(10_000)
    assert.deepEqual(done.slice(-2), ['one is gone', 'two is gone'])
  })

  it('keeps its new lines when its page still stores the old ones', () => {
    act.fire({ type: 'add', ...comment })
    const old = item()
    act.fire({ type: 'move', ...comment, startLine: 4, endLine: 5 })
    drafts.setItems(key, [old])
    assert.equal(done.at(-1), 'one is shown as draft at 4')
    drafts.setItems(key, [item()])
    assert.equal(done.at(-1), 'one is shown as draft at 4')
  })

  it('is gone if the user removes it in its page while its lines move', () => {
    act.fire({ type: 'add', ...comment })
    drafts.setItems(key, [item()])
    act.fire({ type: 'move', ...comment, startLine: 4, endLine: 5 })
    drafts.setItems(key, [])
    act.fire({ type: 'move', ...comment, startLine: 6, endLine: 7 })
    assert.deepEqual(drafts.get(key).items, [])
    mock.timers.tick(10_000)
    assert.equal(done.at(-1), 'one is gone')
  })

  it('goes with the draft that no page shows', () => {
    hasPage = false
    act.fire({ type: 'add', ...comment })
    assert.equal(drafts.get(key).items.length, 1)
    drafts.setItems(key, [])
    mock.timers.tick(10_000)
    assert.equal(done.at(-1), 'one is gone')
  })

  it('is deleted although its page has not got it yet', () => {
    act.fire({ type: 'add', ...comment })
    act.fire({ type: 'delete', id: 'one' })
    mock.timers.tick(10_000)
    assert.equal(done.at(-1), 'one is gone')
    assert.deepEqual(drafts.get(key), EMPTY_DRAFT)
    assert.equal(toPage.at(-1)?.item, undefined)
  })
  it('stays deleted although its page later stores a draft with it', () => {
    act.fire({ type: 'add', ...comment })
    const before = key
    drafts.setItems(before, [item()])
    key = 'agent/another session'
    act.fire({ type: 'delete', id: 'one' })
    drafts.setItems(before, [item()])
    mock.timers.tick(10_000)
    assert.equal(done.at(-1), 'one is gone')
    assert.deepEqual(drafts.get(before), EMPTY_DRAFT)
  })

  it('is shown again if its page sent the comment before the page learned of its deletion', () => {
    act.fire({ type: 'add', ...comment })
    const draft = { text: 'later', chips: [], items: [item()] }
    act.fire({ type: 'delete', id: 'one' })
    drafts.save(key, [{ id: 'prompt', draft }], EMPTY_DRAFT)
    assert.equal(done.at(-1), 'one is shown as queued at 2')
    drafts.save(key, [], draft)
    mock.timers.tick(10_000)
    assert.equal(done.at(-1), 'one is shown as draft at 2')
  })
})
