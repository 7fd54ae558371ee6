import { useRef } from 'preact/hooks'
import type { ToolCallContent } from '../../../acp/model.ts'
import type { PermissionEntry, ToolCallEntry } from '../../../conversation/state.ts'
import { t } from '../../l10n.ts'
import { commandOf, repeatsCommand, type ToolCommand } from '../../tools/command.ts'
import { pretty } from '../../tools/raw.ts'
import { relativePath } from '../../tools/title.ts'
import { ToolCounts } from '../../tools/tool-counts.tsx'
import { Icon } from '../../ui/icon.tsx'
import { PlainCode } from '../../ui/scroll-area.tsx'
import { useApp } from '../context.ts'
import { primaryOption } from '../permission-options.ts'
import type { EntrySlot } from '../slot.ts'
import { Line } from './line.tsx'
import { ToolContent } from './tool-call.tsx'
import { ToolTitle } from './tool-title.tsx'

/** A question the agent waits for: a box while it is open, one line once it is answered. */
export function Permission({ slot }: { slot: EntrySlot }) {
  const entry = slot.entry.value as PermissionEntry
  return entry.outcome ? <Answered slot={slot} entry={entry} /> : <Question slot={slot} entry={entry} />
}

function Question({ slot, entry }: { slot: EntrySlot; entry: PermissionEntry }) {
  const { store, host } = useApp()
  const box = useRef<HTMLDivElement>(null)
  const first = store.waiting.value[0] === slot.id
  const call = entry.toolCallId === undefined ? undefined : store.toolCall(entry.toolCallId)
  const tool = call?.entry.value.kind === 'tool_call' ? call.entry.value : undefined
  const primary = primaryOption(entry.options)

  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms, and draws one
    <div
      ref={box}
      class={`permission${first ? ' first' : ''}`}
      role="group"
      aria-label={t('Permission needed: {0}', entry.title)}
      data-request={entry.requestId}
    >
      <div class="permission-head">
        <Icon name="shield" class="permission-icon" />
        <div class="permission-title" dir="auto">
          {questionTitle(entry, tool)}
        </div>
      </div>
      {entry.description && (
        <div class="permission-description" dir="auto">
          {entry.description}
        </div>
      )}
      <Subject entry={entry} tool={tool} slot={call} />
      <div class="permission-options">
        {entry.options.map((option, i) => (
          <button
            key={option.optionId}
            type="button"
            class={`button ${first && option === primary ? 'primary' : 'secondary'}`}
            data-option={i + 1}
            data-primary={option === primary ? '' : undefined}
            title={option.name}
            onClick={() => host.answer(entry.requestId, option.optionId)}
          >
            {first && i < 9 && (
              <span class="key" aria-hidden="true">
                {i + 1}
              </span>
            )}
            <span class="button-label">{option.name}</span>
          </button>
        ))}
        {entry.options.length === 0 && (
          <button
            type="button"
            class="button secondary"
            onClick={() => host.answer(entry.requestId, undefined)}
          >
            <span class="button-label">{t('Cancel')}</span>
          </button>
        )}
      </div>
    </div>
  )
}

function questionTitle(entry: PermissionEntry, tool: ToolCallEntry | undefined): string {
  const own = entry.title.trim()
  if (own !== '' && own !== tool?.title.trim()) return own
  if (entry.command) return t('Allow running this command?')
  switch (tool?.toolKind) {
    case 'execute':
      return t('Allow running this command?')
    case 'edit':
      return t('Allow this edit?')
    case 'delete':
      return t('Allow deleting this?')
    case 'move':
      return t('Allow moving this?')
    case 'read':
    case 'search':
      return t('Allow reading this?')
    case 'fetch':
      return t('Allow fetching this?')
    case 'switch_mode':
      return t('Allow switching the mode?')
    default:
      return t('Allow this?')
  }
}

