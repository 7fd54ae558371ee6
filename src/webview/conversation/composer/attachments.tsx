import { useCallback, useRef, useState } from 'preact/hooks'
import type { Attachment, MentionRow } from '../../../bridge/conversation.ts'
import { t } from '../../l10n.ts'
import { IconButton } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Menu } from '../../ui/menu.tsx'
import { useApp } from '../context.ts'
import { isPicture } from './attach.ts'
import type { Draft } from './draft.ts'
import { nameCut } from './input/mentions.ts'

interface AttachmentsProps {
  items: readonly Attachment[]
  onRemove: (item: Attachment) => void
  onOpen: (item: Attachment) => void
}

/** The attached items: images as thumbnails, others as chips. */
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
                <span class="chip-label truncate" dir="auto">
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

interface AddMenuProps {
  onAttach: (row: MentionRow) => void
  /** absent if the prompt can't be sent to several agents */
  sendTo: (() => void) | undefined
}

/** A button with a menu of everything that can be added, as `@` without a query lists it, and of *Send to Several Agents…*. */
export function AddMenu({ onAttach, sendTo }: AddMenuProps) {
  const { host } = useApp()
  const [rows, setRows] = useState<readonly MentionRow[] | undefined>(undefined)
  const button = useRef<HTMLButtonElement>(null)
  const close = useCallback(() => setRows(undefined), [])
  const open = async () => setRows(await host.request('composer/mentions', { query: '' }).catch(() => []))
  const choices = (rows ?? []).map((row, i) => ({
    value: String(i),
    name: row.name,
    description: row.detail,
    icon: row.icon,
    group: row.group === 'open' ? t('Open editors') : t('Context'),
  }))
  return (
    <>
      <button
        ref={button}
        type="button"
        class="icon-button"
        aria-haspopup="listbox"
        aria-expanded={rows !== undefined}
        aria-label={t('Add Context')}
        title={t('Add Context (@)\nOr hold Shift and drop files from the Explorer or a tab')}
        onClick={() => (rows ? close() : void open())}
      >
        <Icon name="add" />
      </button>
      {rows && (
        <Menu
          anchor={button}
          label={t('Add Context')}
          choices={choices}
          current={undefined}
          {...(sendTo && {
            last: { value: 'sendTo', name: t('Send to Several Agents…'), icon: 'organization' },
          })}
          onChoose={value => (value === 'sendTo' ? sendTo?.() : onAttach(rows[Number(value)]!))}
          onClose={close}
        />
      )}
    </>
  )
}

/** The file or selection that the user works on in the editor: offered for the prompt, or added to it when it's sent. */
interface ActiveContextState {
  /** the item that can be added with one key */
  offered: Attachment | undefined
  /** the item that is added to the next prompt unless the user removes it */
  added: Attachment | undefined
  /** Stops adding the active file or selection to prompts, until another file or selection is active. */
  remove(): void
}

export function useActiveContext(draft: Draft): ActiveContextState {
  const { attachment, automatic } = useApp().activeContext.value
  const [removed, setRemoved] = useState<string | undefined>(undefined)
  const none = { offered: undefined, added: undefined, remove: () => {} }
  if (!attachment || isIn(draft, attachment)) return none
  // images are never added automatically: an image must be read first, and sending doesn't wait for that
  const isAdded = automatic && !isPicture(attachment) && removed !== placeOf(attachment)
  return {
    offered: isAdded ? undefined : attachment,
    added: isAdded ? attachment : undefined,
    remove: () => setRemoved(placeOf(attachment)),
  }
}

/** Returns a text that identifies the active item, whatever the ID of its chip. */
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
  const cut = nameCut(item.label)
  return (
    <button type="button" class="offered-context" aria-label={label} title={label} onClick={onAdd}>
      <Icon name="add" />
      <span class="offered-name cut" dir="auto">
        <span class="cut-start">{item.label.slice(0, cut)}</span>
        <span class="cut-end">{item.label.slice(cut)}</span>
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
          <span class="chip-label truncate" dir="auto">
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
