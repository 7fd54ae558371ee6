import { t } from '../../l10n.ts'
import { IconButton } from '../../ui/button.tsx'
import { useApp } from '../context.ts'
import { queueTitle, sendNowTitle, sendTitle } from './send-key.ts'

interface SendButtonsProps {
  /** a turn runs, or waits for the user */
  isRunning: boolean
  /** the running turn can be added to */
  steers: boolean
  isEmpty: boolean
  /** why nothing can be sent now */
  blocked: string | undefined
  /** `now`: into the running turn */
  onSend(now?: boolean): void
}

/** Stop and Send, or what Send does while a turn runs. */
export function SendButtons({ isRunning, steers, isEmpty, blocked, onSend }: SendButtonsProps) {
  const { host } = useApp()
  return (
    <>
      {isRunning && (
        <IconButton
          icon="debug-stop"
          class="stop"
          label={t('Stop (Escape)')}
          onClick={() => host.send('conversation/cancel')}
        />
      )}
      {(!isRunning || !isEmpty) && (
        <IconButton
          icon={steers ? 'clockface' : 'send'}
          class={steers ? '' : 'send'}
          label={blocked ?? (isRunning ? queueTitle() : sendTitle())}
          disabled={isEmpty || blocked !== undefined}
          onClick={() => onSend()}
        />
      )}
      {steers && !isEmpty && (
        <IconButton icon="send" class="send" label={sendNowTitle()} onClick={() => onSend(true)} />
      )}
    </>
  )
}
