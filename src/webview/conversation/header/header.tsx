import { useCallback, useRef, useState } from 'preact/hooks'
import type { ConversationHead } from '../../../views/bridge/conversation.ts'
import { plural, t } from '../../l10n.ts'
import { IconButton } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { lazy } from '../../ui/lazy.tsx'
import { Popup } from '../../ui/popup.tsx'
import { useApp } from '../context.ts'
import { FollowButton } from '../work/follow-button.tsx'
import { AgentSwitcher } from './agent-switcher.tsx'
import { SessionTitle } from './session-title.tsx'
import { dotLabel, dotState, StateDot } from './state-dot.tsx'

/** What floats is there at once, and hears the Escape that comes at once. */
const SessionDetails = lazy(() => import('./details.tsx').then(module => module.SessionDetails))

/** Title, agent and state of the session, and its details: where it works, what was passed to it. */
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

/** Things a person should know before they rely on the session. */
function noteCount(head: ConversationHead): number {
  const { roots } = head
  return (
    (roots?.unseen.length ?? 0) +
    (roots?.cwdRemark ? 1 : 0) +
    (roots?.scratch ? 1 : 0) +
    head.mcpServers.filter(server => !server.passed).length
  )
}
