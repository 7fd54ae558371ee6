import { useEffect, useRef } from 'preact/hooks'
import type { PermissionOption } from '../../../acp/model.ts'
import type { PermissionEntry } from '../../../conversation/state.ts'
import { t } from '../../l10n.ts'
import { Button } from '../../ui/button.tsx'
import { useApp } from '../context.ts'
import type { EntrySlot } from '../slot.ts'

/** What was written, while the popup is closed or its request is out of sight. */
const written = new WeakMap<EntrySlot, string>()

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
  useEffect(() => {
    text.current?.focus()
    return () => {
      // answered in another way meanwhile
      const left = written.get(slot)
      if (!left?.trim() || !(slot.entry.peek() as PermissionEntry).outcome) return
      written.delete(slot)
      composer.current?.write([{ type: 'text', text: left }], true)
    }
  }, [slot, composer])
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
        onInput={event => written.set(slot, event.currentTarget.value)}
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
