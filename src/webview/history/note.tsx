import type { HistoryAgentNote } from '../../views/bridge/history.ts'
import { t } from '../l10n.ts'
import { Icon } from '../ui/icon.tsx'
import { useHost } from './context.ts'

/** After the rows: what stands of each agent. */
export function AgentNotes({ notes }: { notes: readonly HistoryAgentNote[] }) {
  const resting = notes.filter(note => note.state === 'not-started')
  const folded = resting.length > mostResting
  return (
    <div class="history-notes">
      {(folded ? notes.filter(note => note.state !== 'not-started') : notes).map(note =>
        note.state === 'listed' && note.more ? (
          <MoreSessions key={note.agentId} note={note} />
        ) : (
          <AgentNote key={note.agentId} note={note} />
        ),
      )}
      {folded && (
        <details class="fold history-resting">
          <summary>{t('{0} agents are not running', resting.length)}</summary>
          {resting.map(note => (
            <AgentNote key={note.agentId} note={note} />
          ))}
        </details>
      )}
    </div>
  )
}

/** More agents than this that do not run stand behind one line. */
const mostResting = 2

/** What there is to say of an agent besides its sessions, and what to do about it. */
function AgentNote({ note }: { note: HistoryAgentNote }) {
  const host = useHost()
  switch (note.state) {
    case 'loading':
      return (
        <div class="history-note">
          <Icon name="loading" class="codicon-modifier-spin" />
          <span>{t('Asking {0} for its sessions…', note.name)}</span>
        </div>
      )
    case 'cannot-list':
      return (
        <div class="history-note">
          <Icon name="circle-slash" />
          <span>{t('{0} keeps no list of sessions. Those begun here are shown.', note.name)}</span>
        </div>
      )
    case 'failed':
      return (
        <div class="history-note" title={note.message}>
          <Icon name="error" class="failed" />
          <span>
            {note.message
              ? t('{0} could not list its sessions: {1}', note.name, note.message)
              : t('{0} could not list its sessions.', note.name)}{' '}
            <button type="button" class="link-button" onClick={() => host.start(note.agentId)}>
              {t('Try again')}
            </button>
          </span>
        </div>
      )
    case 'sign-in':
      return (
        <div class="history-note" title={note.message}>
          <Icon name="key" />
          <span>
            {t('{0} lists its sessions once you are signed in.', note.name)}{' '}
            <button type="button" class="link-button" onClick={() => host.signIn(note.agentId)}>
              {t('Sign In…')}
            </button>
          </span>
        </div>
      )
    case 'not-started':
      return (
        <div class="history-note">
          <Icon name="debug-disconnect" />
          <span>
            {t('{0} is not running.', note.name)}{' '}
            <button type="button" class="link-button" onClick={() => host.start(note.agentId)}>
              {t('Start to list its sessions')}
            </button>
          </span>
        </div>
      )
    case 'listed':
      return null
  }
}

function MoreSessions({ note }: { note: HistoryAgentNote }) {
  const host = useHost()
  return (
    <div class="history-note">
      <button type="button" class="link-button" onClick={() => host.more(note.agentId)}>
        {t('Show older sessions of {0}', note.name)}
      </button>
    </div>
  )
}
