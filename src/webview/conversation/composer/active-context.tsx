import { useState } from 'preact/hooks'
import type { Attachment } from '../../../views/bridge/conversation.ts'
import { t } from '../../l10n.ts'
import { IconButton } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { useApp } from '../context.ts'
import type { Draft } from './draft.ts'
import { isPicture } from './take.ts'

/** What the user works on in the editor: offered for the prompt, or added to it when it's sent. */
export interface ActiveContextState {
  /** to be added with one key */
  offered: Attachment | undefined
  /** goes along with the next prompt unless it's removed */
  added: Attachment | undefined
  /** Takes away what would be added, until something else is active. */
  remove(): void
}

export function useActiveContext(draft: Draft): ActiveContextState {
  const { attachment, automatic } = useApp().activeContext.value
  const [removed, setRemoved] = useState<string | undefined>(undefined)
  const none = { offered: undefined, added: undefined, remove: () => {} }
  if (!attachment || isIn(draft, attachment)) return none
  // a picture is read first, which sending doesn't wait for
  const isAdded = automatic && !isPicture(attachment) && removed !== placeOf(attachment)
  return {
    offered: isAdded ? undefined : attachment,
    added: isAdded ? attachment : undefined,
    remove: () => setRemoved(placeOf(attachment)),
  }
}

/** Names what it is, whichever chip it has. */
function placeOf({ label, content }: Attachment): string {
  return `${'uri' in content ? content.uri : ''} ${label}`
}

function isIn(draft: Draft, attachment: Attachment): boolean {
  const place = placeOf(attachment)
  return draft.content.value.items.some(item => placeOf(item) === place)
}

interface OfferedContextProps {
  item: Attachment
  onAdd: () => void
}

export function OfferedContext({ item, onAdd }: OfferedContextProps) {
  const label = t('Add {0} (Alt+Enter)', item.label)
  return (
    <button type="button" class="offered-context" aria-label={label} title={label} onClick={onAdd}>
      <Icon name="add" />
      <span class="chip-label" dir="auto">
        {item.label}
      </span>
    </button>
  )
}

export function AddedContext({ item, onRemove }: { item: Attachment; onRemove: () => void }) {
  return (
    <ul class="chips composer-chips" aria-label={t('Added to every prompt')}>
      <li>
        <span class="chip" title={t('{0} is added to the prompt', item.detail ?? item.label)}>
          <Icon name={item.icon} />
          <span class="chip-label" dir="auto">
            {item.label}
          </span>
          <IconButton
            icon="close"
            class="chip-remove"
            label={t('Remove {0}', item.label)}
            onClick={onRemove}
          />
        </span>
      </li>
    </ul>
  )
}
