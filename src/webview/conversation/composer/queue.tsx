import type { ConversationHead } from '../../../views/bridge/conversation.ts'
import { plural, t } from '../../l10n.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { announce } from '../../ui/live-region.tsx'
import { useApp } from '../context.ts'
import type { Draft } from './draft.ts'

/** The prompts that wait for the turn to end: each can be taken back into the composer or dropped. */
export function Queue({ head, draft }: { head: ConversationHead; draft: Draft }) {
  const { host, composer } = useApp()
  const { queue, queueHeld } = head

  const edit = async (id: string) => {
    const text = await host.withdraw(id)
    if (text === null) return
    const written = draft.text.peek().trim()
    draft.setText(written === '' ? text : `${text}\n\n${written}`)
    composer.current?.focus()
  }
  const remove = async (id: string) => {
    if ((await host.withdraw(id)) !== null) announce(t('The prompt was removed from the queue.'))
  }

  return (
    <section class="queue" aria-label={t('Prompts that wait')}>
      <div class="queue-title">
        <Icon name={queueHeld ? 'debug-pause' : 'watch'} />
        <span>
          {queueHeld
            ? plural(queue.length, 'One prompt was not sent', '{0} prompts were not sent')
            : plural(
                queue.length,
                'One prompt waits for the turn to end',
                '{0} prompts wait for the turn to end',
              )}
        </span>
        {queueHeld && <Button onClick={() => host.sendQueued()}>{t('Send Now')}</Button>}
      </div>
      <ul>
        {queue.map(({ id, text, attachments }) => (
          <li key={id}>
            <span class="queue-text" dir="auto" title={text}>
              {text || plural(attachments, 'One attachment', '{0} attachments')}
            </span>
            <IconButton icon="edit" label={t('Edit')} onClick={() => void edit(id)} />
            <IconButton icon="close" label={t('Remove')} onClick={() => void remove(id)} />
          </li>
        ))}
      </ul>
    </section>
  )
}
