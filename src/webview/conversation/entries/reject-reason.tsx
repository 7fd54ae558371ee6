import { effect } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { PermissionOption } from '../../../acp/model.ts'
import type { PermissionEntry } from '../../../conversation/state.ts'
import { t } from '../../l10n.ts'
import { Button } from '../../ui/button.tsx'
import { type App, useApp } from '../context.ts'
import type { EntrySlot } from '../slot.ts'
import { dropUnsentAnswer, keepUnsentAnswer, returnReason, unsentReason } from '../unsent-answers.ts'

/** Requests whose answer is observed. */
const watched = new WeakSet<EntrySlot>()

/** Stores the typed reason. If the request is answered in another way, even while the popup is closed, the reason moves to the composer. */
function write(slot: EntrySlot, text: string, composer: App['composer']): void {
  const { requestId } = slot.entry.peek() as PermissionEntry
  keepUnsentAnswer(requestId, text)
  if (watched.has(slot)) return
  watched.add(slot)
  const stop = effect(() => {
    if (!(slot.entry.value as PermissionEntry).outcome) return
    queueMicrotask(() => stop())
    returnReason(requestId, composer)
  })
}

interface RejectReasonProps {
  slot: EntrySlot
  /** the option that rejects once */
  option: PermissionOption
  onAnswered: () => void
  onCancel: () => void
}

/** Rejects a request with a sentence, which becomes a prompt for the running turn, or the next one. */
export function RejectReason({ slot, option, onAnswered, onCancel }: RejectReasonProps) {
  const { host, composer } = useApp()
  const { requestId } = slot.entry.peek() as PermissionEntry
  const text = useRef<HTMLTextAreaElement>(null)
  useLayoutEffect(() => text.current?.focus(), [])
  const reject = () => {
    const reason = text.current?.value.trim()
    dropUnsentAnswer(requestId)
    host.send('conversation/permission', {
      requestId,
      optionId: option.optionId,
      ...(reason && { reason: { id: crypto.randomUUID(), text: reason } }),
    })
    onAnswered()
  }
  return (
    <>
      <textarea
        ref={text}
        class="reject-reason"
        placeholder={t('What should the agent do instead?')}
        aria-label={t('Reason')}
        dir="auto"
        onInput={event => write(slot, event.currentTarget.value, composer)}
        onKeyDown={event => {
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
          event.preventDefault()
          reject()
        }}
      >
        {unsentReason(requestId)}
      </textarea>
      <div class="popup-buttons">
        <Button primary onClick={reject}>
          {t('Reject')}
        </Button>
        <Button onClick={onCancel}>{t('Cancel')}</Button>
      </div>
    </>
  )
}
