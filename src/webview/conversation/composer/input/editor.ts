import { history } from '@codemirror/commands'
import {
  Compartment,
  EditorState,
  type Extension,
  Prec,
  RangeSetBuilder,
  type StateEffect,
  Transaction,
} from '@codemirror/state'
import {
  Decoration,
  type DecorationSet,
  EditorView,
  keymap,
  placeholder,
  ViewPlugin,
  type ViewUpdate,
} from '@codemirror/view'
import { textKeymap } from './keymap.ts'

/** The properties of the editor that can change. */
export interface EditorAppearance {
  placeholder: string
  /** attributes of the focusable element */
  attributes: Record<string, string>
}

export interface EditorEvents {
  /** Returns true if the key was handled. Not called for keys of an input method. */
  onKey(event: KeyboardEvent): boolean
  /** Returns true if the pasted content was handled. */
  onPaste(event: ClipboardEvent): boolean
  /** The text, its chips or the cursor changed. */
  onUpdate(update: ViewUpdate): void
}

const appearance = new Compartment()

/** The initial or new content of the editor. */
export interface EditorContent {
  text: string
  extension: Extension
}

/** A small plain text editor with undo, input methods and bidirectional text. */
export class TextEditor {
  readonly view: EditorView
  readonly #events: EditorEvents
  #appearance: EditorAppearance

  constructor(
    parent: HTMLElement,
    appearance: EditorAppearance,
    content: EditorContent,
    events: EditorEvents,
  ) {
    this.#events = events
    this.#appearance = appearance
    this.view = new EditorView({ parent, state: this.#state(content) })
  }

  /** Replaces the content and clears the undo history. */
  reset(content: EditorContent): void {
    this.view.setState(this.#state(content))
  }

  /** Inserts content at the start without affecting the cursor, the undo history or an input method's composition. */
  putBefore(text: string, effects: StateEffect<unknown>[]): void {
    const { main } = this.view.state.selection
    this.view.dispatch({
      changes: { from: 0, insert: text },
      effects,
      selection: { anchor: main.anchor + text.length, head: main.head + text.length },
      annotations: Transaction.addToHistory.of(false),
    })
  }

  changeAppearance(next: EditorAppearance): void {
    if (JSON.stringify(next) === JSON.stringify(this.#appearance)) return
    this.#appearance = next
    this.view.dispatch({ effects: appearance.reconfigure(extensionOf(next)) })
  }

  #state({ text, extension }: EditorContent): EditorState {
    const extensions = [
      appearance.of(extensionOf(this.#appearance)),
      Prec.highest(
        EditorView.domEventHandlers({
          keydown: (event, view) => {
            // 229: a key handled by an input method, for browsers that don't set isComposing for the last one
            if (event.isComposing || event.keyCode === 229 || view.composing) return false
            return this.#events.onKey(event)
          },
          paste: event => this.#events.onPaste(event),
        }),
      ),
      extension,
      history(),
      keymap.of(textKeymap),
      EditorView.lineWrapping,
      EditorView.perLineTextDirection.of(true),
      lineDirection,
      EditorView.cspNonce.of(nonceOfPage()),
      EditorView.updateListener.of(update => this.#events.onUpdate(update)),
    ]
    return EditorState.create({ doc: text, selection: { anchor: text.length }, extensions })
  }
}

function extensionOf({ placeholder: words, attributes }: EditorAppearance): Extension {
  // the first value of an attribute counts, so these attributes override the placeholder's `aria-placeholder`
  return [EditorView.contentAttributes.of(attributes), placeholder(words)]
}

/** Returns the page's nonce, without which the page accepts no style elements. */
function nonceOfPage(): string {
  return document.querySelector<HTMLScriptElement>('script[nonce]')?.nonce ?? ''
}

const autoDirection = Decoration.line({ attributes: { dir: 'auto' } })

/** Gives each line the text direction of its first letter. */
const lineDirection = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet
    constructor(view: EditorView) {
      this.decorations = directions(view)
    }
    update(update: ViewUpdate): void {
      if (update.docChanged || update.viewportChanged) this.decorations = directions(update.view)
    }
  },
  { decorations: plugin => plugin.decorations },
)

function directions(view: EditorView): DecorationSet {
  const builder = new RangeSetBuilder<Decoration>()
  for (const { from, to } of view.visibleRanges) {
    for (let at = from; at <= to; ) {
      const line = view.state.doc.lineAt(at)
      builder.add(line.from, line.from, autoDirection)
      at = line.to + 1
    }
  }
  return builder.finish()
}
