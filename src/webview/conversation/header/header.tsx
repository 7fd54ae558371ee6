import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { ConversationHead } from '../../../bridge/conversation.ts'
import { needsAnswerText } from '../../../conversation/requests/pending-text.ts'
import { plural, t } from '../../l10n.ts'
import { IconButton } from '../../ui/button.tsx'
import { hasModifier } from '../../ui/control-key.ts'
import { Icon } from '../../ui/icon.tsx'
import { lazy } from '../../ui/lazy.tsx'
import { Popup } from '../../ui/popup.tsx'
import { TitleField } from '../../ui/title-field.tsx'
import { worktreeText } from '../../ui/worktree-text.ts'
import { useApp } from '../context.ts'
import { AgentSwitcher } from './agent-switcher.tsx'
import { SessionSwitcher } from './session-switcher.tsx'

/** The content of the popup, loaded on demand. The popup itself exists immediately, so that it handles an immediate Escape. */
const SessionDetails = lazy(() => import('./details.tsx').then(module => module.SessionDetails))

/** The title, agent and state of the session, and its details: the folders, and the MCP servers that were passed to it. */
export function Header() {
  const { store, host } = useApp()
  const head = store.head.value
  const button = useRef<HTMLButtonElement>(null)
  const [open, setOpen] = useState(false)
  const close = useCallback(() => setOpen(false), [])
  if (!head || (head.phase === 'empty' && !head.title)) return null
  const state = dotState(head, store.waiting.value.length)
  const notes = noteCount(head)
  return (
    <header class="header">
      <StateDot state={state} />
      <SessionTitle />
      {head.canFork && (
        <IconButton
          icon="repo-forked"
          label={t('Fork Session: Start a new session with this conversation')}
          class="header-fork"
          onClick={() => host.send('conversation/command', { command: 'parley.forkSession' })}
        />
      )}
      {head.worktree && (
        <IconButton
          icon="worktree"
          label={t('Worktree {0}…', worktreeText(head.worktree))}
          onClick={() => host.send('conversation/command', { command: 'parley.worktree' })}
        />
      )}
      {head.sessionId && <FollowButton />}
      {head.agent && (
        <button
          ref={button}
          type="button"
          class="icon-button header-details"
          aria-haspopup="dialog"
          aria-expanded={open}
          title={t('Session Details')}
          onClick={() => setOpen(!open)}
        >
          <span class="visually-hidden">{t('Session Details')}</span>
          <Icon name="info" class={notes > 0 ? 'header-notes' : ''} />
          {notes > 0 && <span class="visually-hidden">{plural(notes, '1 note', '{0} notes')}</span>}
        </button>
      )}
      {head.agent && <AgentSwitcher head={head} agent={head.agent} />}
      {open && (
        <Popup anchor={button} onClose={close} class="details" label={t('Session Details')}>
          <SessionDetails head={head} state={dotLabel(state)} />
        </Popup>
      )}
    </header>
  )
}

/** Returns the number of warnings that a user should know before relying on the session. */
function noteCount(head: ConversationHead): number {
  const { roots } = head
  return (
    (roots?.unseen.length ?? 0) +
    (roots?.cwdRemark ? 1 : 0) +
    (roots?.scratch ? 1 : 0) +
    head.mcpServers.filter(isProblem).length
  )
}

/** Whether a server that the user wants isn't passed to the agent. */
function isProblem({ passed, exclusion = 'invalid' }: ConversationHead['mcpServers'][number]): boolean {
  return !passed && exclusion !== 'off' && exclusion !== 'disabled' && exclusion !== 'shadowed'
}

/** The session's title; a click shows the other sessions, and a double click or F2 starts editing it. */
function SessionTitle() {
  const { store, host, page } = useApp()
  const head = store.head.value
  const [editing, setEditing] = useState<string | undefined>(undefined)
  const [isSwitching, setSwitching] = useState(false)
  const close = useCallback(() => setSwitching(false), [])
  const button = useRef<HTMLButtonElement>(null)
  const back = useRef(false)
  const sessionId = head?.sessionId
  // if another session is displayed meanwhile, the edited title isn't applied to it
  const edited = editing !== undefined && editing === sessionId

  useEffect(() => {
    if (sessionId === undefined) return
    const rename = (event: KeyboardEvent) => {
      const isRename = event.key === 'F2' && !hasModifier(event)
      if (!isRename || event.defaultPrevented || page.peek() !== 'conversation') return
      event.preventDefault()
      setEditing(sessionId)
    }
    window.addEventListener('keydown', rename)
    return () => window.removeEventListener('keydown', rename)
  }, [sessionId, page])
  useEffect(() => {
    if (edited || !back.current) return
    back.current = false
    button.current?.focus()
  }, [edited])

  const rename = () => {
    if (sessionId === undefined) return
    setSwitching(false)
    setEditing(sessionId)
  }
  const title = head?.title || t('New session')
  const className = `header-title truncate${head?.title ? '' : ' untitled'}`
  if (edited) {
    return (
      <TitleField
        title={head?.title ?? ''}
        label={t('Session title')}
        placeholder={t('Automatic title')}
        class="header-title-field"
        onRename={title => host.send('conversation/rename', { title })}
        onClose={byKey => {
          back.current = byKey
          setEditing(undefined)
        }}
      />
    )
  }
  return (
    <h1 class={className} dir="auto">
      {isSwitching && <SessionSwitcher anchor={button} onRename={rename} onClose={close} />}
      <button
        ref={button}
        type="button"
        class="header-sessions"
        title={t('{0}\nSwitch Session', title)}
        aria-haspopup="listbox"
        aria-expanded={isSwitching}
        onClick={() => setSwitching(!isSwitching)}
        onDblClick={() => rename()}
      >
        <span class="truncate">{title}</span>
        <Icon name="chevron-down" class="header-chevron" />
      </button>
    </h1>
  )
}

type DotState = 'none' | 'starting' | 'idle' | 'running' | 'waiting' | 'ended'

function dotState(head: ConversationHead, waiting: number): DotState {
  switch (head.phase) {
    case 'empty':
      return 'none'
    case 'starting':
    case 'loading':
      return 'starting'
    case 'ended':
      return 'ended'
    case 'ready':
      if (waiting > 0 || head.activity === 'requires_action') return 'waiting'
      return head.activity === 'running' ? 'running' : 'idle'
  }
}

function dotLabel(state: DotState): string {
  switch (state) {
    case 'none':
      return ''
    case 'starting':
      return t('Starting')
    case 'idle':
      return t('Ready')
    case 'running':
      return t('Running')
    case 'waiting':
      return needsAnswerText(t)
    case 'ended':
      return t('Ended')
  }
}

/** The state of a session as a dot, whose shape (ring, full, half, crossed) and color differ by state. */
function StateDot({ state }: { state: DotState }) {
  if (state === 'none') return null
  const label = dotLabel(state)
  return <span class={`dot dot-${state}`} role="img" aria-label={label} title={label} />
}

/** A button that switches whether the editor shows where the agent works. */
function FollowButton() {
  const { host, work } = useApp()
  const on = work.following.value
  return (
    <IconButton
      icon={on ? 'eye' : 'eye-closed'}
      label={on ? t('Stop Following Agent in Editor') : t('Follow Agent in Editor')}
      class="follow-button"
      pressed={on}
      onClick={() => host.send('follow/set', { on: !on })}
    />
  )
}
