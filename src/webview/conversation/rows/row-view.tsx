import { Component, type ComponentChildren, type FunctionComponent } from 'preact'
import type { ContentBlock } from '../../../acp/model.ts'
import { isRewound } from '../../../bridge/conversation.ts'
import { growingBlocks } from '../../../conversation/entries/growing-blocks.ts'
import type { Rewind } from '../../../conversation/state.ts'
import { t } from '../../l10n.ts'
import { MarkdownBlockView } from '../../markdown/view.tsx'
import { IconButton } from '../../ui/button.tsx'
import { lazy, lazyWithStyles } from '../../ui/lazy.tsx'
import { useApp } from '../context.ts'
import { ContentBlockView } from '../entries/content.tsx'
import { Run, Thought } from '../entries/line.tsx'
import { Compaction, Notice, TurnEnd, Unknown } from '../entries/notices.tsx'
import { Prompt } from '../entries/prompt.tsx'
import { SubagentName, subagentClass } from '../entries/subagent-name.tsx'
import { loadDiffs, ToolCall } from '../entries/tool-call.tsx'
import { TurnLine } from '../entries/turn-line.tsx'
import {
  type EntryRowKind,
  heightOfMissing,
  isTextBelow,
  type MarkdownRow,
  type Row,
  slotOf,
} from '../row.ts'
import type { EntrySlot } from '../slot.ts'
import type { Subagents } from '../subagents.ts'

/**
 * Loads the component for permission requests. Called at the first turn (see `main.tsx`), so that a request doesn't have to wait. Also
 * loads the code for diffs: if a request grew after it appeared, its buttons would move away from the pointer.
 */
export const loadPermission = () =>
  Promise.all([import('../entries/permission.tsx'), loadDiffs()]).then(([module]) => module)
const Permission = lazy(() => loadPermission().then(module => module.Permission))
/** Components that few conversations need, so they are loaded on demand. */
const Subagent = lazy(() => import('../entries/subagent.tsx').then(module => module.Subagent))
const SessionMessage = lazy(() => import('../entries/subagent.tsx').then(module => module.SessionMessage))
const AsideLine = lazy(() => import('../entries/prompt-lines.tsx').then(module => module.AsideLine))
const Elicitation = lazyWithStyles(() =>
  import('../elicitation/elicitation.tsx').then(module => module.Elicitation),
)

export function rowClass(row: Row, subagents: Subagents, rewinds: readonly Rewind[] = []): string {
  const classes = [`row row-${row.kind} gap-${row.gap}`]
  // notes about a restored checkpoint aren't dimmed
  if (rewinds.length > 0 && row.kind !== 'notice') {
    const turn = slotOf(row)?.entry.peek().turn
    if (turn !== undefined && isRewound(rewinds, turn)) classes.push('rewound')
  }
  if ('nested' in row && row.nested) classes.push('nested')
  const within = row.kind === 'turn' ? undefined : slotOf(row)?.within
  if (within !== undefined) classes.push('within', subagentClass(subagents.numberOf(within)))
  if (row.named) classes.push('named')
  // the text is indented, with a thin line at its left
  if ((row.kind === 'markdown' || row.kind === 'content') && isTextBelow(row.slot.entry.peek()))
    classes.push('aside')
  return classes.join(' ')
}

export function RowView({ row }: { row: Row }) {
  const within = row.named ? slotOf(row)?.within : undefined
  return (
    <RowBoundary>
      {within !== undefined && <SubagentName work={within} />}
      <Content row={row} />
    </RowBoundary>
  )
}

const ENTRY_VIEWS: Readonly<Record<EntryRowKind, FunctionComponent<{ slot: EntrySlot }>>> = {
  prompt: Prompt,
  thought: Thought,
  tool: ToolCall,
  permission: Permission,
  elicitation: Elicitation,
  notice: Notice,
  compaction: Compaction,
  subagent: Subagent,
  session_message: SessionMessage,
  turn_end: TurnEnd,
  unknown: Unknown,
}

function Content({ row }: { row: Row }) {
  switch (row.kind) {
    case 'markdown':
      return <Markdown row={row} />
    case 'content':
      return <BesideText slot={row.slot} block={row.block} />
    case 'run':
      return <Run row={row} />
    case 'aside':
      return <AsideLine row={row} />
    case 'turn':
      return <TurnLine slot={row.slot} />
    case 'missing':
      return <div class="missing" style={{ height: heightOfMissing(row.count) }} />
    default: {
      const View = ENTRY_VIEWS[row.kind]
      return <View slot={row.slot} />
    }
  }
}

function Markdown({ row }: { row: MarkdownRow }) {
  const { host } = useApp()
  // subscribe to the entry, since a replaced entry may have another document
  void row.slot.entry.value
  const document = row.slot.documents[row.block]
  if (!document) return null
  const first = row.part === 0 && row.block === 0 && !isTextBelow(row.slot.entry.peek())
  return (
    <>
      <MarkdownBlockView document={document} part={row.part} />
      {first && (
        <div class="row-actions">
          <IconButton
            icon="copy"
            label={t('Copy Message')}
            onClick={() =>
              host.send('actions/entry', { command: 'parley.copyMessage', entryId: row.slot.id })
            }
          />
        </div>
      )}
    </>
  )
}

/** A content block of a message that isn't text. */
function BesideText({ slot, block }: { slot: EntrySlot; block: number }) {
  const content: ContentBlock | undefined = growingBlocks(slot.entry.value)[block]
  return content ? <ContentBlockView block={content} /> : null
}

/** Prevents an entry that can't be rendered from breaking the whole conversation. */
class RowBoundary extends Component<{ children: ComponentChildren }, { hasFailed: boolean }> {
  override state = { hasFailed: false }

  static override getDerivedStateFromError(): { hasFailed: boolean } {
    return { hasFailed: true }
  }

  override render() {
    if (this.state.hasFailed) return <div class="quiet">{t("This entry can't be displayed.")}</div>
    return this.props.children
  }
}
