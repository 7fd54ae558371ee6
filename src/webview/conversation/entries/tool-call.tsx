import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { ContentBlock, ToolCallContent, ToolCallLocation, ToolKind } from '../../../acp/model.ts'
import { isCut } from '../../../bridge/conversation.ts'
import { editorToolCall, withoutDataMarks } from '../../../conversation/mcp-tool-call.ts'
import type { ToolCallEntry } from '../../../conversation/state.ts'
import { type ToolOutput, toolOutput, withoutEscapes } from '../../../conversation/tool-output.ts'
import { t } from '../../l10n.ts'
import { hasDiff, loadComparison, ToolCounts } from '../../tools/diff-counts.tsx'
import { pretty, rawCode, rawText } from '../../tools/raw.ts'
import {
  kindIcon,
  kindName,
  type PathRoots,
  relativePath,
  titleOfTool,
  titleParts,
} from '../../tools/title.ts'
import { Icon } from '../../ui/icon.tsx'
import { LoadingPart, lazyWithStyles } from '../../ui/lazy.tsx'
import { PlainCode } from '../../ui/scroll-area.tsx'
import { useApp } from '../context.ts'
import type { EntrySlot } from '../slot.ts'
import type { ConversationStore } from '../store.ts'
import { refusalOf } from '../tool-permissions.ts'
import { HideWork, Terminal, TerminalTail, WithCancel } from './cancel-work.tsx'
import { ContentBlockView } from './content.tsx'
import { AnswerAside, Decisions } from './decision.tsx'
import { HighlightedCode } from './highlighted-code.tsx'
import { entryDuration, Line, Stopped, ToolTitle } from './line.tsx'

const Change = lazyWithStyles(() => import('./change.tsx').then(module => module.Change))

/** Loads the code that draws diffs, so that the next change is drawn completely at once. Never rejects. */
export const loadDiffs = () => Promise.allSettled([Change.preload(), loadComparison()])

/** A tool call: a line, and when expanded, all details below it. */
export function ToolCall({ slot }: { slot: EntrySlot }) {
  const app = useApp()
  const entry = slot.entry.value as ToolCallEntry
  const open = slot.open.value
  useWhole(slot, open || hasDiff(entry))
  const roots = app.store.head.value?.roots
  const title = titleOfTool(entry)
  return (
    <div class="work" data-status={entry.status}>
      <WithCancel
        work={
          isRunning(entry) && entry.canCancel
            ? { toolCallId: entry.toolCallId, within: entry.within }
            : undefined
        }
        label={t('Stop Tool Call')}
        hide={
          slot.isParent.value && (
            <HideWork slot={slot} hideLabel={t('Hide Tool Calls')} showLabel={t('Show Tool Calls')} />
          )
        }
      >
        <Line
          icon={kindIcon(entry.toolKind)}
          iconLabel={kindName(entry.toolKind)}
          title={titleParts(title, undefined).full}
          open={open}
          onToggle={() => app.toggle(slot)}
          end={<ToolEnd slot={slot} entry={entry} />}
        >
          <ToolTitle title={title} roots={roots} code={entry.toolKind === 'execute'} />
          <AnswerAside call={slot} />
        </Line>
      </WithCancel>
      {open ? <ToolBody slot={slot} entry={entry} /> : <Tail slot={slot} entry={entry} />}
    </div>
  )
}

/** Requests the complete content of a tool call while `isWanted`. */
export function useWhole(slot: EntrySlot | undefined, isWanted: boolean): void {
  const { store } = useApp()
  const id = isWanted ? slot?.id : undefined
  useEffect(() => (id === undefined ? undefined : store.wholeToolCalls.show(id)), [store, id])
}

/** Number of lines of a command's output that are shown while it runs, and after it failed. */
const RUNNING_LINES = 5
const FAILED_LINES = 10
/** Length of the end of an output that is searched for its last lines. Characters. */
const TAIL_LENGTH = 4000

