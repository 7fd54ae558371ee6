import { canUndo } from '../../../bridge/conversation.ts'
import { sessionOfKey } from '../../../common/session-key.ts'
import { compactCommand, isContextFull } from '../../../conversation/context-full.ts'
import type { CompactionEntry, NoticeEntry, TurnEndEntry, UnknownEntry } from '../../../conversation/state.ts'
import { t } from '../../l10n.ts'
import { MarkdownText } from '../../markdown/view.tsx'
import { pretty } from '../../tools/raw.ts'
import { relativePath } from '../../tools/title.ts'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { PlainCode } from '../../ui/scroll-area.tsx'
import { useApp } from '../context.ts'
import type { EntrySlot } from '../slot.ts'
import type { ConversationStore } from '../store.ts'
import { HighlightedCode } from './highlighted-code.tsx'
import { entryDuration, Line, Stopped } from './line.tsx'

const severityIcons: Record<string, string> = { info: 'info', warning: 'warning', error: 'error' }

/** A notice from the agent or from Parley. */
export function Notice({ slot }: { slot: EntrySlot }) {
  const { host, store } = useApp()
  const entry = slot.entry.value as NoticeEntry
  const back = entry.continues && store.part('goBack').value
  const severity = severityIcons[entry.severity] ? entry.severity : 'info'
  return (
    <div class={`notice notice-${severity}`} role="note">
      <Icon name={severityIcons[severity]!} class="notice-icon" />
      <div class="notice-text" dir="auto">
        <div class="notice-title">{entry.title}</div>
        {entry.description && <MarkdownText text={entry.description} />}
        {entry.files && <NoticeFiles files={entry.files} restored={entry.rewind !== undefined} />}
        {entry.forkedFrom && (
          <button
            type="button"
            class="link-button"
            onClick={() => host.send('conversation/openSession', sessionOfKey(entry.forkedFrom!.session))}
          >
            {t('Open Original Session')}
          </button>
        )}
        {back?.entryId === slot.id && (
          <button
            type="button"
            class="link-button"
            onClick={() => host.send('conversation/goBack', { entryId: slot.id })}
          >
            {t('Go Back to {0}', back.agentName)}
          </button>
        )}
        {entry.rewind && canUndo(entry.rewind) && (
          <button
            type="button"
            class="link-button"
            onClick={() => host.send('actions/entry', { command: 'parley.undoRestore', entryId: slot.id })}
          >
            {t('Undo Restore')}
          </button>
        )}
      </div>
    </div>
  )
}

/**
 * The changed files of a notice, with buttons to review and undo the changes while there are any. `restored`: the
 * remaining changes are older than those that were undone.
 */
function NoticeFiles({ files, restored }: { files: readonly string[]; restored: boolean }) {
  const { host, store, work } = useApp()
  const { key, files: changed } = work.changes.value
  const isHere = key === store.head.value?.key
  return (
    <ul class="notice-files">
      {files.map(file => {
        const path = relativePath(file, store.head.value?.roots)
        return (
          <li key={file}>
            <code dir="ltr">{path}</code>
            {!restored && isHere && changed.some(one => one.path === file) && (
              <>
                <button
                  type="button"
                  class="link-button"
                  title={t('Open Diff of {0}', path)}
                  onClick={() => host.send('changes/open', { path: file })}
                >
                  {t('Open Diff')}
                </button>
                <button
                  type="button"
                  class="link-button"
                  title={t('Revert Changes in {0}…', path)}
                  onClick={() => host.send('changes/undo', { path: file })}
                >
                  {t('Revert…')}
                </button>
              </>
            )}
          </li>
        )
      })}
    </ul>
  )
}

/** A compaction of the agent's context. When expanded, its summary is in separate rows. */
export function Compaction({ slot }: { slot: EntrySlot }) {
  const app = useApp()
  const entry = slot.entry.value as CompactionEntry
  void slot.grown.value
  const running = entry.status === 'in_progress'
  const isStopped = entry.status === 'cancelled' && app.store.isStopped(entry)
  const hasSummary = entry.summary.some(block => block.type !== 'text' || block.text.trim() !== '')
  return (
    <Line
      icon={entry.status === 'failed' ? 'error' : 'fold'}
      iconClass={entry.status === 'failed' ? 'failed' : undefined}
      title={entry.error}
      open={slot.open.value}
      onToggle={hasSummary ? () => app.toggle(slot) : undefined}
      end={
        <>
          {running && <Icon name="loading" class="codicon-modifier-spin" label={t('Running')} />}
          {isStopped && <Stopped />}
          {entryDuration(entry, running)}
        </>
      }
    >
      {isStopped ? t('Compacting the conversation') : compactionTitle(entry)}
    </Line>
  )
}

function compactionTitle(entry: CompactionEntry): string {
  switch (entry.status) {
    case 'in_progress':
      return t('Compacting the conversation…')
    case 'failed':
      return entry.error
        ? t("The conversation couldn't be compacted: {0}", entry.error)
        : t("The conversation couldn't be compacted")
    case 'cancelled':
      return t('Compacting canceled')
    default:
      return t('Conversation compacted')
  }
}

