import { effect } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { PermissionOption } from '../../../acp/model.ts'
import type { PermissionEntry } from '../../../conversation/state.ts'
import { t } from '../../l10n.ts'
import { Button } from '../../ui/button.tsx'
import { type App, useApp } from '../context.ts'
import type { EntrySlot } from '../slot.ts'

/** What was written, while the popup is closed or its request is out of sight. */
const written = new WeakMap<EntrySlot, string>()

/** Keeps what was written. If the request is answered in another way, also while the popup is closed, it goes to the composer. */
function write(slot: EntrySlot, text: string, composer: App['composer']): void {
  const isFollowed = written.has(slot)
  written.set(slot, text)
  if (isFollowed) return
  const stop = effect(() => {
    if (!(slot.entry.value as PermissionEntry).outcome) return
    queueMicrotask(() => stop())
    const left = written.get(slot)
    written.delete(slot)
    if (left?.trim()) composer.current?.write([{ type: 'text', text: left }], true)
  })
}

interface RejectReasonProps {
  slot: EntrySlot
  /** the one that rejects once */
  option: PermissionOption
  onAnswered: () => void
  onCancel: () => void
}

/** Rejects a request with a sentence, which becomes a prompt for the running turn, or the next one. */
export function RejectReason({ slot, option, onAnswered, onCancel }: RejectReasonProps) {
  const { host, composer } = useApp()
  const text = useRef<HTMLTextAreaElement>(null)
  useLayoutEffect(() => text.current?.focus(), [])
  const reject = () => {
    const { requestId } = slot.entry.peek() as PermissionEntry
    const reason = text.current?.value.trim()
    written.delete(slot)
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
        {written.get(slot)}
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
