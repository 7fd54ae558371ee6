import assert from 'node:assert/strict'
import { AgentRequestError } from '../../../src/acp/agent.ts'
import { deleteExpired, deleteSessions } from '../../../src/app/history/delete-sessions.ts'
import type { SessionActions } from '../../../src/app/session-actions.ts'
import type { Dialogs, PickItem } from '../../../src/app/workbench.ts'
import { deferred } from '../../../src/common/async.ts'
import type { HistoryItem } from '../../../src/sessions/listing/history-item.ts'
import type { HistoryList } from '../../../src/sessions/listing/history-list.ts'
import { until } from '../../support/until.ts'

const item = (sessionId: string, more: Partial<HistoryItem> = {}) =>
  ({
    ...{ agentId: 'one', agentName: 'Agent One', sessionId, cwd: '/w', title: sessionId },
    ...{ open: false, pinned: false, archived: false, canDelete: true, deletesCopy: false },
    ...more,
  }) as HistoryItem

describe('Delete Sessions…', () => {
  /** Runs it; `meanwhile`: what is in the list once the user has confirmed. */
  async function run(
    before: HistoryItem[],
    meanwhile: HistoryItem[],
    damaged: string[] = [],
    isLocked = false,
  ) {
    let items = before
    let confirmed = ''
    const told: string[] = []
    const deleted: string[] = []
    const dialogs = {
      pick: async (list: readonly PickItem[]) => list[0],
      confirm: async (_text: string, { detail }: { detail: string }, all: string) => {
        confirmed = detail
        items = meanwhile
        return all
      },
      info: async (text: string) => void told.push(text),
      warn: async (text: string) => void told.push(text),
    } as unknown as Dialogs
    const actions = {
      deleteAll: async (all: HistoryItem[]) => deleted.push(...all.map(({ sessionId }) => sessionId)),
    } as unknown as SessionActions
    const storage = {
      get hasDamaged() {
        return damaged.length > 0
      },
      removeDamaged: () => void damaged.splice(isLocked ? 1 : 0),
    }
    await deleteSessions(dialogs, { items: () => items } as unknown as HistoryList, actions, storage)
    return { told, deleted, confirmed }
  }

  it('deletes damaged files with all sessions, and says so', async () => {
    const damaged = ['conversations.db.damaged-1']
    const { confirmed } = await run([item('a')], [item('a')], damaged)
    assert.match(confirmed, /Damaged files of earlier conversations/)
    assert.deepEqual(damaged, [])
    assert.doesNotMatch((await run([item('a')], [item('a')])).confirmed, /Damaged/)
    const { told, deleted } = await run([item('a')], [item('a')], ['conversations.db.damaged-1'], true)
    assert.deepEqual(deleted, ['a'])
    assert.match(told[0]!, /^Damaged files .* couldn't be deleted/)
  })

  it('keeps what was opened or pinned, or came, while the user was asked', async () => {
    const { told, deleted } = await run(
      [item('a'), item('b'), item('c'), item('gone')],
      [item('a'), item('b', { open: true }), item('c', { pinned: true }), item('new')],
    )
    assert.deepEqual(deleted, ['a'])
    assert.deepEqual(told, [
      "1 session deleted. 2 sessions were kept because they're open, pinned, or can't be deleted.",
    ])
  })
})

describe('the end of a deletion', () => {
  /** Runs it with these outcomes; resolves to what was said. */
  function run(items: HistoryItem[], remove: (item: HistoryItem) => Promise<void>) {
    const ended: string[] = []
    const errors: unknown[] = []
    const again: Array<() => Promise<void>> = []
    const done = deleteExpired(
      items,
      { delete: one => remove(one as HistoryItem) },
      { ended: ({ sessionId }) => void ended.push(sessionId) },
      async (_agentId, work) => {
        again.push(work)
        await work().catch(error => errors.push(error.message))
      },
    )
    return { done, ended, errors, again }
  }

  it("deletes the sessions of one agent although another agent doesn't respond", async () => {
    const hangs = deferred()
    const { done, ended } = run([item('a'), item('b'), item('c', { agentId: 'two' })], ({ sessionId }) =>
      sessionId === 'a' ? hangs.promise : Promise.resolve(),
    )
    await until(() => ended.length > 0)
    assert.deepEqual(ended, ['c'])
    hangs.resolve()
    await done
    assert.deepEqual(ended, ['c', 'a', 'b'])
  })

  it('tells all failures of an agent together, and that of a single session as it is', async () => {
    const fails = async ({ sessionId }: HistoryItem) => {
      if (sessionId !== 'b') throw new Error('It is locked.')
    }
    const many = run([item('a'), item('b'), item('c'), item('d')], fails)
    await many.done
    assert.deepEqual(many.errors, ["3 sessions couldn't be deleted: It is locked."])
    assert.deepEqual(many.ended, ['a', 'b', 'c', 'd'])
    const one = run([item('a'), item('b')], fails)
    await one.done
    assert.deepEqual(one.errors, ['It is locked.'])
  })

  it('asks once to sign in, shows all again meanwhile, and deletes those that are left afterward', async () => {
    let isSignedIn = false
    const removed: string[] = []
    const { done, ended, errors, again } = run([item('a'), item('b'), item('c')], async ({ sessionId }) => {
      if (sessionId !== 'a' && !isSignedIn)
        throw new AgentRequestError('session/delete', 'auth-required', { code: -32000, message: 'Sign in.' })
      removed.push(sessionId)
    })
    await done
    assert.equal(errors.length, 1)
    assert.deepEqual([removed, ended], [['a'], ['a', 'b', 'c']])
    isSignedIn = true
    await again[0]!()
    assert.deepEqual(removed, ['a', 'b', 'c'])
  })
})
