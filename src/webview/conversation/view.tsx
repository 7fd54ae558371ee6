import { useSignalEffect } from '@preact/signals'
import { useCallback, useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { t } from '../l10n.ts'
import { VirtualList } from '../list/virtual-list.tsx'
import { LiveRegion } from '../ui/live-region.tsx'
import { Announcer } from './announcer.tsx'
import { Cards } from './cards.tsx'
import { Composer } from './composer/composer.tsx'
import type { Draft } from './composer/draft.ts'
import { useApp } from './context.ts'
import { Empty } from './empty.tsx'
import { Header } from './header.tsx'
import { JumpButtons } from './jump.tsx'
import { onViewKey } from './keys.ts'
import { onProseClick } from './links.ts'
import { Plans } from './plan.tsx'
import type { Row } from './row.ts'
import { RowView, rowClass } from './row-view.tsx'
import { WorkingLine } from './working-line.tsx'

/** The whole Conversation view. */
export function ConversationView({ draft }: { draft: Draft }) {
  const app = useApp()
  const root = useRef<HTMLDivElement>(null)

  // before anything is seen, so that no key is missed
  useLayoutEffect(() => {
    const key = (event: KeyboardEvent) => onViewKey(event, app)
    window.addEventListener('keydown', key)
    return () => window.removeEventListener('keydown', key)
  }, [app])
  useQuestionFocus()

  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: links and buttons inside answer to the keyboard by themselves
    <main ref={root} class="conversation" onClick={event => onProseClick(event, app.host)}>
      <Header />
      <Progress />
      <Body />
      <div class="dock">
        <Plans />
        <Composer draft={draft} />
      </div>
      <Announcer />
      <LiveRegion />
    </main>
  )
}

/** An agent starts or history replays: a bar that moves, and what is under way. */
function Progress() {
  const { store } = useApp()
  const head = store.head.value
  if (head && head.phase !== 'starting' && head.phase !== 'loading') return null
  return (
    <div class="progress" role="progressbar" aria-label={head?.progress ?? t('Loading…')}>
      <div class="progress-bar" />
    </div>
  )
}

function Body() {
  const app = useApp()
  const { store, list } = app
  const head = store.head.value
  const renderRow = useCallback((row: Row) => <RowView row={row} />, [])
  if (!head) return <div class="body" />
  if (head.phase === 'empty' && store.total.value === 0) {
    return (
      <div class="body">
        <Empty head={head} />
      </div>
    )
  }
  return (
    <div class="body">
      <VirtualList
        window={store.rows.window}
        controller={list}
        version={store.rows.version}
        class="transcript"
        label={t('Conversation')}
        role="log"
        rowClass={rowClass}
        renderRow={renderRow}
        footer={<Footer />}
      />
      <JumpButtons />
    </div>
  )
}

/** After the last row: what is under way, what went wrong. */
function Footer() {
  const { store } = useApp()
  const head = store.head.value
  const starting = head?.phase === 'starting' || head?.phase === 'loading'
  return (
    <div class="list-footer">
      {starting && head?.progress && <div class="progress-text quiet">{head.progress}</div>}
      <WorkingLine />
      <Cards />
    </div>
  )
}

/** So long after the last key nobody is writing any more, in milliseconds. */
const quiet = 400

/**
 * A question that comes while the person is not writing takes the focus, so that a digit or Enter answers it. Never while
 * something stands in the composer, nor right after a key was pressed: then it waits a moment.
 */
function useQuestionFocus(): void {
  const { store, list } = useApp()
  const lastKey = useRef(0)
  useEffect(() => {
    const key = () => {
      lastKey.current = performance.now()
    }
    window.addEventListener('keydown', key, true)
    return () => window.removeEventListener('keydown', key, true)
  }, [])
  useSignalEffect(() => {
    if (store.waiting.value[0] === undefined) return
    let timer: ReturnType<typeof setTimeout> | undefined
    const offer = () => {
      if (isBusy() || !list.following.peek()) return
      const rest = lastKey.current + quiet - performance.now()
      if (rest > 0) timer = setTimeout(offer, rest)
      // after the box is drawn
      else requestAnimationFrame(focusQuestion)
    }
    offer()
    return () => clearTimeout(timer)
  })
}

/** The person is elsewhere, or at something in the view that is not to be left. */
function isBusy(): boolean {
  if (!document.hasFocus()) return true
  const focused = document.activeElement
  if (focused instanceof HTMLTextAreaElement) return focused.value !== ''
  if (focused?.matches('.elicitation :is(input, select)')) return true
  return focused !== document.body && !focused?.closest('.transcript')
}

function focusQuestion(): void {
  document
    .querySelector<HTMLElement>(
      '.permission.first :is([data-primary], [data-option], input, select), .permission.first[data-focus]',
    )
    ?.focus()
}
