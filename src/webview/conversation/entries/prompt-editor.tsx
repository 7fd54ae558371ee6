import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { EditOptions } from '../../../bridge/conversation.ts'
import type { MessageEntry } from '../../../conversation/state.ts'
import { t } from '../../l10n.ts'
import { IconButton } from '../../ui/button.tsx'
import { hasModifier } from '../../ui/control-key.ts'
import { announce } from '../../ui/live-region.tsx'
import { fitAttachments, receiverOf } from '../composer/attach.ts'
import { AddMenu, Attachments } from '../composer/attachments.tsx'
import { sendsOn, sendTitle, stopAndSendTitle } from '../composer/send-key.ts'
import { TextInput, type TextInputHandle } from '../composer/text-input.tsx'
import { useAttach } from '../composer/use-attach.ts'
import { useCompletion } from '../composer/use-completion.tsx'
import { editKey, useApp } from '../context.ts'
import type { EntrySlot } from '../slot.ts'
import { cancelEdit, editOf, focusEdit } from './prompt-edits.ts'
import { useResend } from './use-resend.ts'

/** A prompt of the conversation while the user edits it, with the choices about later turns. */
export function PromptEditor({ slot }: { slot: EntrySlot }) {
  const app = useApp()
  const { store } = app
  const key = editKey(store, slot.id)
  const edit = editOf(app, key, slot.entry.value as MessageEntry)
  const { at, draft, original } = edit
  const { current: isRecalled } = useRef(app.recalled === key)
  const input = useRef<TextInputHandle>(null)
  const area = useRef<HTMLDivElement>(null)
  /** no element: dropped items go to the composer */
  const noArea = useRef<HTMLElement>(null)
  const [note, setNote] = useState('')
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
  const sending = useResend(edit, completion.afterChoice, fail)
  const { blocked, canStop, options } = sending
  useLayoutEffect(() => focusEdit(edit, key, input, area), [edit, key])

  const cancel = () => {
    const row = area.current?.closest('.row')
    cancelEdit(app, at)
    if (isRecalled) app.composer.current?.focus()
    else focusPencil(row, 30)
  }
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
    sending.send(how === 'now')
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
              // the button stays enabled until the agent stops, since a disabled button would lose the focus
              disabled={draft.isEmpty.value || sending.isSending || (blocked !== undefined && !canStop)}
              onClick={() => sending.send(true)}
            />
          </div>
        </div>
      </div>
      {blocked ? (
        <div class="prompt-after" role="status">
          {sending.isStopping ? t('Stopping') : blocked}
        </div>
      ) : (
        options && !options.isSetAside && <AfterIt options={options} onChange={sending.setOptions} />
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

/** Focuses the prompt's edit button, as soon as the prompt is drawn again. `frames`: how many frames to wait. */
function focusPencil(row: Element | null | undefined, frames: number): void {
  requestAnimationFrame(() => {
    const pencil = row?.querySelector<HTMLElement>('.row-actions button')
    if (pencil) pencil.focus()
    else if (frames > 0) focusPencil(row, frames - 1)
  })
}
