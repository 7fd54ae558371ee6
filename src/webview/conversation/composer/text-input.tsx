import { isolateHistory } from '@codemirror/commands'
import type { EditorState, TransactionSpec } from '@codemirror/state'
import { effect } from '@preact/signals'
import type { Ref } from 'preact'
import { useImperativeHandle, useLayoutEffect, useRef } from 'preact/hooks'
import type { Attachment } from '../../../bridge/conversation.ts'
import { wordsFor } from '../../../common/draft.ts'
import { type Draft, sameChips, type WrittenDraft } from './draft.ts'
import { type EditorAppearance, type EditorContent, TextEditor } from './input/editor.ts'
import { Chips, putChip } from './input/mentions.ts'

/** The composer's interface to its text field. */
export interface TextInputHandle {
  focus(): void
  /** Replaces everything and moves the cursor to `caret`, by default the end. Can be undone. */
  setText(draft: WrittenDraft, caret?: number): void
  /** Inserts text at the cursor. */
  insert(text: string): void
  /** Replaces a part of the text with a chip, or inserts the chip at the cursor, surrounded by spaces. */
  insertChip(item: Attachment, range?: { from: number; to: number }): void
  replace(range: { from: number; to: number }, text: string): void
  /** Replaces a chip with its text. */
  unfold(id: string, text: string): void
  readonly caret: { start: number; end: number }
  /** id of the chip next to the cursor */
  readonly chipAtCaret: string | undefined
}

/** Maps an offset to the text after a change; `side` determines its side of an insertion at that offset. */
export interface Moves {
  mapPos(place: number, side: -1 | 1): number
}

interface TextInputProps {
  draft: Draft
  placeholder: string
  /** the complete text for screen readers, since the space may be too small */
  wholePlaceholder: string
  label: string
  /** the ids of an open completion list and its selected row */
  completion: { list: string; row: string } | undefined
  /** The user or a completion changed the text. */
  onInput: (moves: Moves) => void
  onCaret: (caret: number) => void
  /** Returns true if the key was handled. Not called for keys of an input method. */
  onKey: (event: KeyboardEvent) => boolean
  onPaste: (event: ClipboardEvent) => boolean
  /** A chip was double-clicked. */
  onOpen: (item: Attachment) => void
  handle: Ref<TextInputHandle>
}

type Content = Pick<WrittenDraft, 'text' | 'chips'>

/** Returns the content that was inserted before the current content, if nothing else changed. */
function addedBefore({ text, chips }: Content, now: Content): Content | undefined {
  const by = text.length - now.text.length
  if (by <= 0 || now.text === '' || !text.endsWith(now.text)) return undefined
  const before = chips.filter(chip => chip.to <= by)
  const shifted = now.chips.map(({ from, to, id }) => ({ from: from + by, to: to + by, id }))
  return sameChips(chips, [...before, ...shifted]) ? { text: text.slice(0, by), chips: before } : undefined
}

/** A text field that grows with its text, up to its container's limit. */
export function TextInput(props: TextInputProps) {
  const { draft } = props
  const parent = useRef<HTMLDivElement>(null)
  const editor = useRef<TextEditor | undefined>(undefined)
  const now = useRef(props)
  now.current = props
  const chips = useRef<Chips | undefined>(undefined)
  chips.current ??= new Chips({
    item: id => now.current.draft.item(id),
    open: item => now.current.onOpen(item),
  })
  const contentOf = ({ text, chips: ranges }: WrittenDraft): EditorContent => ({
    text,
    extension: chips.current!.extension(ranges),
  })

  useLayoutEffect(() => {
    let showing = false
    const text = new TextEditor(parent.current!, appearanceOf(now.current), contentOf(draft.content.peek()), {
      onKey: event => now.current.onKey(event),
      onPaste: event => now.current.onPaste(event),
      onUpdate({ changes, docChanged, selectionSet, state, transactions }) {
        const chipped = transactions.some(one => one.effects.some(effect => effect.is(putChip)))
        if (docChanged || chipped) {
          now.current.draft.write(state.doc.toString(), chips.current!.in(state))
          if (!showing) now.current.onInput(changes)
        }
        if (docChanged || selectionSet) now.current.onCaret(state.selection.main.head)
      },
    })
    editor.current = text
    // apply external changes (another conversation's draft, a sent or returned prompt) synchronously, since the next key
    // is meant for the new content
    const stop = effect(() => {
      const content = draft.content.value
      const { state } = text.view
      const shown = chips.current!.in(state)
      if (state.doc.toString() === content.text && sameChips(shown, content.chips)) return
      showing = true
      const added = addedBefore(content, { text: state.doc.toString(), chips: shown })
      if (added)
        text.putBefore(
          added.text,
          added.chips.map(range => putChip.of(range)),
        )
      else text.reset(contentOf(content))
      showing = false
    })
    return () => {
      stop()
      text.view.destroy()
    }
  }, [])

  const { placeholder, wholePlaceholder, label } = props
  const row = props.completion?.row
  useLayoutEffect(() => {
    editor.current?.changeAppearance(appearanceOf(now.current))
  }, [placeholder, wholePlaceholder, label, row])

  useImperativeHandle(props.handle, () => handleOf(() => editor.current, draft, chips.current!), [])
  return <div ref={parent} class="composer-text" />
}

