import assert from 'node:assert/strict'
import { Decisions } from '../../../src/app/changes/decisions.ts'
import { CommandId, ContextKey } from '../../../src/app/ids.ts'
import type { Workbench } from '../../../src/app/workbench.ts'
import type { ChangeScope, ChangeSelection } from '../../../src/changes/session-changes.ts'
import type { OpenSession } from '../../../src/sessions/open-session.ts'

describe('Decisions about changes', () => {
  it('are told in the status bar, the newest one in place of others, until they are undone', async () => {
    let shown: Array<{ text: string; action?: object }> = []
    const undone: string[] = []
    const dialogs = {
      showStatus: (text: string, action?: object) => {
        const one = { text, ...(action && { action }) }
        shown.push(one)
        return {
          dispose: () => {
            shown = shown.filter(other => other !== one)
          },
        }
      },
    }
    const workbench = {
      dialogs,
      folders: [{ name: 'w', path: '/w' }],
      setContext: async () => undefined,
    }
    const inWorktree = { plan: { setup: { cwd: '/w.worktrees/task' } } } as OpenSession
    const decisions = new Decisions(workbench as unknown as Workbench, { list: () => [inWorktree] })
    const keep = (path: string, hunks?: ChangeSelection['hunks']) => {
      const kept = {
        paths: [path],
        undo: async () => {
          undone.push(path)
          kept.paths = []
          return []
        },
      }
      const changes = { keep: () => kept }
      decisions.keep(changes as unknown as ChangeScope, hunks ? { hunks } : {})
    }
    const undo = () => decisions.undo(async () => {})
    const action = { label: 'Undo', command: CommandId.undoDecision }
    keep('/w/a.ts', { path: '/w/a.ts', ids: new Set([1]) })
    assert.deepEqual(shown, [{ text: 'Kept the change in a.ts.', action }])
    keep('/w.worktrees/task/src/c.ts')
    assert.deepEqual(shown, [{ text: 'Kept the changes in src/c.ts.', action }])
    assert.equal(await undo(), true)
    undone.length = 0
    keep('/w/b.ts')
    assert.deepEqual(shown, [{ text: 'Kept the changes in b.ts.', action }])
    assert.equal(await undo(), true)
    assert.deepEqual([shown, undone], [[], ['/w/b.ts']])
    keep('/w/c.ts')
    assert.equal(await undo(), true)
    assert.equal(await undo(), true)
    assert.equal(await undo(), false)
    assert.deepEqual([shown, undone], [[], ['/w/b.ts', '/w/c.ts', '/w/a.ts']])
  })

  it('are undone by the key that undoes text unless text was edited, a prompt was removed or the window reloaded since', async () => {
    const context = new Map<string, unknown>()
    const workbench = {
      dialogs: { showStatus: () => ({ dispose: () => {} }) },
      folders: [],
      setContext: async (key: string, value: unknown) => void context.set(key, value),
    } as unknown as Workbench
    const stored = {
      progress: { reverts: new Map([['r1', new Set()]]), onDidChange: () => ({ dispose: () => {} }) },
      review: { undone: [{ id: 'r1' }] },
    } as unknown as ConstructorParameters<typeof Decisions>[2]
    const decisions = new Decisions(workbench, { list: () => [] }, stored)
    const keep = (path: string) => {
      const kept = {
        paths: [path],
        undo: async () => {
          kept.paths = []
          return []
        },
      }
      const changes = { keep: () => kept }
      decisions.keep(changes as unknown as ChangeScope)
    }
    const undo = () => decisions.undo(async () => {})
    const can = () => [context.get(ContextKey.canUndoDecision), context.get(ContextKey.decidedLast)]
    keep('/w/a.ts')
    keep('/w/b.ts')
    assert.deepEqual(can(), [true, true])
    await undo()
    assert.deepEqual(can(), [true, true])
    decisions.textEdited()
    assert.deepEqual(can(), [true, false])
    keep('/w/b.ts')
    assert.deepEqual(can(), [true, true])
    decisions.tell('Prompt removed from the queue.', async () => {})
    assert.deepEqual(can(), [true, false])
    await undo()
    assert.deepEqual(can(), [true, true])
    await undo()
    assert.deepEqual(can(), [true, false])
    await undo()
    assert.deepEqual(can(), [true, false])
  })
})
