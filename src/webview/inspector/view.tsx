import { useCallback, useLayoutEffect, useRef } from 'preact/hooks'
import type { FrameRow, InspectorState } from '../../bridge/inspector.ts'
import type { InspectorMessages } from '../../bridge/inspector-messages.ts'
import type { HostClient } from '../host/connection.ts'
import { formatNumber, plural, t } from '../l10n.ts'
import { VirtualList } from '../list/virtual-list.tsx'
import { Icon } from '../ui/icon.tsx'
import { announce, LiveRegion } from '../ui/live-region.tsx'
import { Details } from './details.tsx'
import type { FrameItem, Frames } from './frames.ts'
import { DirectionIcon, durationOf, nameOf, timeOf } from './labels.tsx'
import { Toolbar } from './toolbar.tsx'

interface InspectorViewProps {
  frames: Frames
  host: HostClient<InspectorMessages>
}

/** The whole inspector page. The search field keeps the focus; the arrow keys move through the rows. */
export function InspectorView({ frames, host }: InspectorViewProps) {
  const field = useRef<HTMLInputElement>(null)
  const details = useRef<HTMLElement>(null)
  const state = frames.state.value
  const selected = frames.selected.value
  const isFiltered = frames.isFiltered
  const shown = state ? state.end - state.start : 0
  useLayoutEffect(() => {
    if (state && isFiltered && !state.isFiltering) announce(plural(shown, '1 message', '{0} messages'))
  }, [frames.filter.value, state?.isFiltering])
  const close = () => {
    frames.close()
    field.current?.focus()
  }
  const onListKey = (event: KeyboardEvent) => {
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return
    const by = STEPS[event.key]
    if (by !== undefined) void frames.move(by)
    else if (event.key === 'Enter' && selected)
      details.current?.querySelector<HTMLElement>('[role="treeitem"]')?.focus()
    else if (event.key === 'Escape' && selected) frames.close()
    else if (event.key === 'Escape' && frames.filter.value.text !== '')
      frames.show({ ...frames.filter.value, text: '' })
    else return
    event.preventDefault()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key.toLowerCase() === 'f' && (event.ctrlKey || event.metaKey) && !event.altKey) {
      event.preventDefault()
      field.current?.select()
    } else if (event.key === 'Escape' && details.current?.contains(event.target as Node)) {
      event.preventDefault()
      field.current?.focus()
    } else if (event.target === document.body) onListKey(event)
  }
  useLayoutEffect(() => {
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  })
  const renderRow = useCallback((item: FrameItem) => <Row item={item} frames={frames} />, [frames])
  if (!state) return <main class="inspector" />
  const position = selected?.position
  return (
    <main class="inspector">
      <h1 class="visually-hidden">{t('Protocol Traffic')}</h1>
      <Toolbar
        frames={frames}
        host={host}
        state={state}
        field={field}
        active={position === undefined ? undefined : `frame-${position}`}
        onKeyDown={onListKey}
      />
      <div class="inspector-body">
        {shown > 0 ? (
          <VirtualList
            id="frames"
            window={frames.window}
            controller={frames.list}
            version={frames.version}
            class="inspector-list"
            label={t('Messages')}
            role="listbox"
            rowClass={rowClass}
            renderRow={renderRow}
            focusable={false}
          />
        ) : (
          <Empty state={state} isFiltered={isFiltered} />
        )}
        {selected && <Details details={selected} frames={frames} element={details} onClose={close} />}
      </div>
      <Status state={state} isFiltered={isFiltered} />
      <LiveRegion />
    </main>
  )
}

const STEPS: Record<string, number | undefined> = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: 10,
  PageUp: -10,
}

const rowClass = () => 'inspector-item'

function Empty({ state, isFiltered }: { state: InspectorState; isFiltered: boolean }) {
  return (
    <div class="inspector-empty quiet">
      {isFiltered && state.count > 0 ? (
        <p>{state.isFiltering ? t('Searching…') : t('No messages match the filter.')}</p>
      ) : (
        <>
          <p>{state.isRecording ? t('No messages yet.') : t('Recording is paused.')}</p>
          <p>
            {t(
              'Messages between Parley and agents are recorded while this tab is open. Start a session or send a prompt.',
            )}
          </p>
        </>
      )}
    </div>
  )
}

/** The number of messages, and which messages are missing. */
function Status({ state, isFiltered }: { state: InspectorState; isFiltered: boolean }) {
  const { count, dropped, file, start, end, isRecording } = state
  const parts = [
    isFiltered
      ? t('{0} of {1} messages', formatNumber(end - start), formatNumber(count))
      : plural(count, '1 message', '{0} messages'),
    ...(dropped > 0
      ? [plural(dropped, 'the oldest message was removed', 'the oldest {0} messages were removed')]
      : []),
    ...(file === undefined ? [] : [t('from {0}', file)]),
    ...(isRecording || file !== undefined ? [] : [t('recording is paused')]),
    t('secrets are redacted'),
  ]
  return <p class="inspector-status quiet truncate">{parts.join(' · ')}</p>
}

/** A frame: its time, direction, method, session, agent and duration. */
function Row({ item, frames }: { item: FrameItem; frames: Frames }) {
  void frames.loaded.value
  const row = frames.rowOf(item)
  const isActive = row !== undefined && frames.selected.value?.row.n === row.n
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the search field handles the keys
    <div
      id={item.key}
      class={`inspector-row${isActive ? ' active' : ''}${row?.failed ? ' failed' : ''}`}
      role="option"
      tabIndex={-1}
      aria-selected={isActive}
      aria-posinset={item.index + 1}
      aria-setsize={frames.window.count}
      onClick={() => row && void frames.select(row.n)}
    >
      {row && <Cells row={row} title={frames.titleOf(row.sessionId)} />}
    </div>
  )
}

function Cells({ row, title }: { row: FrameRow; title: string | undefined }) {
  const { at, agent, duration, failed, invalid, pending } = row
  return (
    <>
      <span class="inspector-time">{timeOf(at)}</span>
      <DirectionIcon row={row} />
      {failed && <Icon name="error" class="inspector-error" label={t('Error')} />}
      {invalid && (
        <Icon
          name="warning"
          class="inspector-invalid"
          label={t("Doesn't match the schema of the protocol")}
        />
      )}
      <span class="inspector-method truncate" title={nameOf(row)}>
        {row.about ?? nameOf(row)}
        {row.about !== undefined && <span class="quiet"> {nameOf(row)}</span>}
      </span>
      <span class="inspector-session quiet truncate" title={title}>
        {title}
      </span>
      <span class="inspector-agent quiet truncate" title={agent}>
        {agent}
      </span>
      <span class="inspector-duration quiet">
        {pending ? (
          <Icon name="ellipsis" label={t('No response yet')} />
        ) : duration === undefined || row.kind === 'request' ? (
          ''
        ) : (
          durationOf(duration)
        )}
      </span>
    </>
  )
}
