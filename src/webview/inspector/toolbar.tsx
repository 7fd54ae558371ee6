import type { RefObject } from 'preact'
import type { FrameFilter, InspectorState } from '../../bridge/inspector.ts'
import type { InspectorMessages } from '../../bridge/inspector-messages.ts'
import type { HostClient } from '../host/connection.ts'
import { t } from '../l10n.ts'
import { IconButton } from '../ui/button.tsx'
import { SearchField } from '../ui/search-field.tsx'
import type { Frames } from './frames.ts'

interface ToolbarProps {
  frames: Frames
  host: HostClient<InspectorMessages>
  state: InspectorState
  field: RefObject<HTMLInputElement | null>
  /** the id of the selected row, if it's in the page */
  active: string | undefined
  onKeyDown: (event: KeyboardEvent) => void
}

/** The search field, which controls the list, the filters and the actions. */
export function Toolbar({ frames, host, state, field, active, onKeyDown }: ToolbarProps) {
  const filter = frames.filter.value
  const change = (values: Partial<FrameFilter>) => frames.show({ ...filter, ...values })
  const isListed = state.end > state.start
  return (
    <div class="inspector-bar">
      <SearchField
        field={field}
        label={t('Search messages')}
        maxLength={1000}
        value={filter.text}
        rows={{ list: isListed ? 'frames' : undefined, active }}
        onSearch={text => change({ text })}
        onKeyDown={onKeyDown}
      />
      <Filters frames={frames} filter={filter} change={change} />
      <div class="inspector-actions">
        <IconButton
          icon="error"
          label={t('Show Only Errors and Invalid Messages')}
          pressed={filter.errors === true}
          class={filter.errors ? 'pressed' : ''}
          onClick={() => change({ errors: !filter.errors })}
        />
        <IconButton
          icon={state.isRecording ? 'debug-pause' : 'record'}
          label={state.isRecording ? t('Pause Recording') : t('Resume Recording')}
          onClick={() => host.send('inspector/record', { on: !state.isRecording })}
        />
        <IconButton
          icon="trash"
          label={t('Clear Messages')}
          disabled={state.count === 0}
          onClick={() => frames.clear()}
        />
        <IconButton
          icon="folder-opened"
          label={t('Import Messages…')}
          onClick={() => host.send('inspector/import')}
        />
        <IconButton
          icon="export"
          label={t('Export Shown Messages…')}
          disabled={!isListed}
          onClick={() => host.send('inspector/export')}
        />
        <IconButton
          icon="open-preview"
          label={t('Show as Conversation…')}
          disabled={frames.names.value.sessions.length === 0}
          onClick={() => host.send('inspector/replay', { n: frames.selected.peek()?.row.n })}
        />
        <IconButton
          icon="report"
          label={t('Report a Problem…')}
          onClick={() => host.send('inspector/report')}
        />
      </div>
    </div>
  )
}

interface FiltersProps {
  frames: Frames
  filter: FrameFilter
  change: (values: Partial<FrameFilter>) => void
}

function Filters({ frames, filter, change }: FiltersProps) {
  const { agents, sessions, methods } = frames.names.value
  const direction = (value: string | undefined) =>
    value === 'send' || value === 'receive' ? value : undefined
  return (
    <>
      <Select
        label={t('Agent')}
        all={t('All agents')}
        choices={agents.map(({ id, name }) => [id, name])}
        value={filter.agentId}
        onChange={agentId => change({ agentId })}
      />
      <Select
        label={t('Session')}
        all={t('All sessions')}
        choices={sessions.map(({ id, title }) => [id, title])}
        value={filter.sessionId}
        onChange={sessionId => change({ sessionId })}
      />
      <Select
        label={t('Method')}
        all={t('All methods')}
        choices={methods.toSorted().map(method => [method, method])}
        value={filter.method}
        onChange={method => change({ method })}
      />
      <Select
        label={t('Direction')}
        all={t('Both directions')}
        choices={[
          ['send', t('Sent')],
          ['receive', t('Received')],
        ]}
        value={filter.direction}
        onChange={value => change({ direction: direction(value) })}
      />
    </>
  )
}

interface SelectProps {
  label: string
  /** the choice that filters nothing */
  all: string
  /** values with their names */
  choices: ReadonlyArray<readonly [string, string]>
  value: string | undefined
  onChange: (value: string | undefined) => void
}

function Select({ label, all, choices, value, onChange }: SelectProps) {
  // the chosen value stays in the list even if its messages were removed from memory
  const isMissing = value !== undefined && !choices.some(([one]) => one === value)
  return (
    <select
      class="inspector-select"
      aria-label={label}
      title={label}
      value={value === undefined ? '' : `=${value}`}
      onChange={event => onChange(event.currentTarget.value.slice(1) || undefined)}
    >
      <option value="">{all}</option>
      {choices.map(([one, name]) => (
        <option key={one} value={`=${one}`}>
          {name}
        </option>
      ))}
      {isMissing && <option value={`=${value}`}>{value}</option>}
    </select>
  )
}