function subjectCommand(entry: PermissionEntry, tool: ToolCallEntry | undefined): Partial<ToolCommand> {
  if (entry.command) return entry.command
  return (tool?.toolKind === 'execute' ? commandOf(tool) : undefined) ?? {}
}

/** Whether the tool call's title tells something that the command or the diff under it does not. */
function saysMore(tool: ToolCallEntry, command: string | undefined): boolean {
  const title = tool.title.replace(/^`([^`]+)`$/s, '$1').trim()
  if (command !== undefined) return title !== '' && !command.includes(title)
  return title !== '' && !tool.content.some(content => content.type === 'diff')
}

/** The command stands above already, in full. */
function repeats(content: ToolCallContent, command: string | undefined): boolean {
  if (command === undefined || content.type !== 'content' || content.content.type !== 'text') return false
  return repeatsCommand(content.content.text, command)
}

interface SubjectProps {
  entry: PermissionEntry
  tool: ToolCallEntry | undefined
  slot: EntrySlot | undefined
}

/** What is asked about, in full: the command and where it runs, the diff, the rest of what the agent told. */
function Subject({ entry, tool, slot }: SubjectProps) {
  const { store } = useApp()
  const roots = store.head.value?.roots
  const { command, cwd } = subjectCommand(entry, tool)
  const place = cwd ?? roots?.cwd
  const others =
    tool?.content.filter(content => content.type !== 'terminal' && !repeats(content, command)) ?? []
  return (
    <div class="permission-subject">
      {tool && saysMore(tool, command) && (
        <div class="permission-tool">
          <ToolTitle title={tool.title} roots={roots} />
        </div>
      )}
      {command !== undefined && <PlainCode text={command} wrap whole />}
      {command !== undefined && place && (
        <div class="quiet permission-place" title={place}>
          {t('in {0}', place === roots?.cwd ? roots.cwdLabel : relativePath(place, roots))}
        </div>
      )}
      {tool &&
        slot &&
        others.map(content => (
          <ToolContent
            key={tool.content.indexOf(content)}
            slot={slot}
            content={content}
            position={tool.content.indexOf(content)}
          />
        ))}
      {entry.subject && <PlainCode text={pretty(entry.subject.raw)} whole />}
      {command === undefined &&
        others.length === 0 &&
        tool?.rawInput !== undefined &&
        tool.rawInput !== null && (
          <PlainCode text={typeof tool.rawInput === 'string' ? tool.rawInput : pretty(tool.rawInput)} whole />
        )}
    </div>
  )
}

function Answered({ slot, entry }: { slot: EntrySlot; entry: PermissionEntry }) {
  const app = useApp()
  const call = entry.toolCallId === undefined ? undefined : app.store.toolCall(entry.toolCallId)
  const tool = call?.entry.value.kind === 'tool_call' ? call.entry.value : undefined
  const { outcome } = entry
  const chosen =
    outcome?.type === 'selected' ? entry.options.find(one => one.optionId === outcome.optionId) : undefined
  const rejected = outcome?.type === 'cancelled' || chosen?.kind.startsWith('reject')
  const answer = outcome?.type === 'cancelled' ? t('Cancelled') : (chosen?.name ?? t('Answered'))
  const about = subjectCommand(entry, tool).command
  const open = slot.open.value
  return (
    <div class="work answered">
      <Line
        icon={rejected ? 'circle-slash' : 'pass'}
        open={open}
        onToggle={() => app.toggle(slot)}
        end={tool && <ToolCounts entry={tool} />}
      >
        <span class="answer">{answer}</span>
        <span class="line-aside">
          <ToolTitle
            title={about ?? tool?.title ?? entry.title}
            roots={app.store.head.value?.roots}
            code={about !== undefined}
          />
        </span>
      </Line>
      {open && (
        <div class="work-body">
          <div dir="auto">{questionTitle(entry, tool)}</div>
          <Subject entry={entry} tool={tool} slot={call} />
        </div>
      )}
    </div>
  )
}
