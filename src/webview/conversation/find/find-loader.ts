import { type Signal, signal } from '@preact/signals'
import type { HostListeners } from '../../../bridge/contract.ts'
import type { ConversationHostMessages } from '../../../bridge/conversation-messages.ts'
import { HeldKeys } from './held-keys.ts'
import type { FindModel, WantedMatch } from './model.ts'
import type { FindContext } from './reveal.ts'

/** Loads find on first use, and queues typed keys meanwhile, so that conversations without a search don't load it. */
export class FindLoader {
  /** keys typed before the widget exists */
  readonly held: HeldKeys
  readonly #model: Signal<FindModel | undefined> = signal(undefined)
  readonly #context: FindContext

  constructor(context: FindContext) {
    this.#context = context
    this.held = new HeldKeys(text => typeInto(context, text))
  }

  /** The model, once it's loaded. */
  get model(): FindModel | undefined {
    return this.#model.value
  }

  /** The model while its widget is displayed. */
  get shown(): FindModel | undefined {
    const model = this.#model.peek()
    return model?.isOpen.peek() ? model : undefined
  }

  /**
   * Opens the widget with the selection in the conversation, or with a match that the user opened in History. Focuses the widget, unless a
   * match arrives so late that the user is already writing a prompt.
   */
  async open(match?: WantedMatch): Promise<void> {
    // an empty view has nothing to search
    if (!document.querySelector('.transcript')) {
      this.held.flush()
      return
    }
    if (!match) this.held.expect()
    // read the focus and selection now, since they may change while it's loading
    const before = document.activeElement
    const selected = selectedText()
    const model = this.#model.peek() ?? (await this.#load())
    const isWriting = match !== undefined && this.#context.composer.current?.isWriting === true
    if (model) model.open(selected, before, match, !isWriting)
    else this.held.flush()
  }

  async #load(): Promise<FindModel | undefined> {
    try {
      const { FindModel } = await import('./model.ts')
      this.#model.value ??= new FindModel(this.#context, this.held)
    } catch {
      // a failure is unlikely, since the page itself came from the same folder; the typed text is kept, and the next try may work
    }
    return this.#model.peek()
  }
}

/** Inserts text at the focus, else into the composer. */
function typeInto(context: FindContext, text: string): void {
  const { activeElement } = document
  if (activeElement instanceof HTMLInputElement && activeElement.type === 'text') {
    const { selectionStart, selectionEnd, value } = activeElement
    activeElement.setRangeText(text, selectionStart ?? value.length, selectionEnd ?? value.length, 'end')
    activeElement.dispatchEvent(new Event('input', { bubbles: true }))
  } else context.composer.current?.type(text)
}

/** Returns the selection in the conversation, if it's a single line, as in VS Code's find. */
function selectedText(): string {
  const selection = getSelection()
  const anchor = selection?.anchorNode
  const inside = (anchor instanceof Element ? anchor : anchor?.parentElement)?.closest('.transcript')
  const text = inside ? (selection?.toString() ?? '') : ''
  return text.length <= 500 && !text.includes('\n') ? text : ''
}

export function findListeners(find: FindLoader) {
  const hold = (event: KeyboardEvent) => {
    if (!find.held.take(event)) return
    event.preventDefault()
    event.stopImmediatePropagation()
  }
  window.addEventListener('keydown', hold, { capture: true })
  return {
    'find/show': ({ match }) => void find.open(match),
    'find/results': result => find.shown?.take(result),
  } satisfies Partial<HostListeners<ConversationHostMessages>>
}