/** The last lines of a running or failed command; hidden after success, and once the user has collapsed the command. */
function Tail({ slot, entry }: SlotOfTool) {
  const { store } = useApp()
  if (entry.toolKind !== 'execute' || store.expansion.state(`closed/${slot.id}`).value) return null
  const isFailed = entry.status === 'failed' || failureOf(store, entry) !== undefined
  if (entry.status !== 'in_progress' && !isFailed) return null
  const count = isFailed ? FAILED_LINES : RUNNING_LINES
  for (const content of entry.content)
    if (content.type === 'terminal')
      return <TerminalTail terminal={store.terminals.get(content.terminalId)} lines={count} />
  const lines = textTail(entry, count)
  return lines === '' ? null : <pre class="plain-code tail">{lines}</pre>
}

/** Returns the last lines of a tool call's text, without the lines of a fence around the text. */
function textTail(entry: ToolCallEntry, count: number): string {
  const last = entry.content.findLast(part => part.type === 'content' && part.content.type === 'text')
  let text = entry.content.length === 0 && typeof entry.rawOutput === 'string' ? entry.rawOutput : ''
  if (last?.type === 'content' && last.content.type === 'text') text = last.content.text
  const lines = withoutEscapes(text.slice(-TAIL_LENGTH))
    .trimEnd()
    .replace(/\n(?:```|~~~)$/, '')
    .split('\n')
  return lines
    .slice(-count)
    .join('\n')
    .replace(/^(?:```|~~~).*\n?/, '')
}

function isRunning(entry: ToolCallEntry): boolean {
  return entry.status === 'in_progress' || entry.status === 'pending'
}

interface SlotOfTool {
  slot: EntrySlot
  entry: ToolCallEntry
}

/** Counts of changed lines, the status, and the duration. */
function ToolEnd({ slot, entry }: SlotOfTool) {
  const running = isRunning(entry)
  const duration = entryDuration(entry, entry.status === 'in_progress')
  return (
    <>
      <ToolCounts entries={[entry]} />
      <ToolStatus slot={slot} entry={entry} />
      {duration && <span class="duration">{duration}</span>}
      {running && entry.status === 'in_progress' && (
        <Icon name="loading" class="codicon-modifier-spin" label={t('Running')} />
      )}
    </>
  )
}

