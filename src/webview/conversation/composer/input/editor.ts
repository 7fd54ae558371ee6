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

/** What of the editor changes while it lives. */
export interface EditorLook {
  placeholder: string
  /** attributes of the element that has the focus */
  attributes: Record<string, string>
}

export interface EditorEvents {
  /** Return true when the key was used. Not called for keys of an input method. */
  onKey(event: KeyboardEvent): boolean
  /** Return true when what is pasted was taken. */
  onPaste(event: ClipboardEvent): boolean
  /** The text, its chips or the caret changed. */
  onUpdate(update: ViewUpdate): void
}

const look = new Compartment()

/** What the editor holds at first, or anew. */
export interface EditorContent {
  text: string
  extension: Extension
}

/** A small editor of plain text: undo, input methods, any direction of writing. */
export class TextEditor {
  readonly view: EditorView
  readonly #events: EditorEvents
  #look: EditorLook

  constructor(parent: HTMLElement, look: EditorLook, content: EditorContent, events: EditorEvents) {
    this.#events = events
    this.#look = look
    this.view = new EditorView({ parent, state: this.#state(content) })
  }

  /** Begins anew with something else: what was done before cannot be undone there. */
  reset(content: EditorContent): void {
    this.view.setState(this.#state(content))
  }

  /** Inserts content at the start; the cursor, the undo history and an input method's composition stay. */
  putBefore(text: string, effects: StateEffect<unknown>[]): void {
    const { main } = this.view.state.selection
    this.view.dispatch({
      changes: { from: 0, insert: text },
      effects,
      selection: { anchor: main.anchor + text.length, head: main.head + text.length },
      annotations: Transaction.addToHistory.of(false),
    })
  }

  changeLook(next: EditorLook): void {
    if (JSON.stringify(next) === JSON.stringify(this.#look)) return
    this.#look = next
    this.view.dispatch({ effects: look.reconfigure(lookOf(next)) })
  }

  #state({ text, extension }: EditorContent): EditorState {
    const extensions = [
      look.of(lookOf(this.#look)),
      Prec.highest(
        EditorView.domEventHandlers({
          keydown: (event, view) => {
            // 229: a key that an input method has taken, in browsers that do not set isComposing for the last one
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

function lookOf({ placeholder: words, attributes }: EditorLook): Extension {
  return [placeholder(words), EditorView.contentAttributes.of(attributes)]
}

/** Styles are taken from this page only with its nonce, which its scripts have as well. */
function nonceOfPage(): string {
  return document.querySelector<HTMLScriptElement>('script[nonce]')?.nonce ?? ''
}

const autoDirection = Decoration.line({ attributes: { dir: 'auto' } })

/** Every line is written in the direction of its first letter. */
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
