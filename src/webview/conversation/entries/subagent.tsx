import type { SessionMessageEntry, SubagentEntry } from '../../../conversation/state.ts'
import { plural, t } from '../../l10n.ts'
import { Icon } from '../../ui/icon.tsx'
import { useApp } from '../context.ts'
import type { EntrySlot } from '../slot.ts'
import type { ConversationStore } from '../store.ts'
import { HideWork, WithCancel } from './cancel-work.tsx'
import { entryDuration, Line, Stopped } from './line.tsx'
import { subagentClass } from './subagent-name.tsx'

/** A subagent: its name and state; when expanded, its task and messages. */
export function Subagent({ slot }: { slot: EntrySlot }) {
  const app = useApp()
  const entry = slot.entry.value as SubagentEntry
  const activity = entry.state?.activity
  const running = activity === 'running' || activity === 'requires_action'
  const failed = entry.state?.error !== undefined || entry.state?.stopReason === 'error'
  const isStopped = entry.state?.stopReason === 'cancelled' && app.store.isStopped(entry)
  const open = slot.open.value
  return (
    <div class={`work ${subagentClass(app.store.subagents.numberOf(entry.sessionId))}`}>
      <WithCancel
        work={running && entry.canCancel ? { subagentId: entry.sessionId } : undefined}
        label={t('Stop Subagent')}
        hide={<HideWork slot={slot} hideLabel={t('Hide Messages')} showLabel={t('Show Messages')} />}
      >
        <Line
          icon={failed ? 'error' : 'organization'}
          iconClass={failed ? 'failed' : undefined}
          iconLabel={entry.title ? t('Subagent') : undefined}
          title={entry.state?.error?.message ?? entry.description}
          open={open}
          onToggle={() => app.toggle(slot)}
          end={
            <>
              {running && <Icon name="loading" class="codicon-modifier-spin" />}
              {isStopped ? <Stopped /> : <span>{stateName(entry)}</span>}
              {entryDuration(entry, running)}
            </>
          }
        >
          {entry.title || t('Subagent')}
        </Line>
      </WithCancel>
      {open && <Details entry={entry} messages={app.store.subagents.messagesOf(entry.sessionId)} />}
    </div>
  )
}

function Details({ entry, messages }: { entry: SubagentEntry; messages: readonly EntrySlot[] }) {
  const folders = [entry.cwd, ...(entry.additionalDirectories ?? [])].filter(Boolean)
  return (
    <div class="work-body subagent">
      {entry.description && <p dir="auto">{entry.description}</p>}
      {entry.state?.error && (
        <p class="subagent-error" dir="auto">
          <Icon name="error" class="failed" /> {entry.state.error.message}
        </p>
      )}
      {folders.length > 0 && <p class="quiet">{t('Working directory: {0}', folders.join(', '))}</p>}
      {messages.length > 0 ? (
        <ul class="subagent-messages" aria-label={plural(messages.length, '1 message', '{0} messages')}>
          {messages.map(slot => (
            <li key={slot.id}>
              <Exchanged slot={slot} />
            </li>
          ))}
        </ul>
      ) : (
        <p class="quiet">{t('No messages yet.')}</p>
      )}
    </div>
  )
}

/** A message in the list of its subagent: its direction and first line. */
function Exchanged({ slot }: { slot: EntrySlot }) {
  const { list, store } = useApp()
  const entry = slot.entry.value as SessionMessageEntry
  void slot.grown.value
  const reveal = () => {
    store.expandFor(slot)
    const row = store.rows.rowsOf(slot.index)[0]
    if (row) list.reveal(row)
  }
  return (
    <button type="button" class="link-button" onClick={reveal}>
      <Icon name={entry.from === undefined ? 'arrow-right' : 'arrow-left'} />
      <span dir="auto">{firstLine(entry) || t('Message')}</span>
    </button>
  )
}

/** A message to or from a subagent. When expanded, its text is in separate rows. */
export function SessionMessage({ slot }: { slot: EntrySlot }) {
  const app = useApp()
  const entry = slot.entry.value as SessionMessageEntry
  void slot.grown.value
  const hasText = entry.blocks.some(block => block.type !== 'text' || block.text.trim() !== '')
  return (
    <Line icon="mail" open={slot.open.value} onToggle={hasText ? () => app.toggle(slot) : undefined}>
      {describeRoute(entry, app.store)}
    </Line>
  )
}

/** Describes the sender and receiver of a message, without the displayed session itself. */
function describeRoute({ from, to }: SessionMessageEntry, store: ConversationStore): string {
  const here = store.head.value?.sessionId
  const name = (sessionId: string | undefined) =>
    sessionId === undefined || sessionId === here
      ? undefined
      : (subagentName(store, sessionId) ?? t('a subagent'))
  const sender = name(from)
  const recipient = name(to)
  if (sender && recipient) return t('From {0} to {1}', sender, recipient)
  if (sender) return t('From {0}', sender)
  return recipient ? t('To {0}', recipient) : t('Message between sessions')
}

function subagentName(store: ConversationStore, sessionId: string): string | undefined {
  const entry = store.subagents.get(sessionId)?.entry.value
  return entry?.kind === 'subagent' ? entry.title : undefined
}

function firstLine({ blocks }: SessionMessageEntry): string {
  for (const block of blocks) {
    const line = block.type === 'text' ? block.text.trim().split('\n', 1)[0] : undefined
    if (line) return line.length > 200 ? `${line.slice(0, 200)}…` : line
  }
  return ''
}

function stateName({ state }: SubagentEntry): string {
  switch (state?.activity) {
    case 'running':
      return t('working')
    case 'requires_action':
      return t('waiting')
    case 'idle':
      return state.stopReason === 'cancelled' ? t('stopped') : state.error ? t('failed') : t('done')
    default:
      return ''
  }
}
