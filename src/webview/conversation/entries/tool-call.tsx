import { useState } from 'preact/hooks'
import type { FileChange, ToolCallContent, ToolCallLocation } from '../../../acp/model.ts'
import type { ToolCallEntry } from '../../../conversation/state.ts'
import { t } from '../../l10n.ts'
import { diffOf } from '../../tools/diff.ts'
import { DiffCounts, DiffView } from '../../tools/diff-view.tsx'
import { kindIcon, kindName } from '../../tools/kind.ts'
import { pretty, rawText } from '../../tools/raw.ts'
import { relativePath, titleParts } from '../../tools/title.ts'
import { ToolCounts } from '../../tools/tool-counts.tsx'
import { IconButton } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { PlainCode } from '../../ui/scroll-area.tsx'
import { ContentBlockView } from '../content.tsx'
import { useApp } from '../context.ts'
import { entryDuration } from '../duration.ts'
import type { EntrySlot } from '../slot.ts'
import { Terminal, WithCancel } from './cancel-work.tsx'
import { Line } from './line.tsx'
import { ToolTitle } from './tool-title.tsx'

/** One tool call: a line, and under it, when open, all there is to know of it. */
export function ToolCall({ slot }: { slot: EntrySlot }) {
  const app = useApp()
  const entry = slot.entry.value as ToolCallEntry
  const open = slot.open.value
  const roots = app.store.head.value?.roots
  const title = entry.title || entry.toolName || kindName(entry.toolKind)
  return (
    <div class="work" data-status={entry.status}>
      <WithCancel
        work={isRunning(entry) && entry.canCancel ? { toolCallId: entry.toolCallId } : undefined}
        label={t('Stop this tool call')}
      >
        <Line
          icon={kindIcon(entry.toolKind)}
          iconLabel={kindName(entry.toolKind)}
          title={titleParts(title, undefined).full}
          open={open}
          onToggle={() => app.toggle(slot)}
          end={<ToolEnd entry={entry} />}
        >
          <ToolTitle title={title} roots={roots} code={entry.toolKind === 'execute'} />
        </Line>
      </WithCancel>
      {open && <ToolBody slot={slot} entry={entry} />}
    </div>
  )
}

function isRunning(entry: ToolCallEntry): boolean {
  return entry.status === 'in_progress' || entry.status === 'pending'
}

/** Counts of changed lines, what came of it, and how long it took. */
function ToolEnd({ entry }: { entry: ToolCallEntry }) {
  const running = isRunning(entry)
  const duration = entryDuration(entry, entry.status === 'in_progress')
  return (
    <>
      <ToolCounts entry={entry} />
      <ToolStatus entry={entry} />
      {duration && <span class="duration">{duration}</span>}
      {running && entry.status === 'in_progress' && (
        <Icon name="loading" class="codicon-modifier-spin" label={t('Running')} />
      )}
    </>
  )
}

function ToolStatus({ entry }: { entry: ToolCallEntry }) {
  const { store } = useApp()
  for (const content of entry.content) {
    if (content.type !== 'terminal') continue
    const exit = store.terminals.get(content.terminalId).state.value?.exit
    if (exit?.signal) return <span class="failed">{exit.signal}</span>
    if (exit?.exitCode) return <span class="failed">{t('exit {0}', exit.exitCode)}</span>
  }
  switch (entry.status) {
    case 'failed':
      return (
        <span class="failed">
          <Icon name="error" /> {t('failed')}
        </span>
      )
    case 'cancelled':
      return <span>{t('cancelled')}</span>
    case 'paused':
      return <span>{t('paused')}</span>
    case 'pending':
      return <Icon name="circle-large-outline" class="pending" label={t('Pending')} />
    case 'in_progress':
    case 'completed':
      return null
    default:
      return <span>{entry.status}</span>
  }
}

function ToolBody({ slot, entry }: { slot: EntrySlot; entry: ToolCallEntry }) {
  const shown = entry.content.length > 0
  const output = shown ? undefined : rawText(entry.rawOutput)
  return (
    <div class="work-body">
      <FullTitle entry={entry} />
      {entry.content.map((content, i) => (
        <ToolContent key={i} slot={slot} content={content} position={i} />
      ))}
      {output !== undefined && <PlainCode text={output} />}
      {!shown && output === undefined && entry.status !== 'in_progress' && entry.status !== 'pending' && (
        <div class="quiet">{t('Nothing came of it.')}</div>
      )}
      <Locations locations={entry.locations} />
      <Raw label={t('Raw input')} value={entry.rawInput} />
      <Raw
        label={t('Raw output')}
        value={output === undefined || typeof entry.rawOutput === 'object' ? entry.rawOutput : undefined}
      />
    </div>
  )
}

