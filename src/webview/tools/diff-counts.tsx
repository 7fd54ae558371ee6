import { formatNumber, plural } from '../l10n.ts'

/** `+12 −3`; nothing for a side without lines. */
export function DiffCounts({ added, removed }: { added: number; removed: number }) {
  return (
    <span class="diff-counts">
      {added > 0 && (
        <span class="added" title={plural(added, '1 line added', '{0} lines added')}>
          +{formatNumber(added)}
        </span>
      )}
      {removed > 0 && (
        <span class="removed" title={plural(removed, '1 line removed', '{0} lines removed')}>
          −{formatNumber(removed)}
        </span>
      )}
    </span>
  )
}
