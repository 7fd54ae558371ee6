import { useState } from 'preact/hooks'
import { draftOf } from '../../../common/draft.ts'
import type { ConversationHead, QueuedNote } from '../../../views/bridge/conversation.ts'
import { plural, t } from '../../l10n.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { announce } from '../../ui/live-region.tsx'
import { useApp } from '../context.ts'
import type { Draft } from './draft.ts'
import { itemOf } from './items.ts'

/**
 * The prompts that wait for the turn to end, in their order: each can be taken back into the composer, sent at once,
 * moved and dropped.
 */
export function Queue({ head, draft }: { head: ConversationHead; draft: Draft }) {
  const { host, editor, composer } = useApp()
  const { queue, queueHeld } = head
  const [dragged, setDragged] = useState<string | undefined>(undefined)

  const edit = async (id: string) => {
    const taken = await editor.editQueued(id)
    if (taken === null) return
    draft.takeBack(taken.key, { id: taken.id, draft: draftOf(taken.content, itemOf) })
    composer.current?.focus()
  }
  const remove = async (id: string) => {
    if ((await host.withdraw(id)) !== null) announce(t('The prompt was removed from the queue.'))
  }
  const move = (id: string, to: number) => {
    if (to < 0 || to >= queue.length || queue[to]?.id === id) return
    editor.moveQueued(id, to)
    announce(t('Moved to place {0} of {1}', to + 1, queue.length))
  }

  return (
    <section class="queue" aria-label={t('Prompts that wait')}>
      <div class="queue-title">
        <Icon name={queueHeld ? 'debug-pause' : 'clockface'} />
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
        {queue.map((note, i) => (
          <QueuedRow
            key={note.id}
            note={note}
            place={i}
            several={queue.length > 1}
            dragged={note.id === dragged}
            onDrag={setDragged}
            onDropOn={() => dragged !== undefined && move(dragged, i)}
            onMove={by => move(note.id, i + by)}
            onEdit={() => void edit(note.id)}
            onSend={() => editor.sendQueuedNow(note.id)}
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
  dragged: boolean
  onDrag: (id: string | undefined) => void
  onDropOn: () => void
  onMove: (by: -1 | 1) => void
  onEdit: () => void
  onSend: () => void
  onRemove: () => void
}

function QueuedRow({ note, place, several, dragged, ...on }: QueuedRowProps) {
  const [over, setOver] = useState(false)
  const words = note.text || plural(note.attachments, 'One attachment', '{0} attachments')
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
          aria-label={t('Move “{0}”: place {1}, arrow keys', words, place + 1)}
          title={t('Drag, or move with the arrow keys')}
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
      <span class="queue-text" dir="auto" title={note.text}>
        {words}
      </span>
      {note.text !== '' && note.attachments > 0 && (
        <span class="queue-more" title={plural(note.attachments, 'One attachment', '{0} attachments')}>
          <Icon name="attach" />
          {note.attachments}
        </span>
      )}
      <IconButton icon="edit" label={t('Edit')} onClick={on.onEdit} />
      <IconButton icon="send" label={t('Stop the turn and send this now')} onClick={on.onSend} />
      <IconButton icon="close" label={t('Remove')} onClick={on.onRemove} />
    </li>
  )
}
