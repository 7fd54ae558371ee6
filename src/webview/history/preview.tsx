import { type Signal, useComputed, useSignalEffect } from '@preact/signals'
import type { HistoryPreview, HistoryRow } from '../../bridge/history.ts'
import { t } from '../l10n.ts'
import { useHistory } from './context.ts'
import { idOf, rowKey } from './items.ts'
import type { HistorySelection } from './selection.ts'

/** How long a row is selected before its conversation is read, in milliseconds. */
const CALM_MS = 80

interface PreviewProps {
  selection: HistorySelection
  /** the last preview that arrived */
  preview: Signal<HistoryPreview | undefined>
}

/** The start and the end of the selected conversation as plain text, beside the list or below it. */
export function Preview({ selection, preview }: PreviewProps) {
  const { host } = useHistory()
  const selected = useComputed(() => selection.item?.key)
  useSignalEffect(() => {
    if (selected.value === undefined) return
    const timer = setTimeout(() => {
      const row = selection.item?.row.peek()
      if (row) host.send('history/preview', idOf(row))
    }, CALM_MS)
    return () => clearTimeout(timer)
  })
  const row = selection.item?.row.value
  const shown = preview.value
  if (!row || !shown || rowKey(shown) !== rowKey(row)) return <aside class="history-preview" />
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: keys scroll it
    <aside class="history-preview" aria-label={t('Preview')} tabIndex={0}>
      <h2 dir="auto">{row.title}</h2>
      {shown.parts.length === 0 && <p class="quiet">{t("Parley hasn't saved this conversation.")}</p>}
      {shown.parts.map((part, i) => (
        <Part key={i} part={part} row={row} after={shown.parts[i - 1]} />
      ))}
    </aside>
  )
}

interface PartProps {
  part: HistoryPreview['parts'][number]
  row: HistoryRow
  after: HistoryPreview['parts'][number] | undefined
}

function Part({ part, row, after }: PartProps) {
  if (part.kind === 'gap') return <p class="history-gap quiet">⋯</p>
  const isAgent = part.kind !== 'user'
  const wasAgent = after !== undefined && after.kind !== 'user' && after.kind !== 'gap'
  return (
    <>
      {(!after || isAgent !== wasAgent || after.kind === 'gap') && (
        <h3>{isAgent ? row.agentName : t('You')}</h3>
      )}
      <p class={part.kind === 'tool' ? 'quiet' : undefined} dir="auto">
        {part.text}
      </p>
    </>
  )
}
