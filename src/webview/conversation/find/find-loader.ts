import { type Signal, signal } from '@preact/signals'
import type { MessageConnection } from 'vscode-jsonrpc/browser'
import { FindResults, ShowFind } from '../../../views/bridge/conversation.ts'
import { HeldKeys } from './held-keys.ts'
import type { FindModel } from './model.ts'
import type { FindContext } from './reveal.ts'

/**
 * Loads find on first use, and meanwhile holds what is typed. A conversation without a search pays nothing
 * for it.
 */
export class FindLoader {
  /** what is typed before the widget is there */
  readonly held: HeldKeys
  readonly #model: Signal<FindModel | undefined> = signal(undefined)
  readonly #context: FindContext

  constructor(context: FindContext) {
    this.#context = context
    this.held = new HeldKeys(text => typeInto(context, text))
  }

  /** Once it was asked for. */
  get model(): FindModel | undefined {
    return this.#model.value
  }

  /** The widget that is on the screen. */
  get shown(): FindModel | undefined {
    const model = this.#model.peek()
    return model?.isOpen.peek() ? model : undefined
  }

  /** Opens the widget with what is selected in the conversation, or puts the cursor into it. */
  async open(): Promise<void> {
    // an empty view has nothing to look in
    if (!document.querySelector('.transcript')) {
      this.held.flush()
      return
    }
    this.held.expect()
    // where they came from, and what they had selected, may be gone once it is loaded
    const before = document.activeElement
    const selected = selectedText()
    const model = this.#model.peek() ?? (await this.#load())
    if (model) model.open(selected, before)
    else this.held.flush()
  }

  async #load(): Promise<FindModel | undefined> {
    try {
      const { FindModel } = await import('./model.ts')
      this.#model.value ??= new FindModel(this.#context, this.held)
    } catch {
      // the page itself came from the same folder: what was typed is not lost, and the next try may do
    }
    return this.#model.peek()
  }
}

/** Types where the focus is, else into the composer. */
function typeInto(context: FindContext, text: string): void {
  const { activeElement } = document
  if (activeElement instanceof HTMLInputElement && activeElement.type === 'text') {
    const { selectionStart, selectionEnd, value } = activeElement
    activeElement.setRangeText(text, selectionStart ?? value.length, selectionEnd ?? value.length, 'end')
    activeElement.dispatchEvent(new Event('input', { bubbles: true }))
  } else context.composer.current?.type(text)
}

/** One line that is selected in the conversation, as VS Code's own find takes it. */
function selectedText(): string {
  const selection = getSelection()
  const anchor = selection?.anchorNode
  const inside = (anchor instanceof Element ? anchor : anchor?.parentElement)?.closest('.transcript')
  const text = inside ? (selection?.toString() ?? '') : ''
  return text.length <= 500 && !text.includes('\n') ? text : ''
}

export function listenFind(connection: MessageConnection, find: FindLoader): void {
  connection.onNotification(ShowFind, () => void find.open())
  const hold = (event: KeyboardEvent) => {
    if (!find.held.take(event)) return
    event.preventDefault()
    event.stopImmediatePropagation()
  }
  window.addEventListener('keydown', hold, { capture: true })
  connection.onNotification(FindResults, result => find.shown?.take(result))
}
