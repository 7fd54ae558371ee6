import { t } from '../../l10n.ts'
import { IconButton } from '../../ui/button.tsx'
import { useApp } from '../context.ts'
import { queueTitle, sendNowTitle, sendTitle } from './send-key.ts'

interface SendButtonsProps {
  /** whether a turn is running or waits for the user */
  isRunning: boolean
  /** whether the agent can add a prompt to the running turn */
  steers: boolean
  isEmpty: boolean
  /** why nothing can be sent now */
  blocked: string | undefined
  /** `now`: into the running turn */
  onSend(now?: boolean): void
}

/** The buttons that stop the turn and send the prompt; while a turn runs, the latter queues the prompt or adds it to the turn. */
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