/** Creates the interface of the text field. `editor` returns `undefined` before the editor is rendered. */
function handleOf(editor: () => TextEditor | undefined, draft: Draft, chips: Chips): TextInputHandle {
  return {
    focus: () => editor()?.view.focus(),
    setText({ text, chips: ranges, items }, caret = text.length) {
      for (const item of items) draft.introduce(item)
      const view = editor()?.view
      view?.dispatch({
        changes: { from: 0, to: view.state.doc.length, insert: text },
        effects: ranges.map(range => putChip.of(range)),
        selection: { anchor: caret },
        scrollIntoView: true,
      })
    },
    insert(text) {
      const view = editor()?.view
      view?.dispatch(view.state.replaceSelection(text), { userEvent: 'input.type', scrollIntoView: true })
    },
    insertChip(item, range) {
      const view = editor()?.view
      if (!view) return
      draft.introduce(item)
      const { from, to } = range ?? view.state.selection.main
      const { doc } = view.state
      const words = wordsFor(item.label)
      const before = from > 0 && !/\s/.test(doc.sliceString(from - 1, from)) && !range ? ' ' : ''
      const after = /\s/.test(doc.sliceString(to, to + 1)) ? '' : ' '
      const start = from + before.length
      const end = start + words.length
      view.dispatch({
        changes: { from, to, insert: `${before}${words}${after}` },
        effects: putChip.of({ from: start, to: end, id: item.id }),
        ...caretBehind(view.state, { from, to }, end + 1),
        userEvent: 'input.complete',
        // a separate undo step, however quickly the user continues
        annotations: isolateHistory.of('full'),
      })
    },
    replace({ from, to }, text) {
      const view = editor()?.view
      view?.dispatch({
        changes: { from, to, insert: text },
        ...caretBehind(view.state, { from, to }, from + text.length),
        userEvent: 'input.complete',
      })
    },
    unfold(id, text) {
      const view = editor()?.view
      const chip = view && chips.in(view.state).find(one => one.id === id)
      if (chip) view.dispatch({ changes: { from: chip.from, to: chip.to, insert: text } })
    },
    get caret() {
      const { from = 0, to = 0 } = editor()?.view.state.selection.main ?? {}
      return { start: from, end: to }
    },
    get chipAtCaret() {
      const state = editor()?.view.state
      const at = state?.selection.main.head
      return state && chips.in(state).find(({ from, to }) => from === at || to === at)?.id
    },
  }
}

/** Returns the selection after a range is replaced: the cursor at `end`, unless the user has moved it elsewhere. */
function caretBehind(
  { selection: { main } }: EditorState,
  { from, to }: { from: number; to: number },
  end: number,
): Pick<TransactionSpec, 'selection' | 'scrollIntoView'> {
  const isElsewhere = main.to < from || main.from > to
  return isElsewhere ? {} : { selection: { anchor: end }, scrollIntoView: true }
}

function appearanceOf({
  placeholder,
  wholePlaceholder,
  label,
  completion,
}: TextInputProps): EditorAppearance {
  return {
    placeholder,
    attributes: {
      'aria-label': label,
      'aria-placeholder': wholePlaceholder,
      'aria-autocomplete': 'list',
      spellcheck: 'true',
      autocorrect: 'on',
      autocapitalize: 'sentences',
      ...(completion && { 'aria-controls': completion.list, 'aria-activedescendant': completion.row }),
    },
  }
}