/** The end of a turn that didn't end normally. */
export function TurnEnd({ slot }: { slot: EntrySlot }) {
  const app = useApp()
  const entry = slot.entry.value as TurnEndEntry
  const head = app.store.head.value
  // the card below explains the reason and the actions
  const reported = head?.phase === 'ended' && head.cards.length > 0 && app.store.last.value === slot
  if (entry.error && !reported) {
    const { detail } = entry.error
    const isFull = isContextFull(entry.error)
    return (
      <div class="card card-error" role="note">
        <div class="card-head">
          <Icon name="error" class="card-icon" />
          <div class="card-title">
            {isFull ? t('The context is full') : t('The turn ended with an error')}
          </div>
        </div>
        <div class="card-text" dir="auto">
          {entry.error.message}
        </div>
        {detail && (
          <details
            class="fold"
            open={slot.open.value}
            onToggle={event => {
              if (event.currentTarget.open !== slot.open.peek()) app.toggle(slot)
            }}
          >
            <summary>{t('Details')}</summary>
            <PlainCode text={detail} />
          </details>
        )}
        {isFull ? <AfterContextFull slot={slot} /> : <Retry slot={slot} />}
      </div>
    )
  }
  const { icon, text } = stopReason(entry.error ? 'error' : entry.stopReason, entry.canceledBy)
  return (
    <div class="turn-end" role="note">
      <Icon name={icon} />
      <div class="turn-end-text">
        <span>{text}</span>
        <Retry slot={slot} />
      </div>
    </div>
  )
}

/** Buttons to continue after a turn that failed because the conversation is too long. */
function AfterContextFull({ slot }: { slot: EntrySlot }) {
  const { store, host } = useApp()
  if (!isIdleAfter(slot, store)) return null
  const command = compactCommand(store.head.value?.commands ?? [])
  const [failed] = store.lastPrompts().prompts.at(-1) ?? []
  const mayCompact =
    command !== undefined && !(failed?.type === 'text' && failed.text.startsWith(`/${command}`))
  const go = (next: 'compact' | 'continue' | 'edit') =>
    host.send('conversation/contextFull', { entryId: slot.id, next })
  return (
    <div class="card-buttons">
      {mayCompact && (
        <Button primary icon="fold" title={`/${command}`} onClick={() => go('compact')}>
          {t('Compact Conversation')}
        </Button>
      )}
      <Button
        primary={!mayCompact}
        icon="comment-discussion"
        title={t('With the latest turns, and a summary of the others by the agent')}
        onClick={() => go('continue')}
      >
        {t('Continue in a New Session')}
      </Button>
      <Button icon="edit" onClick={() => go('edit')}>
        {t('Edit Prompt')}
      </Button>
    </div>
  )
}

/** Whether the session can continue, and nothing has followed this entry except notes about the saved copy. */
function isIdleAfter(slot: EntrySlot, store: ConversationStore): boolean {
  const head = store.head.value
  let last = store.last.value
  while (last && isSavedCopyNote(last)) last = store.rows.slots[last.index - 1]
  return last === slot && head?.phase === 'ready' && head.activity === 'idle'
}

function isSavedCopyNote({ entry }: EntrySlot): boolean {
  const value = entry.peek()
  return value.kind === 'notice' && (value as NoticeEntry).savedCopy === true
}

/** A button after a failed turn that sends the turn's prompt again. */
function Retry({ slot }: { slot: EntrySlot }) {
  const { store, host } = useApp()
  if (!isIdleAfter(slot, store)) return null
  return (
    <button
      type="button"
      class="link-button turn-retry"
      onClick={() => host.send('actions/entry', { command: 'parley.sendAgain', entryId: slot.id })}
    >
      {t('Resend Prompt')}
    </button>
  )
}

/** Returns the icon and label of a turn that didn't end normally. */
export function stopReason(reason: string, canceledBy?: 'agent'): { icon: string; text: string } {
  switch (reason) {
    case 'cancelled':
      return {
        icon: 'circle-slash',
        text: canceledBy === 'agent' ? t('The agent canceled the turn') : t('Stopped by you'),
      }
    case 'empty':
      return { icon: 'warning', text: t('The turn ended without a response') }
    case 'interrupted':
      return { icon: 'debug-disconnect', text: t('The turn was interrupted') }
    case 'max_tokens':
      return { icon: 'warning', text: t('The turn ended: the token limit was reached') }
    case 'max_turn_requests':
      return { icon: 'warning', text: t('The turn ended: the maximum number of model requests was reached') }
    case 'refusal':
      return { icon: 'warning', text: t('The agent refused to continue') }
    case 'error':
      return { icon: 'error', text: t('The turn ended with an error') }
    default:
      return { icon: 'info', text: t('The turn ended: {0}', reason) }
  }
}

/** An entry of an unknown kind, shown as a whole. */
export function Unknown({ slot }: { slot: EntrySlot }) {
  const app = useApp()
  const entry = slot.entry.value as UnknownEntry
  const open = slot.open.value
  return (
    <div class="work">
      <Line
        icon="question"
        title={t("The agent sent an update that this version of Parley doesn't support.")}
        open={open}
        onToggle={() => app.toggle(slot)}
      >
        {t('Unknown update: {0}', entry.updateKind)}
      </Line>
      {open && (
        <div class="work-body">
          <HighlightedCode text={pretty(entry.raw)} language="json" />
        </div>
      )}
    </div>
  )
}
