import assert from 'node:assert/strict'
import { confirmSignOut } from '../../../src/app/ask-agent.ts'
import { providerCommands } from '../../../src/app/commands/provider-commands.ts'
import { ruleCommands } from '../../../src/app/commands/rule-commands.ts'
import { composerHandlers } from '../../../src/app/conversation/composer-handlers.ts'
import type { EditedPrompts } from '../../../src/app/conversation/edited-prompts.ts'
import { CommandId } from '../../../src/app/ids.ts'
import { SessionActions } from '../../../src/app/session-actions.ts'
import type { Dialogs, PickItem } from '../../../src/app/workbench.ts'
import { EMPTY_DRAFT } from '../../../src/common/draft.ts'
import type { StoredPrompt } from '../../../src/conversation/attachment.ts'
import { PromptQueue } from '../../../src/conversation/prompts/prompt-queue.ts'
import type { HistoryItem } from '../../../src/sessions/listing/history-item.ts'
import type { PermissionRule } from '../../../src/sessions/permission-rules/rule.ts'
import { settle } from '../conversation/fake-agent.ts'

/** Answers pickers by labels, in order; accepts the first item for `Enter`, and gives up after the last. Dialogs are canceled. */
function answering(...labels: string[]) {
  const asked: string[] = []
  const told: string[] = []
  let agrees = false
  const dialogs = {
    pick: async (items: readonly PickItem[]) => {
      const label = labels.shift()
      return label === 'Enter'
        ? items[0]
        : items.find(item => label !== undefined && item.label.includes(label))
    },
    confirm: async (text: string, _: unknown, button: string) => {
      asked.push(text)
      return agrees ? button : undefined
    },
    info: async (text: string) => void told.push(text),
    progress: async (_: unknown, work: () => Promise<unknown>) => work(),
  } as unknown as Dialogs
  return { dialogs, asked, told, agree: () => (agrees = true) }
}

