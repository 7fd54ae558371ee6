import assert from 'node:assert/strict'
import { CommandContext } from '../../../src/app/commands/command-context.ts'
import type { ConversationSurfaces } from '../../../src/app/conversation/conversation-surface.ts'
import { ContextKey } from '../../../src/app/ids.ts'
import { Emitter } from '../../../src/common/event.ts'
import type { Rewind } from '../../../src/conversation/state.ts'

describe('the context keys of commands', () => {
  const visibility = new Emitter<void>()
  const change = new Emitter<void>()
  const keys = new Map<string, unknown>()
  const state = { turn: 0, activity: 'idle', entries: [] as object[], configOptions: [] }
  const session = { state, onDidChange: change.event, agent: undefined }
  const controller: { current: object | undefined; phase: string } = { current: undefined, phase: 'empty' }
  const surfaces = {
    active: { controller },
    onDidChange: visibility.event,
    onDidChangeVisibility: visibility.event,
  }
  const context = new CommandContext(surfaces as unknown as ConversationSurfaces, {
    setContext: async (key, value) => keys.set(key, value),
  })
  const shown = () => {
    visibility.fire()
    return [ContextKey.hasSession, ContextKey.hasPrompts, ContextKey.canUndoRestore].map(
      key => keys.get(key) ?? false,
    )
  }
  after(() => {
    context.dispose()
    visibility.dispose()
    change.dispose()
  })

  it('follow the conversation: its session, its prompts, and restores that can be undone', () => {
    assert.deepEqual(shown(), [false, false, false])
    controller.current = { session }
    assert.deepEqual(shown(), [true, false, false])
    state.turn = 1
    assert.deepEqual(shown(), [true, true, false])
    const rewind: Rewind = { from: 1, to: 1, restored: 'undo' }
    const notice = { kind: 'notice', id: 'n', turn: 1, severity: 'info', title: 'Restored', rewind }
    state.entries.push(notice)
    assert.deepEqual(shown(), [true, true, true])
    state.entries[0] = { ...notice, rewind: { ...rewind, withdrawn: true } }
    assert.deepEqual(shown(), [true, true, false])
    controller.current = undefined
    assert.deepEqual(shown(), [false, false, false])
  })

  it('are checked once for changes that arrive together', async () => {
    controller.current = { session }
    state.turn = 0
    shown()
    let checks = 0
    Object.defineProperty(session, 'state', {
      configurable: true,
      get: () => {
        checks++
        return state
      },
    })
    state.turn = 2
    for (let i = 0; i < 100; i++) change.fire()
    await new Promise(setImmediate)
    assert.ok(checks > 0 && checks < 20, `${checks} reads`)
    assert.equal(keys.get(ContextKey.hasPrompts), true)
  })
})
