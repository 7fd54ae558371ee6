import * as esbuild from 'esbuild'
import { type DOMWindow, JSDOM } from 'jsdom'
import {
  AbstractMessageReader,
  AbstractMessageWriter,
  createMessageConnection,
  type DataCallback,
  type Disposable,
  type Message,
  type MessageConnection,
} from 'vscode-jsonrpc/node'
import { type AgentsHostMessages, agentsMessages } from '../../../../src/bridge/agents-messages.ts'
import { type Handlers, type HostArguments, pageMessages } from '../../../../src/bridge/contract.ts'
import {
  type ConversationHostMessages,
  conversationMessages,
} from '../../../../src/bridge/conversation-messages.ts'
import { type HistoryHostMessages, historyMessages } from '../../../../src/bridge/history-messages.ts'
import { PendingRequestAdder } from '../conversation/pending.ts'

type View = 'agents' | 'conversation' | 'history'
const bundles = new Map<View, Promise<string>>()

/** The real bundle of a view, as one script. */
function bundle(view: View): Promise<string> {
  let code = bundles.get(view)
  if (!code) {
    code = esbuild
      .build({
        entryPoints: [`src/webview/${view}/main.tsx`],
        bundle: true,
        write: false,
        format: 'iife',
        platform: 'browser',
        target: 'chrome128',
        jsx: 'automatic',
        jsxImportSource: 'preact',
        loader: { '.css': 'empty', '.ttf': 'empty' },
        // large, loaded on first use, and useless without layout
        external: ['katex', 'mermaid'],
        logLevel: 'error',
      })
      .then(({ outputFiles }) => outputFiles[0]!.text)
    bundles.set(view, code)
  }
  return code
}

/** All messages that pages can send. */
const messages = { ...pageMessages, ...agentsMessages, ...conversationMessages, ...historyMessages }
type Messages = typeof messages
/** All messages that pages can get. */
type Sent = ConversationHostMessages & HistoryHostMessages & AgentsHostMessages

/** A view in a page without layout, and the host's end of its bridge. */
export interface Page {
  readonly window: DOMWindow
  readonly document: Document
  readonly host: MessageConnection
  /** Sends the page a message, like the host. */
  send<N extends keyof Sent>(name: N, ...params: HostArguments<Sent[N]>): Promise<void>
  /** Listens to a message of the page, like the host: validated, with only the message's own keys. */
  hear<N extends keyof Messages>(name: N, handle: Handlers<Messages>[N]): void
  /** what the view stored with `setState` */
  readonly kept: { state: unknown }
  /** Waits until the condition is true; fails with the page's text after a while. */
  until(condition: () => unknown): Promise<void>
  key(target: EventTarget, key: string, more?: KeyboardEventInit): KeyboardEvent
  /** Replaces the text in the composer. */
  type(text: string): void
  /** The text in the composer. */
  readonly written: string
  close(): void
}

export async function openPage(
  view: View,
  options: { l10n?: Record<string, string>; state?: unknown; prepare?: (window: DOMWindow) => void } = {},
): Promise<Page> {
  const dom = new JSDOM(
    `<!DOCTYPE html><html lang="en"><body data-view="${view}"><div id="root"></div>` +
      `<script type="application/json" id="l10n">${JSON.stringify(options.l10n ?? {})}</script></body></html>`,
    { runScripts: 'outside-only', pretendToBeVisual: true, url: 'https://webview.test/' },
  )
  const { window } = dom
  const kept = { state: options.state }
  const hear = new Set<DataCallback>()
  Object.assign(window, {
    structuredClone,
    TextEncoder,
    TextDecoder,
    ResizeObserver: class {
      observe(): void {}
      unobserve(): void {}
      disconnect(): void {}
    },
    IntersectionObserver: class {
      observe(): void {}
      disconnect(): void {}
    },
    acquireVsCodeApi: () => ({
      postMessage: (message: Message) => {
        const copy = JSON.parse(JSON.stringify(message))
        setImmediate(() => {
          for (const callback of hear) callback(copy)
        })
      },
      getState: () => kept.state,
      setState: (state: unknown) => {
        kept.state = state
      },
    }),
  })
  window.HTMLElement.prototype.scrollIntoView = () => undefined
  // the editor requests positions, which don't exist without layout
  window.Range.prototype.getClientRects = () => [] as unknown as DOMRectList
  window.Range.prototype.getBoundingClientRect = () => new window.DOMRect()

  // jsdom reports every look at a pseudo-element as an error
  const computedStyle = window.getComputedStyle
  window.getComputedStyle = element => computedStyle.call(window, element)

  class Reader extends AbstractMessageReader {
    listen(callback: DataCallback): Disposable {
      hear.add(callback)
      return { dispose: () => hear.delete(callback) }
    }
  }
  const pending = new PendingRequestAdder()
  class Writer extends AbstractMessageWriter {
    async write(message: Message): Promise<void> {
      const data = JSON.parse(JSON.stringify(message))
      if (data.method === 'conversation/snapshot') data.params = pending.snapshot(data.params)
      else if (data.method === 'conversation/patch') data.params = pending.patch(data.params)
      window.dispatchEvent(new window.MessageEvent('message', { data }))
    }
    end(): void {}
  }
  const host = createMessageConnection(new Reader(), new Writer())
  host.listen()
  options.prepare?.(window)
  window.eval(await bundle(view))

  const { document } = window
  const editor = () => document.querySelector<HTMLElement>('.cm-content')!
  const page: Page = {
    window,
    document,
    host,
    send: (name, ...params) => host.sendNotification(name, ...params),
    kept,
    hear(name, handle) {
      const message = messages[name]
      const heard = handle as (params: unknown) => unknown
      if ('answer' in message) host.onRequest(name, (params: unknown) => heard(message.params.parse(params)))
      else host.onNotification(name, (params: unknown) => void heard(message.parse(params)))
    },
    async until(condition) {
      // limited by iterations instead of time, of which the page gets little on a busy machine
      for (let turn = 0; !condition(); turn++) {
        if (turn > 4000) throw new Error(`Never became true: ${condition}\n${document.body.textContent}`)
        await new Promise(resolve => setTimeout(resolve, 5))
      }
    },
    key(target, key, more = {}) {
      const event = new window.KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...more })
      target.dispatchEvent(event)
      return event
    },
    type(text) {
      const area = editor()
      area.focus()
      page.key(area, 'a', { ctrlKey: true, keyCode: 65 })
      if (text === '') return void page.key(area, 'Delete', { keyCode: 46 })
      const event = new window.Event('paste', { bubbles: true, cancelable: true })
      const data = {
        getData: (type: string) => (type === 'text/plain' ? text : ''),
        types: ['text/plain'],
        files: [],
      }
      area.dispatchEvent(Object.assign(event, { clipboardData: data }))
    },
    get written() {
      const lines = [...editor().querySelectorAll('.cm-line')].map(line => line.cloneNode(true) as Element)
      for (const line of lines) line.querySelector('.cm-placeholder')?.remove()
      return lines.map(line => line.textContent).join('\n')
    },
    close() {
      host.dispose()
      window.close()
    },
  }
  return page
}