describe('a list', () => {
  const rule = (action: PermissionRule['action']): PermissionRule => {
    const source = { action, command: 'npm test *' }
    return {
      ...source,
      scope: 'user',
      source,
      setting: 'parley.permissionRules',
    } as unknown as PermissionRule
  }
  const manageRules = async (action: PermissionRule['action'], user: ReturnType<typeof answering>) => {
    const replaced: unknown[] = []
    await ruleCommands({
      rules: { list: () => [rule(action)] },
      consent: { accept() {}, counts: () => true },
      settings: { replace: async (_: unknown, next: unknown) => void replaced.push(next) },
      session: () => undefined,
      nameOf: String,
      dialogs: user.dialogs,
    } as unknown as Parameters<typeof ruleCommands>[0])[CommandId.managePermissionRules]()
    return replaced
  }

  it('of permission rules changes nothing on Enter', async () => {
    for (const action of ['allow', 'ask', 'reject'] as const)
      assert.deepEqual(await manageRules(action, answering('Enter', 'Enter')), [])
    assert.equal((await manageRules('reject', answering('Enter', 'Allow'))).length, 1)
  })

  it('of permission rules removes one only if the user agrees', async () => {
    const user = answering('Enter', 'Remove', 'Enter', 'Remove')
    assert.deepEqual(await manageRules('allow', user), [])
    assert.equal(user.asked.length, 2)
    const agreed = answering('Enter', 'Remove')
    agreed.agree()
    assert.deepEqual(await manageRules('allow', agreed), [undefined])
  })

  const configure = async (user: ReturnType<typeof answering>, kept: object | undefined) => {
    const done: string[] = []
    const provider = {
      ...{ providerId: 'main', required: false, supported: ['openai'] },
      current: { apiType: 'openai', baseUrl: 'https://a.example' },
    }
    const agent = { capabilities: { providers: true }, listProviders: async () => [provider] }
    await providerCommands({
      surfaces: { active: { controller: { agentId: 'a' } } },
      agents: { list: () => [{ id: 'a', name: 'A' }] },
      runner: () => ({ name: 'A', ensure: async () => ({ agent }) }),
      providers: {
        get: async () => kept,
        disable: async () => void done.push('disable'),
        reset: async () => void done.push('reset'),
      },
      workbench: { isTrusted: true, dialogs: user.dialogs },
    } as unknown as Parameters<typeof providerCommands>[0])[CommandId.configureProviders]()
    return done
  }

  it('of providers deletes a stored key only if the user agrees', async () => {
    const kept = { apiType: 'openai', baseUrl: 'https://a.example', headers: { Authorization: 'key' } }
    for (const [label, done] of [
      ['Disable', 'disable'],
      ['Let the agent decide', 'reset'],
    ] as const) {
      const user = answering('main', label)
      assert.deepEqual(await configure(user, kept), [])
      assert.equal(user.asked.length, 1)
      const agreed = answering('main', label)
      agreed.agree()
      assert.deepEqual(await configure(agreed, kept), [done])
    }
    const nothing = answering('main', 'Disable')
    assert.deepEqual(await configure(nothing, undefined), ['disable'])
    assert.deepEqual(nothing.asked, [])
  })

  it('of sign-ins deletes one only if the user agrees', async () => {
    const user = answering()
    assert.equal(await confirmSignOut(user.dialogs, 'docs'), false)
    user.agree()
    assert.equal(await confirmSignOut(user.dialogs, 'docs'), true)
    assert.deepEqual(user.asked, ['Sign out of docs?', 'Sign out of docs?'])
  })

  it('of sessions ends a turn only if the user agrees', async () => {
    const end = async (action: 'close' | 'delete', user: ReturnType<typeof answering>, activity: string) => {
      const closed: unknown[] = []
      const state = { activity, title: 'Fix it', entries: [] }
      const session = { phase: 'ready', state, conversation: {} }
      const open = { session, isBusy: false, agentName: 'A' }
      const actions = new SessionActions({
        manager: { find: () => open, openSessions: { close: async (one: unknown) => void closed.push(one) } },
        surfaces: { showing: () => undefined },
        deleter: { mark: (item: unknown) => item },
        deletions: { mark() {} },
        history: { earlier: () => new Map() },
        workbench: { dialogs: user.dialogs },
      } as unknown as ConstructorParameters<typeof SessionActions>[0])
      const item = { agentId: 'a', sessionId: 's' } as HistoryItem
      await actions.act(action, item)
      const several = await actions.mayDelete([item, item])
      assert.equal(several, activity === 'idle' || closed.length > 0)
      return closed.length
    }
    for (const [action, question] of [
      ['close', 'Close Fix it?'],
      ['delete', 'Delete Fix it?'],
    ] as const) {
      const user = answering()
      assert.equal(await end(action, user, 'idle'), 1)
      assert.deepEqual(user.asked, [])
      assert.equal(await end(action, user, 'running'), 0)
      assert.deepEqual(user.asked, [question, 'Delete 2 sessions?'])
      user.agree()
      assert.equal(await end(action, user, 'running'), 1)
    }
  })

  it('of queued prompts gives a removed one back if the user undoes that', async () => {
    const queue = new PromptQueue('k')
    const draft = { ...EMPTY_DRAFT, text: 'An hour of writing' }
    queue.enqueue({ id: 'p', draft }, async () => [{ type: 'text', text: draft.text }])
    await settle()
    const undos: Array<() => Promise<void>> = []
    const handlers = composerHandlers(
      {
        controller: {
          key: 'k',
          prompts: { queue, giveBack: (_: string, prompt: StoredPrompt) => queue.addReturned([prompt]) },
        },
        comments: { promptRemoved() {} },
        changes: { decisions: { tell: (_: string, undo: () => Promise<void>) => void undos.push(undo) } },
        workbench: {},
      } as unknown as Parameters<typeof composerHandlers>[0],
      { show() {}, showAgain() {}, edits: {} as EditedPrompts },
    )
    await handlers['composer/removeQueued']({ key: 'k', id: 'p' })
    assert.deepEqual(queue.prompts, [])
    await undos[0]?.()
    assert.deepEqual(queue.returned, [{ id: 'p', draft }])
  })
})
