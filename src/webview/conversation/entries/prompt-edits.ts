import { effect } from '@preact/signals'
import type { RefObject } from 'preact'
import type { ContentBlock } from '../../../acp/model.ts'
import type { EditedEntry } from '../../../bridge/conversation.ts'
import { draftOf } from '../../../common/draft.ts'
import type { MessageEntry } from '../../../conversation/state.ts'
import { Draft, itemFromBlock, type WrittenDraft } from '../composer/draft.ts'
import type { TextInputHandle } from '../composer/text-input.tsx'
import { type App, editKey } from '../context.ts'

/** A prompt that is edited: the host stores it with every change. */
export interface Edit {
  at: EditedEntry
  draft: Draft
  /** the prompt as sent */
  original: WrittenDraft
  /** the same edit before a replay moved its prompt to another entry, since the host may not have received the last keys */
  before: Edit | undefined
  /** Returns the cursor's offset, or its last offset before the editor was removed; `undefined` if the focus is elsewhere now. */
  caret(): number | undefined
  /** Stops storing changes. */
  stop(): void
}

/** Maximum number of edits whose last keys are remembered. */
const MAX_EDITS = 100
/** The edits of prompts, also of earlier rounds, since a new round may show their prompts as other entries. */
const edits = new Map<string, Edit>()
/** the key of the edited prompt that had the focus last */
let focused = ''

const nowhere = () => undefined

function nameOf({ round, entryId }: EditedEntry): string {
  return `${round} ${entryId}`
}

const NOTHING = Promise.resolve()

function isWritten(block: ContentBlock): boolean {
  return !('agentOnly' in block && block.agentOnly)
}

/** Returns the edit of a prompt, or begins a new edit. `key`: as returned by `editKey`. */
export function editOf(app: EditsApp, key: string, entry: MessageEntry): Edit {
  const at = { round: app.editsRound, entryId: entry.id }
  const known = edits.get(nameOf(at))
  if (known) return known
  const draft = new Draft({
    saveText: () => NOTHING,
    saveItems: () => {},
    enqueue: () => NOTHING,
    movedToComposer: () => NOTHING,
  })
  const original = draftOf(entry.blocks.filter(isWritten), itemFromBlock)
  const stored = app.edits.get(key)
  const before = stored?.from && edits.get(nameOf(stored.from))
  if (before) {
    before.stop()
    before.before = undefined
  }
  draft.put(before?.draft.content.peek() ?? stored?.draft ?? original)
  // the focus stays in the composer after a reload
  if (stored) focused = key
  const edit: Edit = { at, draft, original, before, caret: nowhere, stop: store(app, draft, at) }
  edits.set(nameOf(at), edit)
  const [oldest] = edits.keys()
  if (edits.size > MAX_EDITS && oldest !== undefined) edits.delete(oldest)
  return edit
}

type EditsApp = Pick<App, 'editsRound' | 'edits' | 'host' | 'store'>

/** Stores the draft of a prompt until the returned function is called. */
function store({ host, store }: EditsApp, draft: Draft, edit: EditedEntry): () => void {
  const { key } = store
  let stored: readonly unknown[] = []
  return effect(() => {
    const { text, chips, items } = draft.content.value
    const ids = items.map(({ id }) => id)
    if (String(ids) !== String(stored)) host.send('conversation/draftItems', { key, edit, items })
    stored = ids
    host.request('conversation/draft', { key, edit, text, chips }).catch(() => {})
  })
}

/** Focuses the editor of a prompt, with the cursor where it was. Returns a function to call when the editor is removed. */
export function focusEdit(
  edit: Edit,
  key: string,
  input: RefObject<TextInputHandle | null>,
  area: RefObject<HTMLElement | null>,
): () => void {
  const caret = edit.before?.caret()
  if (focused !== key || caret !== undefined) {
    // in a prompt that is edited for the first time, the cursor is at the end
    input.current?.setText(edit.draft.content.peek(), focused === key ? caret : undefined)
    input.current?.focus()
  }
  focused = key
  const text = area.current?.querySelector('.composer-text')
  edit.caret = () => (text?.contains(document.activeElement) ? input.current?.caret.start : undefined)
  return () => {
    const last = edit.caret()
    edit.caret = () => (document.activeElement === document.body ? last : undefined)
  }
}

/** Cancels the edit: the prompt stays unchanged. */
export function cancelEdit(app: App, edit: EditedEntry): void {
  finishEdit(app, edit)
  app.host.send('conversation/draftItems', { edit, items: [] })
  app.host.request('conversation/draft', { edit, text: '', chips: [] }).catch(() => {})
}

export function finishEdit(app: App, at: EditedEntry): void {
  const key = editKey(app.store, at.entryId)
  edits.get(nameOf(at))?.stop()
  edits.delete(nameOf(at))
  app.edits.delete(key)
  focused = ''
  app.recalled = ''
  if (app.editing.peek() === key) app.editing.value = ''
}
