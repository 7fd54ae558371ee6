import { useState } from 'preact/hooks'
import type { ConversationHead, QueuedNote } from '../../../bridge/conversation.ts'
import { plural, t } from '../../l10n.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { announce } from '../../ui/live-region.tsx'
import { useApp } from '../context.ts'

/** The queued prompts in order: each can be returned to the composer, sent immediately, moved and removed. */
export function Queue({ head }: { head: ConversationHead }) {
  const { host, composer } = useApp()
  const { queuePaused } = head
  const queue = head.queue.filter(({ state }) => state === 'queued')
  const [dragged, setDragged] = useState<string | undefined>(undefined)

  const edit = (id: string) => {
    host.send('composer/editQueued', { id })
    composer.current?.focus()
  }
  const remove = async (id: string) => {
    if (await host.request('composer/removeQueued', { id })) announce(t('Prompt removed from the queue.'))
  }
  const move = (id: string, to: number) => {
    if (to < 0 || to >= queue.length || queue[to]?.id === id) return
    host.send('composer/moveQueued', { id, to })
    announce(t('Moved to position {0} of {1}', to + 1, queue.length))
  }

  return (
    <section class="queue" aria-label={t('Queued prompts')}>
      <div class="queue-title">
        <Icon name={queuePaused ? 'debug-pause' : 'clockface'} />
        <span>
          {queuePaused
            ? plural(queue.length, '1 prompt not sent', '{0} prompts not sent')
            : plural(queue.length, '1 prompt queued', '{0} prompts queued')}
        </span>
        {queuePaused && <Button onClick={() => host.send('composer/resumeQueue')}>{t('Send Now')}</Button>}
      </div>
      {queuePaused && <div class="queue-note">{t('Sent after your next prompt')}</div>}
      <ul>
        {queue.map((note, i) => (
          <QueuedRow
            key={note.id}
            note={note}
            place={i}
            several={queue.length > 1}
            sendsBy={head.canSteer || head.activity === 'idle' ? t('Send Now') : t('Stop and Send Now')}
            dragged={note.id === dragged}
            onDrag={setDragged}
            onDropOn={() => dragged !== undefined && move(dragged, i)}
            onMove={by => move(note.id, i + by)}
            onEdit={() => edit(note.id)}
            onSend={() => host.send('composer/sendNow', { id: note.id })}
            onRemove={() => void remove(note.id)}
          />
        ))}
      </ul>
    </section>
  )
}

interface QueuedRowProps {
  note: QueuedNote
  place: number
  several: boolean
  /** the label for sending the prompt now: if the agent can't add the prompt to the running turn, sending stops the turn */
  sendsBy: string
  dragged: boolean
  onDrag: (id: string | undefined) => void
  onDropOn: () => void
  onMove: (by: -1 | 1) => void
  onEdit: () => void
  onSend: () => void
  onRemove: () => void
}

function QueuedRow({ note, place, several, sendsBy, dragged, ...on }: QueuedRowProps) {
  const [over, setOver] = useState(false)
  const words = note.text || plural(note.attachments, '1 attachment', '{0} attachments')
  return (
    <li
      class={`${dragged ? 'dragged' : ''}${over ? ' drop-target' : ''}`}
      draggable={several}
      onDragStart={event => {
        event.dataTransfer?.setData('application/x-parley-queued', note.id)
        on.onDrag(note.id)
      }}
      onDragEnd={() => on.onDrag(undefined)}
      onDragOver={event => {
        if (!event.dataTransfer?.types.includes('application/x-parley-queued')) return
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={event => {
        event.preventDefault()
        setOver(false)
        on.onDropOn()
      }}
    >
      {several && (
        <button
          type="button"
          class="queue-grip"
          aria-label={t('Move “{0}”: position {1}. Use the arrow keys.', words, place + 1)}
          title={t('Drag or use the arrow keys to reorder')}
          onKeyDown={event => {
            const by = event.key === 'ArrowUp' ? -1 : event.key === 'ArrowDown' ? 1 : undefined
            if (!by) return
            event.preventDefault()
            event.stopPropagation()
            on.onMove(by)
          }}
        >
          <Icon name="gripper" />
        </button>
      )}
      <span class="queue-text truncate" dir="auto" title={note.text}>
        {words}
        {note.reason !== undefined && <span class="queue-reason">{note.reason}</span>}
      </span>
      {note.text !== '' && note.attachments > 0 && (
        <span class="queue-more" title={plural(note.attachments, '1 attachment', '{0} attachments')}>
          <Icon name="attach" />
          {note.attachments}
        </span>
      )}
      <IconButton icon="send" label={sendsBy} onClick={on.onSend} />
      <IconButton icon="edit" label={t('Edit')} onClick={on.onEdit} />
      <IconButton icon="close" label={t('Remove')} onClick={on.onRemove} />
    </li>
  )
}