function ToolStatus({ slot, entry }: SlotOfTool) {
  const { store } = useApp()
  const failure = failureOf(store, entry)
  if (failure !== undefined) return <Failed>{failure}</Failed>
  switch (entry.status) {
    case 'failed':
    case 'cancelled': {
      // many agents report rejected calls as failed, or never report their end
      const refusal = refusalOf(slot)
      if (!refusal && entry.status === 'failed') return <Failed>{t('failed')}</Failed>
      if (refusal !== 'rejected' && store.isStopped(entry)) return <Stopped />
      // the answer after the title says that the user refused
      return refusal ? null : <span>{t('canceled')}</span>
    }
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

/** Returns how a command of a tool call failed; `undefined` if none did. */
function failureOf(store: ConversationStore, entry: ToolCallEntry): string | undefined {
  for (const content of entry.content) {
    if (content.type !== 'terminal') continue
    const exit = store.terminals.get(content.terminalId).state.value?.exit
    if (exit?.signal) return exit.signal
    if (exit?.exitCode) return t('exit code {0}', exit.exitCode)
  }
  return undefined
}

function Failed({ children }: { children: ComponentChildren }) {
  return (
    <span class="failed">
      <Icon name="error" /> {children}
    </span>
  )
}

function ToolBody({ slot, entry }: SlotOfTool) {
  const roots = useApp().store.head.value?.roots
  if (isCut(entry)) return <LoadingPart />
  // the editor tools return locations with lines of code, which aren't Markdown
  const isEditorTool = editorToolCall(entry) !== undefined
  const shown = entry.content.length > 0
  const output = shown ? undefined : rawText(entry.rawOutput)
  // raw output without a text in it is shown as JSON
  const isData = output !== undefined && output === pretty(entry.rawOutput)
  return (
    <div class="work-body">
      <FullTitle entry={entry} roots={roots} />
      <Decisions call={slot} tool={entry} />
      {entry.content.map((content, i) => (
        <ToolContent
          key={i}
          slot={slot}
          content={content}
          position={i}
          kind={isEditorTool ? 'search' : entry.toolKind}
        />
      ))}
      {output !== undefined && <Output text={withoutEscapes(output)} language={isData ? 'json' : ''} />}
      {!shown && output === undefined && (isRunning(entry) || isBare(entry)) && (
        <div class="quiet">{isRunning(entry) ? t('No output yet') : t('No output')}</div>
      )}
      <Locations locations={furtherLocations(entry)} />
      <Raw label={t('Raw Input')} value={entry.rawInput} />
      <Raw
        label={t('Raw Output')}
        value={shown || (!isData && typeof entry.rawOutput === 'object') ? entry.rawOutput : undefined}
      />
    </div>
  )
}

/** Whether nothing else is known about the call, so that its details would be empty. */
function isBare({ locations, rawInput }: ToolCallEntry): boolean {
  return locations.length === 0 && (rawInput === undefined || rawInput === null)
}

/** Returns the locations of a tool call, except files with visible diffs, whose names are links already. */
function furtherLocations({ content, locations }: ToolCallEntry): readonly ToolCallLocation[] {
  const changed = new Set(
    content.flatMap(one => (one.type === 'diff' ? one.changes.map(change => change.path) : [])),
  )
  return changed.size === 0 ? locations : locations.filter(({ path }) => !changed.has(path))
}

/** The full title of a tool call, if its line truncates the title, as for long or multi-line commands. */
function FullTitle({ entry, roots }: { entry: ToolCallEntry; roots: PathRoots | undefined }) {
  const text = entry.title.replace(/^`([^`]+)`$/s, '$1').trim()
  if (titleParts(text, roots).full.length <= 60 && !text.includes('\n')) return null
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
  /** whether to wrap long lines of a diff, because the user decides on the change */
  wrap?: boolean
  /** the kind of tool, if text is its output; without a kind, text is a description */
  kind?: ToolKind
}

export function ToolContent({ slot, content, position, wrap, kind }: ToolContentProps) {
  const { store } = useApp()
  switch (content.type) {
    case 'content':
      return <ToolContentBlock block={content.content} kind={kind} />
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
              wrap={wrap}
            />
          ))}
        </>
      )
    case 'terminal':
      return <Terminal terminal={store.terminals.get(content.terminalId)} terminalId={content.terminalId} />
    case 'unknown':
      return (
        <details class="fold">
          <summary>{t('Unknown content type: {0}', content.kind)}</summary>
          <HighlightedCode text={pretty(content.raw)} language="json" />
        </details>
      )
  }
}

function ToolContentBlock({ block, kind }: { block: ContentBlock; kind: ToolKind | undefined }) {
  const text = block.type === 'text' && !block.agentOnly ? block.text : undefined
  const output = useMemo(
    () => (text === undefined ? undefined : toolOutput(withoutDataMarks(text), kind)),
    [text, kind],
  )
  if (output) return <Output {...output} />
  return (
    <div class="tool-content">
      <ContentBlockView block={block} />
    </div>
  )
}

/** The output of a tool, or the text that it read or found. */
function Output({ text, language }: ToolOutput) {
  return <HighlightedCode text={text} language={language} isLinked />
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
          onClick={() => host.send('conversation/file', { path, line })}
        >
          <Icon name="go-to-file" />
          <span class="chip-label truncate">
            {relativePath(path, roots)}
            {line ? `:${line}` : ''}
          </span>
        </button>
      ))}
    </div>
  )
}

/** The raw input and output, rendered on demand. */
function Raw({ label, value }: { label: string; value: unknown }) {
  const [open, setOpen] = useState(false)
  if (value === undefined || value === null) return null
  return (
    <details class="fold raw" open={open} onToggle={event => setOpen(event.currentTarget.open)}>
      <summary>{label}</summary>
      {open && <HighlightedCode {...rawCode(value)} />}
    </details>
  )
}
