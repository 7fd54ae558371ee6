import assert from 'node:assert/strict'
import { MentionedSessions } from '../../../src/app/conversation/mentioned-sessions.ts'
import { sessionKey } from '../../../src/common/session-key.ts'
import { createSessionState, reduce } from '../../../src/conversation/reducer/reduce.ts'
import { chunk } from '../conversation/updates.ts'

type Options = ConstructorParameters<typeof MentionedSessions>[0]

describe('sessions that a prompt refers to', () => {
  const session = (sessionId: string, title: string | undefined, more: object = {}) => ({
    ...{ agentId: 'a', agentName: 'Agent', sessionId, cwd: '/w', open: false, archived: false, updatedAt: 1 },
    ...(title !== undefined && { title }),
    ...more,
  })
  const items = [
    session('old', 'Count moons'),
    session('new', 'Count  planets\nand more', { updatedAt: 3 }),
    session('other', 'Count stars', { cwd: '/elsewhere', updatedAt: 9 }),
    session('archived', 'Count comets', { archived: true, updatedAt: 5 }),
    session('mine', 'Count suns', { updatedAt: 8 }),
    session('unsaved', 'Count rings', { updatedAt: 7 }),
    session('shown', 'Count orbits', { open: true, updatedAt: 2 }),
    session('untitled', undefined, { updatedAt: 6 }),
  ]
  const saved = new Map<string, unknown>()
  for (const { sessionId } of items) if (!['unsaved', 'shown'].includes(sessionId)) saved.set(sessionId, {})
  const state = createSessionState()
  reduce(state, chunk('user', 'the question'), 1)
  reduce(state, chunk('agent', 'the key is s3cret'), 1)
  saved.set('old', { entries: state.entries, terminals: [], head: {} })
  const list = items.slice()
  const mentioned = new MentionedSessions({
    history: {
      items: () => list,
      find: (_agentId: string, sessionId: string) => list.find(item => item.sessionId === sessionId),
    },
    transcripts: {
      keys: () => new Set([...saved.keys()].map(sessionId => sessionKey('a', sessionId))),
      read: (_agentId: string, sessionId: string) => saved.get(sessionId),
    },
    manager: {
      find: (_agentId: string, sessionId: string) =>
        sessionId === 'shown' ? { session: { state } } : undefined,
    },
    isHere: () => (cwd: string) => cwd === '/w',
    secrets: { redact: (text: string) => text.replaceAll('s3cret', '***') },
  } as unknown as Options)
  const names = (query: string) => mentioned.find(query, sessionKey('a', 'mine')).map(({ name }) => name)

  it('are those with text, by title, the latest of this workspace first', () => {
    assert.deepEqual(names(''), ['Count planets and more', 'Count orbits', 'Count moons'])
    assert.deepEqual(names('sess'), ['Count planets and more', 'Count orbits', 'Count moons', 'Count stars'])
    assert.deepEqual(names('comets'), ['Count comets'])
    assert.deepEqual(names('count').at(-1), 'Count stars')
    assert.deepEqual(names('suns'), [])
    assert.deepEqual(names('rings'), [])
  })

  it('are read with secrets redacted, whether they are open or saved, and one that was deleted is reported', () => {
    for (const sessionId of ['old', 'shown']) {
      const { label, content } = mentioned.attachment({ agentId: 'a', sessionId })
      assert.match(label, /^Count/)
      assert(content.type === 'resource')
      assert.match(content.text ?? '', /# Count.*Agent · `\/w`.*the question.*the key is \*\*\*/s)
    }
    list.splice(0, 1)
    assert.throws(() => mentioned.attachment({ agentId: 'a', sessionId: 'old' }), /The session was deleted/)
    assert.throws(
      () => mentioned.attachment({ agentId: 'a', sessionId: 'unsaved' }),
      /The session was deleted/,
    )
  })
})
