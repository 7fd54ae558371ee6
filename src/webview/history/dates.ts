import { dateFormat, t } from '../l10n.ts'
import type { HistoryGroupKey } from './items.ts'

export function groupName(key: HistoryGroupKey): string {
  switch (key.kind) {
    case 'pinned':
      return t('Pinned')
    case 'today':
      return t('Today')
    case 'yesterday':
      return t('Yesterday')
    case 'previous-7-days':
      return t('Previous 7 Days')
    case 'undated':
      return t('No date')
    case 'agent':
    case 'folder':
      return key.name
    case 'month':
      return dateFormat({ month: 'long', year: 'numeric' }).format(new Date(key.year, key.month))
  }
}
