import { effect } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { ContentBlock } from '../../../acp/model.ts'
import type { ConversationHead, EditedEntry, EditOptions } from '../../../bridge/conversation.ts'
import { draftOf } from '../../../common/draft.ts'
import { messageOf } from '../../../common/errors.ts'
import type { MessageEntry } from '../../../conversation/state.ts'
import { t } from '../../l10n.ts'
import { IconButton } from '../../ui/button.tsx'
import { hasModifier } from '../../ui/control-key.ts'
import { announce } from '../../ui/live-region.tsx'
import { fitAttachments, receiverOf } from '../composer/attach.ts'
import { AddMenu, Attachments } from '../composer/attachments.tsx'
import { Draft, itemFromBlock, type WrittenDraft } from '../composer/draft.ts'
import { sendsOn, sendTitle, stopAndSendTitle } from '../composer/send-key.ts'
import { TextInput, type TextInputHandle } from '../composer/text-input.tsx'
import { useAttach } from '../composer/use-attach.ts'
import { useCompletion } from '../composer/use-completion.tsx'
import { type App, editKey, useApp } from '../context.ts'
import type { EntrySlot } from '../slot.ts'

/** A prompt that is edited: the host stores it with every change. */
interface Edit {
  at: EditedEntry
  draft: Draft
  /** the prompt as sent */
  original: WrittenDraft
  /** the same edit before a replay has moved its prompt to another entry; the host may not have got the last keys */
  before: Edit | undefined
  /** where the cursor is, or was when the editor was removed, unless the focus is elsewhere now */
  caret(): number | undefined
  /** No later change is stored. */
  stop(): void
}

/** Maximum number of edits whose last keys are remembered. */
const MAX_EDITS = 100
/** Edits of several prompts, and of earlier rounds, since their editors can be shown elsewhere then. */
const edits = new Map<string, Edit>()
/** the edited prompt that has had the focus */
let focused = ''

const nowhere = () => undefined

function nameOf({ round, entryId }: EditedEntry): string {
  return `${round} ${entryId}`
}

const NOTHING = Promise.resolve()

function isWritten(block: ContentBlock): boolean {
  return !('agentOnly' in block && block.agentOnly)
}

