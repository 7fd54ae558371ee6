import { useCallback, useRef, useState } from 'preact/hooks'
import type { MentionRow } from '../../../views/bridge/conversation.ts'
import { t } from '../../l10n.ts'
import { Icon } from '../../ui/icon.tsx'
import { Menu } from '../../ui/menu.tsx'
import { useApp } from '../context.ts'

/** Everything that can be added, behind a button: the same as `@` offers without a word behind it. */
export function AddMenu({ onTake }: { onTake: (row: MentionRow) => void }) {
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
          onChoose={value => onTake(rows[Number(value)]!)}
          onClose={close}
        />
      )}
    </>
  )
}
