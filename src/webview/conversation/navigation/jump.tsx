import { useSignal, useSignalEffect } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { plural, t } from '../../l10n.ts'
import { Icon } from '../../ui/icon.tsx'
import { useApp } from '../context.ts'
import type { Row } from '../row.ts'
import type { EntrySlot } from '../slot.ts'

/** The content when the end was last in view. */
interface Seen {
  total: number
  last: EntrySlot | undefined
  /** the `grown` counter of the last entry, which increases with its text */
  grown: number
}

/** A button below the list when its end isn't in view: shows pending requests and new content. */
export function JumpButtons() {
  const { store, list } = useApp()
  const now = (): Seen => {
    const last = store.last.peek()
    return { total: store.total.peek(), last, grown: last?.grown.peek() ?? 0 }
  }
  const seen = useSignal(now())
  const note = () => {
    seen.value = now()
  }
  useSignalEffect(() => {
    void store.total.value
    void store.last.value?.grown.value
    if (list.following.value) note()
  })
  useSignalEffect(() => {
    if (list.atEnd.value) note()
  })
  if (list.following.value || list.atEnd.value) return null
  const { total, last, grown } = seen.value
  // the message that the agent was writing counts as new, too, if it has grown
  const continues = last !== undefined && last.grown.value !== grown
  const fresh = Math.max(0, store.total.value - total) + (continues ? 1 : 0)
  const question = findRow(store, store.waiting.value[0])
  return (
    <div class="jump">
      {question && <JumpToQuestion row={question} count={store.waiting.value.length} />}
      <button
        type="button"
        class="jump-button"
        onClick={() => list.toEnd()}
        title={t('Scroll to Latest Message')}
      >
        <Icon name="arrow-down" />
        <span class={`truncate${question || fresh === 0 ? ' visually-hidden' : ''}`}>
          {fresh > 0 ? plural(fresh, '{0} new', '{0} new') : t('Scroll to Latest Message')}
        </span>
      </button>
    </div>
  )
}

function findRow(store: ReturnType<typeof useApp>['store'], id: string | undefined): Row | undefined {
  const index = id === undefined ? undefined : store.slot(id)?.index
  return index === undefined ? undefined : store.rows.rowsOf(index)[0]
}

/** A link to the pending request; hidden while a part of the request is visible. */
function JumpToQuestion({ row, count }: { row: Row; count: number }) {
  const { list } = useApp()
  const inSight = useInSight(row)
  if (inSight) return null
  return (
    <button type="button" class="jump-button jump-question" onClick={() => list.toItem(row)}>
      <Icon name="shield" />
      <span class="truncate">{plural(count, '1 pending request', '{0} pending requests')}</span>
    </button>
  )
}

/** Whether a part of a row is in view. */
function useInSight(row: Row): boolean {
  const { list } = useApp()
  const [inSight, setInSight] = useState(false)
  // the row's element is added to the page and removed when the drawn range changes
  const { start, end } = list.drawn.range.value
  useEffect(() => {
    const element = list.rows.elementOf(row.key)
    if (!element) {
      setInSight(false)
      return
    }
    const observer = new IntersectionObserver(
      entries => setInSight(entries.at(-1)?.isIntersecting ?? false),
      { root: element.closest('.transcript') },
    )
    observer.observe(element)
    return () => observer.disconnect()
  }, [list, row.key, start, end])
  return inSight
}
