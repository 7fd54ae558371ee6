import type { RefObject } from 'preact'
import { t } from '../l10n.ts'
import { IconButton } from './button.tsx'
import { Icon } from './icon.tsx'

interface SearchFieldProps {
  field: RefObject<HTMLInputElement | null>
  label: string
  placeholder?: string
  maxLength?: number
  value: string
  /** the list whose rows the field's keys select; absent if the field only filters */
  rows?: {
    /** the id of the list; absent if the list is empty */
    list: string | undefined
    /** the id of the selected row, if it's in the page */
    active: string | undefined
  }
  onSearch: (text: string) => void
  onKeyDown: (event: KeyboardEvent) => void
  onContextMenu?: (event: MouseEvent) => void
}

/** A search field. It keeps the focus while its arrow keys select rows of a list. */
export function SearchField({
  field,
  label,
  placeholder = label,
  value,
  rows,
  onSearch,
  ...rest
}: SearchFieldProps) {
  return (
    <div class="search-box">
      <Icon name="search" />
      <input
        ref={field}
        type="text"
        {...(rows ? comboboxProps(rows) : { role: 'searchbox' as const })}
        aria-label={label}
        placeholder={placeholder}
        spellcheck={false}
        value={value}
        onInput={event => onSearch(event.currentTarget.value)}
        {...rest}
      />
      {value !== '' && <IconButton icon="close" label={t('Clear')} onClick={() => onSearch('')} />}
    </div>
  )
}

function comboboxProps({ list, active }: NonNullable<SearchFieldProps['rows']>) {
  return {
    role: 'combobox' as const,
    'aria-expanded': list !== undefined,
    'aria-controls': list,
    'aria-activedescendant': active,
  }
}