function editOf(app: App, key: string, entry: MessageEntry): Edit {
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

/** Stores the draft of a prompt until the returned function is called. */
function store({ host, store }: App, draft: Draft, edit: EditedEntry): () => void {
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

/** A prompt of the conversation while the user edits it, with the choices about later turns. */
export function PromptEditor({ slot }: { slot: EntrySlot }) {
  const app = useApp()
  const { store, host } = app
  const key = editKey(store, slot.id)
  const edit = editOf(app, key, slot.entry.value as MessageEntry)
  const { at, draft, original } = edit
  const { current: isRecalled } = useRef(app.recalled === key)
  const blocked = blockedBecause(store.head.value)
  const input = useRef<TextInputHandle>(null)
  const area = useRef<HTMLDivElement>(null)
  /** drops are the composer's */
  const noArea = useRef<HTMLElement>(null)
  const [note, setNote] = useState('')
  const [isSending, setSending] = useState(false)
  /** The user wants to send it as soon as the running turn is stopped. */
  const [isStopping, setStopping] = useState(false)
  const sending = useRef(false)
  const [options, setOptions] = useState<EditOptions>()
  const fail = (text: string) => {
    setNote(text)
    announce(text)
  }
  const { attachRow, attach, onPaste } = useAttach({ draft, input, area: noArea, onFail: fail })
  const completion = useCompletion({
    draft,
    input,
    commands: store.head.value?.commands ?? [],
    // a mention at the end of the prompt opens no list until the user types
    isRecalled: () => draft.text.peek() === original.text,
    onAttach: attachRow,
  })
  const { activity, phase } = store.head.value ?? {}
  const isIdle = activity === 'idle'
  useEffect(() => {
    // the changes of a turn are known when it ends; an agent that doesn't run leaves no choice
    if (!isIdle) return
    host.request('conversation/editOptions', { entryId: slot.id }).then(
      // choices that the user has made meanwhile stay
      options =>
        setOptions(before => {
          if (!options) return undefined
          const { restores, forgets } = before ?? options
          return { ...options, restores, forgets }
        }),
      () => {},
    )
  }, [host, slot, isIdle, phase])
  useLayoutEffect(() => {
    const caret = edit.before?.caret()
    if (focused !== key) {
      // puts the cursor at the end
      input.current?.setText(draft.content.peek())
      input.current?.focus()
    } else if (caret !== undefined) {
      input.current?.setText(draft.content.peek(), caret)
      input.current?.focus()
    }
    focused = key
    const text = area.current?.querySelector('.composer-text')
    edit.caret = () => (text?.contains(document.activeElement) ? input.current?.caret.start : undefined)
    return () => {
      const last = edit.caret()
      edit.caret = () => (document.activeElement === document.body ? last : undefined)
    }
  }, [edit, draft, key])

  const cancel = () => {
    const row = area.current?.closest('.row')
    cancelEdit(app, at)
    if (isRecalled) app.composer.current?.focus()
    else focusPencil(row, 30)
  }
  const send = (hasStopped = false) =>
    completion.afterChoice(async () => {
      // as it is now, since a user may press Enter before a change is rendered
      if (draft.isEmpty.peek() || sending.current || blockedBecause(store.head.peek())) return
      sending.current = true
      setSending(true)
      try {
        // the edit needs the user's last choices
        const chosen = options ?? (await host.request('conversation/editOptions', { entryId: slot.id }))
        const { restores = false, forgets = true } = chosen ?? {}
        // not what came after it if the agent exited instead of stopping
        const isSetAside = !hasStopped && chosen?.isSetAside === true
        const edited = { id: crypto.randomUUID(), draft: draft.content.peek(), restores, forgets, isSetAside }
        if (await host.request('conversation/resendEdited', { edit: at, edited })) {
          finish(app, at)
          app.composer.current?.focus()
          app.list.toEnd()
        }
      } catch (error) {
        fail(messageOf(error))
      } finally {
        sending.current = false
        setSending(false)
      }
    })
  const canStop = !isIdle && store.head.value?.queue.length === 0
  const stopAndSend = () => {
    if (draft.isEmpty.peek() || isStopping) return
    setStopping(true)
    host.send('conversation/cancel')
  }
  useEffect(() => {
    if (!isStopping || !isIdle) return
    setStopping(false)
    send(true)
  })
  const onKey = (event: KeyboardEvent): boolean => {
    if (completion.onKey(event)) return true
    if (event.key === 'Escape') {
      cancel()
      return true
    }
    if (event.key === 'ArrowUp' && !hasModifier(event) && app.recalled === key) {
      cancelEdit(app, at)
      app.composer.current?.recall()
      return true
    }
    const how = event.key === 'Enter' && !event.altKey && sendsOn(event)
    if (!how) return false
    if (how === 'now' && canStop) stopAndSend()
    else send()
    return true
  }
  return (
    <div ref={area} class="prompt-editor">
      {completion.list}
      <div class="composer">
        <Attachments items={draft.beside.value} onRemove={item => draft.detach(item.id)} onOpen={() => {}} />
        <TextInput
          handle={input}
          draft={draft}
          placeholder=""
          wholePlaceholder=""
          label={t('Edit Prompt')}
          completion={completion.aria}
          onInput={moves => {
            completion.onInput(moves)
            if (draft.text.peek() !== original.text) app.recalled = ''
            setNote('')
          }}
          onCaret={completion.onCaret}
          onKey={onKey}
          onPaste={onPaste}
          onOpen={item => void attach(fitAttachments([item], receiverOf(store.head.peek())))}
        />
        <div class="composer-bar">
          <AddMenu onAttach={attachRow} sendTo={undefined} />
          <div class="composer-end">
            <IconButton icon="close" label={t('Cancel (Escape)')} onClick={cancel} />
            <IconButton
              icon="send"
              class="send"
              label={canStop ? stopAndSendTitle() : (blocked ?? sendTitle())}
              // with the focus, it stays enabled until the agent stops
              disabled={draft.isEmpty.value || isSending || (blocked !== undefined && !canStop)}
              onClick={() => (canStop ? stopAndSend() : send())}
            />
          </div>
        </div>
      </div>
      {blocked ? (
        <div class="prompt-after" role="status">
          {isStopping ? t('Stopping') : blocked}
        </div>
      ) : (
        options && !options.isSetAside && <AfterIt options={options} onChange={setOptions} />
      )}
      {note && (
        <div class="composer-note error" role="alert">
          {note}
        </div>
      )}
    </div>
  )
}

/** The choices for the files and turns after the prompt. */
function AfterIt({ options, onChange }: { options: EditOptions; onChange: (options: EditOptions) => void }) {
  const { files, canForget, restores, forgets, agentName } = options
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for a form
    <div class="prompt-after" role="group" aria-label={t('What came after the prompt')}>
      {files > 0 && (
        <label>
          <select
            value={restores ? 'restore' : 'keep'}
            onChange={event => onChange({ ...options, restores: event.currentTarget.value === 'restore' })}
          >
            <option value="keep">{t('Keep files')}</option>
            <option value="restore">
              {files === 1 ? t('Restore 1 file') : t('Restore {0} files', files)}
            </option>
          </select>
        </label>
      )}
      {canForget ? (
        <label>
          <select
            value={forgets ? 'forget' : 'tell'}
            onChange={event => onChange({ ...options, forgets: event.currentTarget.value === 'forget' })}
          >
            <option value="forget">{t('{0} forgets what came after', agentName)}</option>
            <option value="tell">{t('{0} is told to disregard what came after', agentName)}</option>
          </select>
        </label>
      ) : (
        <span>{t("{0} can't forget what came after: it's told to disregard that", agentName)}</span>
      )}
    </div>
  )
}

/** Once the prompt is drawn again. */
function focusPencil(row: Element | null | undefined, frames: number): void {
  requestAnimationFrame(() => {
    const pencil = row?.querySelector<HTMLElement>('.row-actions button')
    if (pencil) pencil.focus()
    else if (frames > 0) focusPencil(row, frames - 1)
  })
}

/** Why an edited prompt can't be sent now. */
function blockedBecause(head: ConversationHead | undefined): string | undefined {
  if (!head || head.phase === 'loading' || head.phase === 'starting') return t('Preparing…')
  if (head.activity !== 'idle') return t('Stop the turn to send the edited prompt.')
  // the edited prompt would overtake queued prompts, or these would refer to the turns that it replaces
  if (head.queue.length > 0) return t('Send or remove the queued prompts first.')
  return undefined
}

/** Cancels the edit: the prompt stays unchanged. */
function cancelEdit(app: App, edit: EditedEntry): void {
  finish(app, edit)
  app.host.send('conversation/draftItems', { edit, items: [] })
  app.host.request('conversation/draft', { edit, text: '', chips: [] }).catch(() => {})
}

function finish(app: App, at: EditedEntry): void {
  const key = editKey(app.store, at.entryId)
  edits.get(nameOf(at))?.stop()
  edits.delete(nameOf(at))
  app.edits.delete(key)
  focused = ''
  app.recalled = ''
  if (app.editing.peek() === key) app.editing.value = ''
}
