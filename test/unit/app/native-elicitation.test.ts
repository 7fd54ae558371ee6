import assert from 'node:assert/strict'
import type { ElicitationRequest } from '../../../src/acp/model.ts'
import type { NativePrompts } from '../../../src/workbench/native-elicitation.ts'
import { settle } from '../conversation/fake-agent.ts'
import { form } from '../conversation/updates.ts'
import { loadWithFakeVsCode } from './load-in-workbench.ts'

type Item = { action?: string }

/** The parts of VS Code that show requests: lists that stay until they are answered or their token is canceled. */
class Workbench {
  readonly dialogs: unknown[] = []
  readonly opened: string[] = []
  readonly lists: Array<{ pick: (action: string) => void; enter: () => void; closed: () => boolean }> = []

  readonly api = {
    CancellationTokenSource: class {
      readonly #source = new AbortController()
      readonly token = { signal: this.#source.signal }
      cancel(): void {
        this.#source.abort()
      }
      dispose(): void {}
    },
    QuickPickItemKind: { Separator: -1 },
    ProgressLocation: { Notification: 15 },
    Uri: { parse: (text: string) => text },
    env: { openExternal: async (uri: string) => this.opened.push(String(uri)) > 0 },
    window: {
      showQuickPick: (items: Item[], _options: unknown, token: { signal: AbortSignal }) =>
        new Promise<Item | undefined>(resolve => {
          let closed = false
          const close = (item?: Item) => {
            closed = true
            resolve(item)
          }
          token.signal.addEventListener('abort', () => close())
          if (token.signal.aborted) close()
          const pick = (action: string) => close(items.find(item => item.action === action))
          this.lists.push({ pick, enter: () => close(items[0]), closed: () => closed })
        }),
      withProgress: async () => {},
      showWarningMessage: async (...said: unknown[]) => void this.dialogs.push(said),
      showInformationMessage: async (...said: unknown[]) => void this.dialogs.push(said),
      showErrorMessage: async (...said: unknown[]) => void this.dialogs.push(said),
    },
  }
}

describe('requests outside of a session', () => {
  const visit: ElicitationRequest = {
    message: 'There',
    mode: 'url',
    elicitationId: 'v',
    url: 'https://example.com/',
  } as ElicitationRequest
  const question = { ...form(), sessionId: undefined } as unknown as ElicitationRequest
  let Prompts: typeof NativePrompts
  let workbench: Workbench
  let prompts: NativePrompts

  before(async () => {
    // the bundle keeps this object, whose content each test replaces
    const names = Object.keys(new Workbench().api) as Array<keyof Workbench['api']>
    const api = Object.defineProperties(
      {},
      Object.fromEntries(names.map(name => [name, { enumerable: true, get: () => workbench.api[name] }])),
    )
    const loaded = await loadWithFakeVsCode<{ NativePrompts: typeof NativePrompts }>(
      'workbench/native-elicitation.ts',
      api,
    )
    Prompts = loaded.NativePrompts
  })
  beforeEach(() => {
    workbench = new Workbench()
    prompts = new Prompts()
  })
  for (const [what, request] of [
    ['a form', question],
    ['an address', visit],
  ] as const) {
    it(`close with ${what} when they are canceled`, async () => {
      const withdrawn = new AbortController()
      const asked = prompts.ask('Agent', request, withdrawn.signal)
      await settle()
      assert.deepEqual(
        workbench.lists.map(list => list.closed()),
        [false],
      )
      withdrawn.abort()
      assert.deepEqual(await asked, { action: 'cancel' })
      assert.deepEqual(
        workbench.lists.map(list => list.closed()),
        [true],
      )
      assert.deepEqual([workbench.dialogs, workbench.opened], [[], []])
    })
  }

  it('are not accepted by an Enter that the user typed elsewhere, and are shown again', async () => {
    for (const request of [question, visit, { ...question, message: '', title: '', fields: [] }]) {
      const asked = prompts.ask('Agent', request as ElicitationRequest, new AbortController().signal)
      await settle()
      workbench.lists.at(-1)!.enter()
      await settle()
      workbench.lists.at(-1)!.pick('decline')
      assert.deepEqual(await asked, { action: 'decline' })
    }
    assert.deepEqual([workbench.lists.length, workbench.opened], [6, []])
  })

  it('open a URL if the user agrees, and never after they were canceled', async () => {
    const never = new AbortController().signal
    const agreed = prompts.ask('Agent', visit, never)
    await settle()
    workbench.lists[0]!.pick('accept')
    assert.deepEqual(await agreed, { action: 'accept' })
    assert.deepEqual(workbench.opened, ['https://example.com/'])

    const withdrawn = new AbortController()
    const late = prompts.ask('Agent', visit, withdrawn.signal)
    await settle()
    // the answer and the cancellation happen at the same time
    workbench.lists[1]!.pick('accept')
    withdrawn.abort()
    assert.deepEqual(await late, { action: 'cancel' })
    assert.deepEqual(workbench.opened, ['https://example.com/'])
    assert.deepEqual(workbench.dialogs, [])
  })

  it('are shown one after the other, and not at all if they are canceled before', async () => {
    const first = new AbortController()
    const second = new AbortController()
    const asked = [prompts.ask('Agent', visit, first.signal), prompts.ask('Agent', question, second.signal)]
    await settle()
    second.abort()
    first.abort()
    assert.deepEqual(await Promise.all(asked), [{ action: 'cancel' }, { action: 'cancel' }])
    assert.equal(workbench.lists.length, 1)
  })
})
