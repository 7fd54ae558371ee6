import { signal } from '@preact/signals'
import { t } from '../../l10n.ts'
import { controlKey } from '../../ui/control-key.ts'

/** The key that sends a prompt; the other key inserts a line break. The host stores it in the settings. */
export const sendKey = signal<'enter' | 'ctrlEnter'>('enter')

/** Returns the effect of Enter with these modifiers: `now` sends into the running turn; `undefined` inserts a line break. */
export function sendsOn({
  ctrlKey,
  metaKey,
  shiftKey,
}: Pick<KeyboardEvent, 'ctrlKey' | 'metaKey' | 'shiftKey'>): 'send' | 'now' | undefined {
  const control = ctrlKey || metaKey
  if (sendKey.value === 'enter') return shiftKey ? undefined : control ? 'now' : 'send'
  return !control ? undefined : shiftKey ? 'now' : 'send'
}

export function sendTitle(): string {
  return sendKey.value === 'enter' ? t('Send (Enter)') : t('Send ({0}+Enter)', controlKey())
}

export function queueTitle(): string {
  return sendKey.value === 'enter' ? t('Queue (Enter)') : t('Queue ({0}+Enter)', controlKey())
}

export function sendNowTitle(): string {
  return t('Send Now ({0}+Enter)', nowKey())
}

export function stopAndSendTitle(): string {
  return t('Stop and Send ({0}+Enter)', nowKey())
}

function nowKey(): string {
  return sendKey.value === 'enter' ? controlKey() : `${controlKey()}+Shift`
}
