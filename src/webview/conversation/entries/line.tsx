import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { isCut } from '../../../bridge/conversation.ts'
import type { Entry, MessageEntry } from '../../../conversation/state.ts'
import { formatDuration, formatSeconds, plural, t } from '../../l10n.ts'
import { hasDiff, ToolCounts } from '../../tools/diff-counts.tsx'
import { type PathRoots, runSummary, titleParts } from '../../tools/title.ts'
import { now } from '../../ui/clock.ts'
import { Icon } from '../../ui/icon.tsx'
import { useApp } from '../context.ts'
import type { RunRow } from '../row.ts'
import type { EntrySlot } from '../slot.ts'

interface LineProps {
  icon: string
  iconClass?: string
  /** the icon's meaning, for screen readers */
  iconLabel?: string
  children: ComponentChildren
  /** counts, status and duration, at the right */
  end?: ComponentChildren
  title?: string
  /** absent if the line can't be expanded */
  open?: boolean
  onToggle?: () => void
  class?: string
}

/** A line of 24 px for a piece of work; most lines can be expanded. */
export function Line({
  icon,
  iconClass,
  iconLabel,
  children,
  end,
  title,
  open,
  onToggle,
  class: className,
}: LineProps) {
  const content = (
    <>
      <Icon name={icon} class={`line-icon${iconClass ? ` ${iconClass}` : ''}`} />
      {iconLabel && <span class="visually-hidden">{iconLabel}: </span>}
      <span class="line-title truncate">
        {typeof children === 'string' ? <span class="line-text">{children}</span> : children}
      </span>
      {end && <span class="line-end">{end}</span>}
      {onToggle && <Icon name="chevron-right" class={`line-chevron${open ? ' open' : ''}`} />}
    </>
  )
  const classes = `line${className ? ` ${className}` : ''}`
  if (!onToggle) {
    return (
      <div class={classes} title={title}>
        {content}
      </div>
    )
  }
  return (
    <button type="button" class={classes} aria-expanded={open ?? false} title={title} onClick={onToggle}>
      {content}
    </button>
  )
}

/** The icon of an entry that was canceled when the user stopped the turn. The end of the turn has the explanation. */
export function Stopped() {
  return <Icon name="circle-slash" class="stopped" label={t('Stopped')} />
}

interface ToolTitleProps {
  title: string
  roots: PathRoots | undefined
  /** whether the title is a command, which is shown as code, including any backticks */
  code?: boolean
}

/** A title on one line; the end of a path stays visible. */
export function ToolTitle({ title, roots, code }: ToolTitleProps) {
  const parts = titleParts(title, roots)
  return (
    <span class={`tool-title${parts.code || code ? ' code' : ''}`} dir="auto">
      {parts.head && <span class="tool-title-head">{parts.head}</span>}
      <span class="tool-title-tail">{parts.tail}</span>
    </span>
  )
}

/**
 * Returns the duration of an entry, or its duration so far if it's running; thoughts in whole seconds. `undefined` for less than
 * a tenth of a second, or in a replay.
 */
export function entryDuration(entry: Entry, running: boolean): string | undefined {
  if (entry.startedAt === undefined) return undefined
  if (entry.endedAt !== undefined) {
    const took = entry.endedAt - entry.startedAt
    if (took < 100) return undefined
    return entry.kind === 'message' && took >= 1000
      ? formatSeconds(Math.round(took / 1000))
      : formatDuration(took)
  }
  if (!running) return undefined
  const so = now.value - entry.startedAt
  return so >= 1000 ? formatSeconds(so / 1000) : undefined
}

/** The line of a thought; when expanded, its text is in separate rows. */
export function Thought({ slot }: { slot: EntrySlot }) {
  const app = useApp()
  const entry = slot.entry.value as MessageEntry
  const running = isThinking(app.store.head.value?.activity, app.store.last.value, slot)
  const duration = entryDuration(entry, running)
  const title = running ? t('Thinking…') : duration ? t('Thought for {0}', duration) : t('Thought')
  return (
    <Line icon="lightbulb" open={slot.open.value} onToggle={() => app.toggle(slot)} class="thought-line">
      {title}
    </Line>
  )
}

function isThinking(activity: string | undefined, last: EntrySlot | undefined, slot: EntrySlot): boolean {
  return activity === 'running' && last === slot && slot.entry.value.endedAt === undefined
}

/** A run: several reads and searches, or edits, in one line; when expanded, each of them has its own line below. */
export function Run({ row: { of, slots, tally } }: { row: RunRow }) {
  const app = useApp()
  void tally.version.value
  const { active, counts, failed, files } = tally
  const open = app.store.expansion.run(slots[0]!.id).value
  return (
    <Line
      icon={of === 'edit' ? 'edit' : counts.search ? 'search' : 'files'}
      open={open}
      onToggle={() => app.toggleRun(slots)}
      end={
        <>
          {of === 'edit' && <RunCounts slots={slots} />}
          {failed > 0 && <span class="failed">{plural(failed, '1 failed', '{0} failed')}</span>}
          {active && <Icon name="loading" class="codicon-modifier-spin" label={t('Running')} />}
        </>
      }
    >
      <span class="line-text">{runSummary(counts, files)}</span>
      {active && !open && (
        <span class="line-aside">
          <ToolTitle title={active.title} roots={app.store.head.value?.roots} />
        </span>
      )}
    </Line>
  )
}

/** Maximum number of edits in a run that are fetched completely to count their changed lines. */
const MAX_FETCHED = 50

/** The number of lines that the edits of a run add and remove; hidden while some edits aren't fetched completely. */
function RunCounts({ slots }: { slots: readonly EntrySlot[] }) {
  const { store } = useApp()
  const fetched = useRef(new Set<string>()).current
  const entries = slots.map(slot => slot.entry.peek()).filter(entry => entry.kind === 'tool_call')
  const cut = entries.filter(entry => isCut(entry) && hasDiff(entry))
  for (const { id } of cut) fetched.add(id)
  const wanted = fetched.size <= MAX_FETCHED ? [...fetched].join(' ') : ''
  useEffect(() => {
    const ends = wanted === '' ? [] : wanted.split(' ').map(id => store.wholeToolCalls.show(id))
    return () => {
      for (const end of ends) end()
    }
  }, [store, wanted])
  return cut.length === 0 ? <ToolCounts entries={entries} /> : null
}
