import assert from 'node:assert/strict'
import { checkpointCommands } from '../../../src/app/commands/checkpoint-commands.ts'
import { navigationCommands } from '../../../src/app/commands/navigation-commands.ts'
import { CommandId } from '../../../src/app/ids.ts'
import type { PickItem } from '../../../src/app/workbench.ts'

/** A list for a conversation, of which the user picks an entry by its beginning; by then, its view may show another one. */
function picking(label: string, isReplaced: boolean, text = 'Fix it') {
  const done: unknown[] = []
  const picked: string[] = []
  const entry = { kind: 'message', role: 'user', id: 'e0', turn: 1, blocks: [{ type: 'text', text }] }
  const state = { entries: [entry], index: new Map(), terminals: new Map(), turn: 1 }
  const session = { state, conversation: {}, agent: { capabilities: {} } }
  const open = { agentId: 'a', agentName: 'A', key: 'a/s', session, plan: { setup: { cwd: '/' } } }
  const controller = {
    current: open as object,
    whole: async () => open,
    continueWith: async (agentId: string) => done.push(agentId) > 0,
  }
  const surface = {
    controller,
    isVisible: true,
    reveal: async () => {},
    // its page doesn't say what is in view
    sendToPage: (...message: unknown[]) => message[0] !== 'conversation/outline' && done.push(message) > 0,
  }
  const dialogs = {
    async pick(items: readonly PickItem[]) {
      if (isReplaced) controller.current = {}
      const found = items.find(item => item.label.startsWith(label))
      picked.push(found?.label ?? '')
      return found
    },
  }
  const options = {
    surfaces: { active: surface },
    workbench: { dialogs },
    agents: { list: () => [{ agentId: 'b', name: 'B' }] },
    earlierSession: () => undefined,
  } as unknown as Parameters<typeof navigationCommands>[0] & Parameters<typeof checkpointCommands>[0]
  return { done, picked, ...navigationCommands(options), ...checkpointCommands(options) }
}

describe('what is picked from a list of a conversation', () => {
  it('is the prompt that its view goes to, and none of another conversation', async () => {
    const shown = picking('1: ', false)
    await shown[CommandId.outline]()
    assert.deepEqual(shown.done, [['conversation/goTo', { index: 0 }]])
    const replaced = picking('1: ', true)
    await replaced[CommandId.outline]()
    assert.deepEqual(replaced.done, [])
  })

  it('is the agent that this conversation continues in, and not another one with its draft', async () => {
    const shown = picking('Continue with B', false)
    await shown[CommandId.continueSession]()
    assert.deepEqual(shown.done, ['b'])
    const replaced = picking('Continue with B', true)
    await assert.rejects(replaced[CommandId.continueSession](), /The conversation has changed/)
    assert.deepEqual(replaced.done, [])
  })

  it('is listed without half a character at the end', async () => {
    const long = picking('1: ', false, `${'x'.repeat(199)}😀`)
    await long[CommandId.outline]()
    assert.deepEqual(long.picked, [`1: ${'x'.repeat(199)}`])
  })
})
