import type { Attachment } from '../../../views/bridge/conversation.ts'
import { t } from '../../l10n.ts'
import { IconButton } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'

interface AttachmentsProps {
  items: readonly Attachment[]
  onRemove: (item: Attachment) => void
  onOpen: (item: Attachment) => void
}

/** What goes along beside the text: pictures as such, the rest as chips. */
export function Attachments({ items, onRemove, onOpen }: AttachmentsProps) {
  if (items.length === 0) return null
  return (
    <ul class="chips composer-chips" aria-label={t('Attached')}>
      {items.map(item => (
        <li key={item.id}>
          {item.content.type === 'image' ? (
            <span class="thumbnail" title={item.detail ?? item.label}>
              <img src={`data:${item.content.mimeType};base64,${item.content.data}`} alt={item.label} />
              <Remove item={item} onRemove={onRemove} />
            </span>
          ) : (
            <span class="chip" title={item.detail}>
              <button type="button" class="chip-open" onClick={() => onOpen(item)}>
                <Icon name={item.icon} />
                <span class="chip-label" dir="auto">
                  {item.label}
                </span>
              </button>
              <Remove item={item} onRemove={onRemove} />
            </span>
          )}
        </li>
      ))}
    </ul>
  )
}

function Remove({ item, onRemove }: { item: Attachment; onRemove: (item: Attachment) => void }) {
  return (
    <IconButton
      icon="close"
      class="chip-remove"
      label={t('Remove {0}', item.label)}
      onClick={() => onRemove(item)}
    />
  )
}