/** The title in full where the line has to cut it: a command of several lines, a long one. */
function FullTitle({ entry }: { entry: ToolCallEntry }) {
  const text = entry.title.replace(/^`([^`]+)`$/s, '$1').trim()
  if (text.length <= 60 && !text.includes('\n')) return null
  return entry.toolKind === 'execute' ? (
    <PlainCode text={text} wrap />
  ) : (
    <div class="full-title" dir="auto">
      {text}
    </div>
  )
}

interface ToolContentProps {
  slot: EntrySlot
  content: ToolCallContent
  position: number
}

export function ToolContent({ slot, content, position }: ToolContentProps) {
  const { store } = useApp()
  switch (content.type) {
    case 'content':
      return (
        <div class="tool-content">
          <ContentBlockView block={content.content} />
        </div>
      )
    case 'diff':
      return (
        <>
          {content.changes.map((change, i) => (
            <Change
              key={i}
              slot={slot}
              change={change}
              patch={content.patch?.text}
              content={position}
              position={i}
            />
          ))}
        </>
      )
    case 'terminal':
      return <Terminal terminal={store.terminals.get(content.terminalId)} terminalId={content.terminalId} />
    case 'unknown':
      return (
        <details class="fold">
          <summary>{t('Content of an unknown kind: {0}', content.kind)}</summary>
          <PlainCode text={pretty(content.raw)} />
        </details>
      )
  }
}

interface ChangeProps {
  slot: EntrySlot
  change: FileChange
  patch: string | undefined
  content: number
  position: number
}

function Change({ slot, change, patch, content, position }: ChangeProps) {
  const { host, store } = useApp()
  const roots = store.head.value?.roots
  const diff = diffOf(change, patch)
  const path = relativePath(change.path, roots)
  const name =
    change.oldPath && change.oldPath !== change.path
      ? `${relativePath(change.oldPath, roots)} → ${path}`
      : path
  return (
    <div class="change">
      <div class="change-head">
        <button
          type="button"
          class="change-path"
          title={change.path}
          onClick={() => host.openFile(change.path, diff?.hunks[0]?.start)}
        >
          <ToolTitle title={name} roots={undefined} />
        </button>
        {operationName(change) && <span class="quiet">{operationName(change)}</span>}
        {diff && <DiffCounts added={diff.added} removed={diff.removed} />}
        <IconButton
          icon="diff-single"
          label={t('Open diff')}
          onClick={() => host.openDiff(slot.id, content, position)}
        />
      </div>
      {diff && diff.hunks.length > 0 && <DiffView diff={diff} />}
      {!diff && patch && <PlainCode text={patch} />}
    </div>
  )
}

function operationName(change: FileChange): string {
  switch (change.operation) {
    case 'add':
      return t('new file')
    case 'delete':
      return t('deleted')
    case 'move':
      return t('moved')
    case 'copy':
      return t('copied')
    default:
      return ''
  }
}

function Locations({ locations }: { locations: readonly ToolCallLocation[] }) {
  const { host, store } = useApp()
  const roots = store.head.value?.roots
  if (locations.length === 0) return null
  return (
    <div class="chips">
      {locations.slice(0, 50).map(({ path, line }) => (
        <button
          key={`${path}:${line ?? ''}`}
          type="button"
          class="chip"
          title={path}
          onClick={() => host.openFile(path, line)}
        >
          <Icon name="go-to-file" />
          <span class="chip-label">
            {relativePath(path, roots)}
            {line ? `:${line}` : ''}
          </span>
        </button>
      ))}
    </div>
  )
}

/** What went over the wire, drawn only when asked for. */
function Raw({ label, value }: { label: string; value: unknown }) {
  const [open, setOpen] = useState(false)
  if (value === undefined || value === null) return null
  return (
    <details class="fold raw" open={open} onToggle={event => setOpen(event.currentTarget.open)}>
      <summary>{label}</summary>
      {open && <PlainCode text={typeof value === 'string' ? value : pretty(value)} />}
    </details>
  )
}
