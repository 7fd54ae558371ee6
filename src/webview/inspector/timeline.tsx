import { useEffect, useRef, useState } from 'preact/hooks'
import type { FrameRow, TurnSpan, TurnTimeline } from '../../bridge/inspector.ts'
import { plural, t } from '../l10n.ts'
import { Icon } from '../ui/icon.tsx'
import type { Frames } from './frames.ts'
import { durationOf } from './labels.tsx'

/** How often the timeline of a running turn is updated. Milliseconds. */
const UPDATE_MS = 1000

interface TimelineProps {
  row: FrameRow
  frames: Frames
}

/** The turn of a message as a timeline, each step as a bar that selects its message. */
export function Timeline({ row: { n }, frames }: TimelineProps) {
  const isOpen = frames.showsTimeline.value
  const turn = useTurn(n, frames, isOpen)
  return (
    <>
      <button
        type="button"
        class="timeline-toggle"
        aria-expanded={isOpen}
        onClick={() => {
          frames.showsTimeline.value = !isOpen
        }}
      >
        <Icon name={isOpen ? 'chevron-down' : 'chevron-right'} />
        {t('Timeline of the turn')}
      </button>
      {isOpen && turn === null && (
        <p class="quiet">{t("This message isn't part of a turn whose prompt was recorded.")}</p>
      )}
      {isOpen && turn && <Turn turn={turn} selected={n} frames={frames} />}
    </>
  )
}

/** Returns the turn of a message, `null` if it's in none, `undefined` until the first turn has loaded; the previous one meanwhile. */
function useTurn(n: number, frames: Frames, isOpen: boolean): TurnTimeline | null | undefined {
  const [turn, setTurn] = useState<TurnTimeline | null>()
  useEffect(() => {
    if (!isOpen) return
    let timer: ReturnType<typeof setTimeout> | undefined
    let gone = false
    const update = async () => {
      const found = await frames.turnOf(n).catch(() => null)
      if (gone) return
      setTurn(found)
      if (found?.isRunning && frames.state.peek()?.isRecording) timer = setTimeout(update, UPDATE_MS)
    }
    void update()
    return () => {
      gone = true
      clearTimeout(timer)
    }
  }, [n, isOpen, frames])
  return turn
}

function Turn({ turn, selected, frames }: { turn: TurnTimeline; selected: number; frames: Frames }) {
  const { duration, firstOutput, spans, more, isRunning, failed, stopReason } = turn
  const list = useRef<HTMLOListElement>(null)
  const [active, setActive] = useState(0)
  const current = Math.min(active, spans.length - 1)
  const waited = spans.filter(isForUser).reduce((sum, { start, end }) => sum + end - start, 0)
  const facts = [
    t('{0} in total', durationOf(duration)),
    ...(firstOutput === undefined ? [] : [t('first output after {0}', durationOf(firstOutput))]),
    ...(waited > 0 ? [t('{0} waiting for answers', durationOf(waited))] : []),
    ...(isRunning ? [t('no end recorded')] : []),
    ...(failed ? [t('ended with an error')] : stopReason === undefined ? [] : [stopReason]),
  ]
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return
    const last = spans.length - 1
    const to = { ArrowDown: current + 1, ArrowUp: current - 1, Home: 0, End: last }[event.key]
    if (to === undefined) return
    event.preventDefault()
    list.current?.querySelectorAll('button')[Math.max(0, Math.min(last, to))]?.focus()
  }
  return (
    <div class="timeline">
      <p class="quiet">{facts.join(' · ')}</p>
      <ol ref={list} aria-label={t('Timeline of the turn')} onKeyDown={onKeyDown}>
        {spans.map((span, i) => (
          <li key={`${span.kind} ${span.n} ${span.start}`}>
            <Span
              span={span}
              duration={duration}
              isSelected={span.n === selected && span.kind !== 'queue'}
              tabIndex={i === current ? 0 : -1}
              onFocus={() => setActive(i)}
              onClick={() => void frames.goTo(span.n)}
            />
          </li>
        ))}
      </ol>
      {more > 0 && <p class="quiet">{plural(more, '1 more step', '{0} more steps')}</p>}
    </div>
  )
}

interface SpanProps {
  span: TurnSpan
  duration: number
  isSelected: boolean
  tabIndex: number
  onFocus: () => void
  onClick: () => void
}

function Span({ span, duration, isSelected, tabIndex, onFocus, onClick }: SpanProps) {
  const { kind, start, end, isOpen, outcome } = span
  const name = spanName(span)
  const length = durationOf(end - start)
  const hasFailed = outcome === 'failed'
  const label = [
    name,
    t('after {0}', durationOf(start)),
    t('takes {0}', length),
    ...(isOpen ? [t('no end recorded')] : []),
    ...(outcome === undefined ? [] : [outcome]),
  ].join(', ')
  const percent = (value: number) => `${duration > 0 ? (value / duration) * 100 : 0}%`
  return (
    <button
      type="button"
      class={`timeline-span timeline-${kind}`}
      aria-current={isSelected ? 'true' : undefined}
      title={label}
      {...{ tabIndex, onFocus, onClick }}
    >
      <Icon name={hasFailed ? 'error' : ICONS[kind]} class={hasFailed ? 'inspector-error' : ''} />
      <span class="visually-hidden">{label}</span>
      <span class="timeline-name truncate" aria-hidden="true">
        {name}
      </span>
      <span class="timeline-track" aria-hidden="true">
        <span
          class={`timeline-bar${isOpen ? ' open' : ''}`}
          style={{ insetInlineStart: `min(${percent(start)}, 100% - 2px)`, width: percent(end - start) }}
        />
      </span>
      <span class="timeline-length quiet" aria-hidden="true">
        {length}
      </span>
    </button>
  )
}

const ICONS: Record<TurnSpan['kind'], string> = {
  queue: 'inbox',
  wait: 'ellipsis',
  thought: 'lightbulb',
  message: 'comment-discussion',
  tool: 'tools',
  permission: 'shield',
  question: 'question',
  request: 'arrow-left',
  stop: 'debug-stop',
}

function isForUser({ kind }: TurnSpan): boolean {
  return kind === 'permission' || kind === 'question'
}

function spanName({ kind, name }: TurnSpan): string {
  switch (kind) {
    case 'queue':
      return t('Queued')
    case 'wait':
      return t('Waiting for the first output')
    case 'thought':
      return t('Thinking')
    case 'message':
      return t('Message')
    case 'tool':
      return name ?? t('Tool call')
    case 'permission':
      return name === undefined ? t('Permission') : t('Permission: {0}', name)
    case 'question':
      return t('Question')
    case 'request':
      return name ?? t('Request')
    case 'stop':
      return t('Stopping')
  }
}
