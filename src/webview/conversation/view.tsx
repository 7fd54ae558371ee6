import { useCallback, useLayoutEffect, useRef } from 'preact/hooks'
import type { EntryContext } from '../../bridge/conversation.ts'
import { t } from '../l10n.ts'
import { VirtualList } from '../list/virtual-list.tsx'
import { lazy, lazyWithStyles } from '../ui/lazy.tsx'
import { LiveRegion } from '../ui/live-region.tsx'
import { loadCopying, onProseClick, onProseCopy } from './actions/prose.ts'
import { Announcer } from './announcer.tsx'
import { Cards } from './cards.tsx'
import { Composer } from './composer/composer.tsx'
import type { Draft } from './composer/draft.ts'
import { SendingPrompts } from './composer/outgoing.tsx'
import { useApp } from './context.ts'
import { Empty, EmptySession } from './empty.tsx'
import { Header } from './header/header.tsx'
import { JumpButtons } from './navigation/jump.tsx'
import { onViewKey } from './navigation/keys.ts'
import { useQuestionFocus } from './navigation/question-focus.ts'
import type { Row } from './row.ts'
import { RowView, rowClass } from './rows/row-view.tsx'
import { Plans } from './work/plan.tsx'
import { WorkingLine } from './work/working-line.tsx'

/** Loaded with the first change, since a conversation without changes doesn't need it. */
const ChangedFiles = lazyWithStyles(() =>
  import('./work/changed-files.tsx').then(module => module.ChangedFiles),
)
/** Loaded when work such as a background command runs besides a turn. */
const RunningWork = lazyWithStyles(() => import('./work/running-work.tsx').then(module => module.RunningWork))
const TurnPrompt = lazy(() => import('./navigation/turn-prompt.tsx').then(module => module.TurnPrompt))
const QuoteButton = lazy(() => import('./actions/quote-button.tsx').then(module => module.QuoteButton))
const FindWidget = lazyWithStyles(() => import('./find/widget.tsx').then(module => module.FindWidget))

/** The whole Conversation view. */
export function ConversationView({ draft }: { draft: Draft }) {
  const app = useApp()
  const root = useRef<HTMLDivElement>(null)

  // before anything is visible, so that no key is missed
  useLayoutEffect(() => {
    const key = (event: KeyboardEvent) => onViewKey(event, app)
    window.addEventListener('keydown', key)
    document.addEventListener('selectionchange', loadCopying, { once: true })
    return () => window.removeEventListener('keydown', key)
  }, [app])
  useQuestionFocus()
  const isRecording = app.store.part('recording').value === true

  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: links and buttons inside answer to the keyboard by themselves
    <main
      ref={root}
      class={`conversation${isRecording ? ' recording' : ''}`}
      data-vscode-context={context('conversation', {
        conversation: app.store.part('key').value ?? '',
      })}
      onClick={event => onProseClick(event, app.host)}
      onCopy={onProseCopy}
    >
      {isRecording ? <p class="recording-note">{t('Recording · read-only')}</p> : <Header />}
      <Progress />
      <Body draft={draft} />
      <div class="dock">
        <div class="bars">
          {app.store.part('running').value && <RunningWork />}
          <Plans />
          <Changes />
        </div>
        {!isRecording && <Composer draft={draft} />}
      </div>
      <Announcer />
      <LiveRegion />
      {!isRecording && <QuoteButton />}
    </main>
  )
}

function Changes() {
  const { files, omitted = 0, unseen = [] } = useApp().work.changes.value
  return files.length + omitted + unseen.length > 0 ? <ChangedFiles /> : null
}

/** Progress while an agent starts or the history is loaded: a progress bar and the current step. */
function Progress() {
  const { store } = useApp()
  const head = store.head.value
  if (head && head.phase !== 'starting' && head.phase !== 'loading') return null
  return (
    <div class="progress" role="progressbar" aria-label={head?.progress ?? t('Loading…')}>
      <div class="progress-bar" />
    </div>
  )
}

function Body({ draft }: { draft: Draft }) {
  const app = useApp()
  const { store, list } = app
  const head = store.head.value
  const renderRow = useCallback((row: Row) => <RowView row={row} />, [])
  const rewinds = store.part('rewinds').value
  const classOf = useCallback((row: Row) => rowClass(row, store.subagents, rewinds), [store, rewinds])
  if (!head) return <div class="body" />
  if (head.phase === 'empty' && store.total.value === 0) {
    return (
      <div class="body">
        <Empty head={head} draft={draft} />
      </div>
    )
  }
  return (
    <div class={`body${store.asked.value ? ' asked' : ''}`}>
      <VirtualList
        window={store.rows.window}
        controller={list}
        version={store.rows.version}
        class="transcript"
        label={t('Conversation')}
        role="log"
        rowClass={classOf}
        renderRow={renderRow}
        rowContext={rowContext}
        footer={<Footer draft={draft} />}
      />
      {head.phase === 'ready' &&
        head.activity === 'idle' &&
        head.cards.length === 0 &&
        store.total.value === 0 && <EmptySession head={head} />}
      {store.total.value > 0 && <TurnPrompt />}
      <JumpButtons />
      {app.find.model && <FindWidget find={app.find.model} />}
    </div>
  )
}

/** After the last row: the current activity and failures. */
function Footer({ draft }: { draft: Draft }) {
  const { store, host } = useApp()
  const head = store.head.value
  const starting = head?.phase === 'starting' || head?.phase === 'loading'
  return (
    <div class="list-footer">
      <SendingPrompts head={head} draft={draft} />
      {starting && head?.progress && (
        <div class="progress-text quiet">
          {head.progress}{' '}
          <button
            type="button"
            class="link-button"
            title={t('Cancel (Escape)')}
            onClick={() => host.send('conversation/cancel')}
          >
            {t('Cancel')}
          </button>
        </div>
      )}
      <WorkingLine />
      <Cards />
    </div>
  )
}

type Section = 'conversation' | 'prompt' | 'message' | 'work'

/** Returns the `data-vscode-context` of a place, for `when` clauses of the context menu and for its commands. */
function context(section: Section, more: Partial<EntryContext>): string {
  return JSON.stringify({ webviewSection: section, preventDefaultContextMenuItems: false, ...more })
}

/** Returns the `data-vscode-context` of a row; the row's parent elements provide the conversation's context. */
function rowContext(row: Row): string | undefined {
  if (!('slot' in row) || row.kind === 'turn') return undefined
  const entry = row.slot.entry.peek()
  const section = row.kind === 'prompt' ? 'prompt' : entry.kind === 'message' ? 'message' : 'work'
  return context(section, { entry: row.slot.id })
}
