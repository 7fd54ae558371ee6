import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import * as vscode from 'vscode'
import type {
  ChangedFiles,
  ConversationHead,
  ConversationPatch,
  ConversationSnapshot,
} from '../../src/bridge/conversation.ts'
import type { ConversationMessages } from '../../src/bridge/conversation-messages.ts'
import { textOf } from '../../src/conversation/blocks.ts'
import type { Entry } from '../../src/conversation/state.ts'
import { waitFor } from '../host/wait-for.ts'

interface RpcMessage {
  method?: string
  params?: unknown
}

/** What the extension that runs the suite records of Parley's page in the side bar; see its `main.cjs`. */
interface Created {
  messages: RpcMessage[]
  toHost?(message: unknown): void
  onMessage: ((message: RpcMessage) => void) | undefined
}

/**
 * The conversation in the side bar of the installed Parley: what its page is told, and what a click in it would send. For
 * the tests of the `describe` that creates it.
 */
export class SideBar {
  head: Partial<ConversationHead> = {}
  /** those that the page has, by index */
  entries: Entry[] = []
  /** the files in the bar above the composer */
  changed: ChangedFiles | undefined
  #created!: Created
  #requests = 0

  constructor() {
    before(async () => {
      const host = vscode.extensions.getExtension<{ created: Created }>('parley-tests.parley-test-host')!
      this.#created = (await host.activate()).created
      for (const message of this.#created.messages) this.#take(message)
      this.#created.onMessage = message => this.#take(message)
    })
    after(() => {
      this.#created.onMessage = undefined
    })
  }

  /** Resolves when a new session is displayed, which an earlier one may look like. */
  async startSession(agentId: string): Promise<void> {
    const before = this.head.key
    await vscode.commands.executeCommand('parley.newSessionWithAgent', agentId)
    await waitFor('the new session', () => {
      const { key, agent, phase } = this.head
      return key !== before && agent?.agentId === agentId && phase === 'ready'
    })
  }

  enqueue(text: string): void {
    const id = `side-bar-${++this.#requests}`
    this.send('conversation/enqueue', { id, draft: { text, chips: [], items: [] } }, id)
  }

  /** Sends a message about the displayed conversation, as a click in the page does. */
  send(method: keyof ConversationMessages, params: object = {}, id?: string): void {
    const { key } = this.head
    this.#created.toHost?.({
      jsonrpc: '2.0',
      method,
      params: { key, ...params },
      ...(id !== undefined && { id }),
    })
  }

  /** Resolves when the agent has said this and its turn is over. */
  async said(text: string): Promise<void> {
    await waitFor(`the message “${text}” and the end of its turn`, () => {
      const isSaid = this.entries.some(
        entry => entry?.kind === 'message' && entry.role !== 'user' && textOf(entry.blocks).includes(text),
      )
      return isSaid && this.head.activity === 'idle'
    })
  }

  /** The last displayed entry of a kind. */
  async last(what: string, is: (entry: Entry) => boolean): Promise<Entry> {
    return waitFor(what, () => this.entries.findLast(entry => entry && is(entry)))
  }

  #take({ method, params }: RpcMessage): void {
    if (method === 'conversation/snapshot') {
      const { head, entries, first } = params as ConversationSnapshot
      this.head = head
      this.entries = []
      for (const [index, entry] of entries.entries()) this.entries[first + index] = structuredClone(entry)
    } else if (method === 'conversation/patch') this.#patch(params as ConversationPatch)
    else if (method === 'changes/shown') this.changed = params as ChangedFiles
  }

  #patch({ ops }: ConversationPatch): void {
    for (const op of ops) {
      if (op.op === 'head') {
        this.head = { ...this.head, ...op.head }
        for (const key of op.cleared ?? []) delete this.head[key]
      } else if (op.op === 'entry') this.entries[op.index] = structuredClone(op.entry)
      else if (op.op === 'text') {
        const entry = this.entries.find(entry => entry?.id === op.id)
        const block = entry?.kind === 'message' ? entry.blocks[op.block] : undefined
        if (block?.type === 'text') block.text += op.text
      }
    }
  }
}

/** A message of Parley with buttons, which waits for the user. */
interface Question {
  text: string
  detail?: string
  buttons: string[]
  answer: (button: string | undefined) => void
}

const KINDS = ['showInformationMessage', 'showWarningMessage', 'showErrorMessage'] as const

/**
 * Answers what the installed Parley asks in notifications and modal dialogs, since VS Code shows neither while it runs
 * tests. For the tests of the `describe` that creates it; those that a test didn't answer are closed after it.
 */
export class Questions {
  #open: Question[] = []
  #restore: Array<() => void> = []

  constructor() {
    before(async () => {
      const { window } = await parleysApi()
      for (const kind of KINDS) {
        const original = window[kind]
        const replaced = { [kind]: (text: string, ...rest: unknown[]) => this.#ask(text, rest) }
        Object.assign(window, replaced)
        assert.notEqual(window[kind], original)
        this.#restore.push(() => Object.assign(window, { [kind]: original }))
      }
    })
    afterEach(() => {
      for (const { answer } of this.#open.splice(0)) answer(undefined)
    })
    after(() => {
      for (const restore of this.#restore) restore()
    })
  }

  get unanswered(): string[] {
    return this.#open.map(({ text, detail }) => (detail === undefined ? text : `${text} (${detail})`))
  }

  /** Waits for the question with this text, in its message or its details, and presses the button, or closes it. */
  async answer(text: string, button?: string): Promise<void> {
    const has = (one: Question) => `${one.text}\n${one.detail}`.includes(text)
    const asked = await waitFor(`the question “${text}”`, () => this.#open.find(has)).catch(error => {
      throw new Error(`${error.message}, but: ${this.unanswered.join(' | ')}`)
    })
    if (button !== undefined) assert.ok(asked.buttons.includes(button), asked.buttons.join(', '))
    this.#open = this.#open.filter(one => one !== asked)
    asked.answer(button)
  }

  #ask(text: string, rest: unknown[]): Promise<string | undefined> {
    const [options] = rest as [{ detail?: string }?]
    const buttons = rest.filter(one => typeof one === 'string')
    const detail = typeof options === 'object' ? options.detail : undefined
    return new Promise(answer => {
      this.#open.push({ text, buttons, answer, ...(detail !== undefined && { detail }) })
    })
  }
}

/** The `vscode` of Parley's services: VS Code gives each extension its own, and older versions another one to ES modules. */
async function parleysApi(): Promise<typeof vscode> {
  const { extensionPath } = vscode.extensions.getExtension('parley.parley')!
  const file = join(extensionPath, 'dist', 'api-for-tests.mjs')
  writeFileSync(file, "export * from 'vscode'")
  return import(pathToFileURL(file).href)
}
