import { useSignal, useSignalEffect } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { plural, t } from '../../l10n.ts'
import { Icon } from '../../ui/icon.tsx'
import { useApp } from '../context.ts'
import type { Row } from '../rows/row.ts'

/** Floats over the end of the list when the view is elsewhere: what waits for the person, and what is new. */
export function JumpButtons() {
  const { store, list } = useApp()
  const seen = useSignal(0)
  useSignalEffect(() => {
    const total = store.total.value
    if (list.following.value) seen.value = total
  })
  useSignalEffect(() => {
    if (list.atEnd.value) seen.value = store.total.peek()
  })
  if (list.following.value || list.atEnd.value) return null
  const fresh = Math.max(0, store.total.value - seen.value)
  const question = rowOf(store, store.waiting.value[0])
  return (
    <div class="jump">
      {question && <JumpToQuestion row={question} count={store.waiting.value.length} />}
      <button type="button" class="jump-button" onClick={() => list.toEnd()} title={t('Jump to latest')}>
        <Icon name="arrow-down" />
        <span class={`jump-text${question ? ' visually-hidden' : ''}`}>
          {fresh > 0 ? plural(fresh, '{0} new', '{0} new') : t('Jump to latest')}
        </span>
      </button>
    </div>
  )
}

function rowOf(store: ReturnType<typeof useApp>['store'], id: string | undefined): Row | undefined {
  const index = id === undefined ? undefined : store.slot(id)?.index
  return index === undefined ? undefined : store.rows.rowsOf(index)[0]
}

/** Nothing while some of the question is in sight: it says itself that it waits. */
function JumpToQuestion({ row, count }: { row: Row; count: number }) {
  const { list } = useApp()
  const inSight = useInSight(row)
  if (inSight) return null
  return (
    <button type="button" class="jump-button jump-question" onClick={() => list.toItem(row)}>
      <Icon name="shield" />
      <span class="jump-text">
        {plural(count, 'One question waits for you', '{0} questions wait for you')}
      </span>
    </button>
  )
}

/** Whether some of a row is in view. */
function useInSight(row: Row): boolean {
  const { list } = useApp()
  const [inSight, setInSight] = useState(false)
  // its element comes and goes with what is in the page
  const { start, end } = list.range.value
  useEffect(() => {
    const element = list.elementOf(row.key)
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
