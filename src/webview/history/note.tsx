import { Fragment } from 'preact'
import type { HistoryAgentNote, HistorySummary } from '../../bridge/history.ts'
import { t } from '../l10n.ts'
import { Icon } from '../ui/icon.tsx'
import { useHistory } from './context.ts'

/** Notes after the rows: the state of each agent's list of sessions. */
export function AgentNotes({ notes }: { notes: readonly HistoryAgentNote[] }) {
  const resting = notes.filter(note => note.state === 'not-started')
  const folded = resting.length > MAX_RESTING
  return (
    <div class="history-notes">
      {(folded ? notes.filter(note => note.state !== 'not-started') : notes).map(note => (
        <Fragment key={note.agentId}>
          {note.state === 'listed' && note.more && <MoreSessions note={note} />}
          <AgentNote note={note} />
        </Fragment>
      ))}
      {folded && (
        <details class="fold history-resting">
          <summary>{t("Sessions of {0} more agents aren't listed yet", resting.length)}</summary>
          {resting.map(note => (
            <AgentNote key={note.agentId} note={note} />
          ))}
        </details>
      )}
    </div>
  )
}

/** If the size of saved conversations isn't limited, a smaller total isn't shown. */
const MIN_NOTABLE_BYTES = 10_000_000

/** The size of the saved conversations, and a button to change the limit. Hidden below 1% of the limit. */
export function StorageNote({ storage: { used, max } }: { storage: HistorySummary['storage'] }) {
  const { host } = useHistory()
  if (used < (max > 0 ? max / 100 : MIN_NOTABLE_BYTES)) return null
  const megabytes = (bytes: number) =>
    (bytes / 1_000_000).toLocaleString(undefined, { maximumFractionDigits: 1 })
  return (
    <div class="history-note">
      <Icon name="database" />
      <span>
        {max > 0
          ? t('Saved conversations: {0} of {1} MB', megabytes(used), megabytes(max))
          : t('Saved conversations: {0} MB', megabytes(used))}{' '}
        <button type="button" class="link-button" onClick={() => host.send('history/openSizeSetting')}>
          {t('Change Limit')}
        </button>
      </span>
    </div>
  )
}

/** Says that not all conversations can be searched yet, or why no conversation can be searched. */
export function SearchNote({ search: { progress, problem } }: { search: HistorySummary['search'] }) {
  if (problem === undefined && !progress) return null
  return (
    <div class="history-note">
      {problem === undefined ? (
        <Icon name="loading" class="codicon-modifier-spin" />
      ) : (
        <Icon name="warning" class="failed" />
      )}
      <span>
        {problem ??
          t('Indexing conversations for the search: {0} of {1}', progress?.done ?? 0, progress?.total ?? 0)}
      </span>
    </div>
  )
}

/** Says that the search ended early because it found very many messages. */
export function OlderMessagesNote() {
  return (
    <div class="history-note">
      <Icon name="info" />
      <span>{t('Only the newest messages were searched. Add words to find older ones.')}</span>
    </div>
  )
}

/** If more agents than this aren't running, they are collapsed into one line. */
const MAX_RESTING = 2

/** The state of an agent's list of sessions, and what the user can do about it. */
function AgentNote({ note }: { note: HistoryAgentNote }) {
  const { host } = useHistory()
  switch (note.state) {
    case 'loading':
      return (
        <div class="history-note">
          <Icon name="loading" class="codicon-modifier-spin" />
          <span>{t('Getting sessions from {0}…', note.name)}</span>
        </div>
      )
    case 'cannot-list':
      return (
        <div class="history-note">
          <Icon name="circle-slash" />
          <span>
            {t("{0} doesn't list sessions. Showing sessions started in Parley.", note.name)}
            <Account note={note} />
          </span>
        </div>
      )
    case 'failed':
      return (
        <div class="history-note" title={note.message}>
          <Icon name="error" class="failed" />
          <span>
            {note.message
              ? t("{0} couldn't list its sessions: {1}", note.name, note.message)
              : t("{0} couldn't list its sessions.", note.name)}{' '}
            <button
              type="button"
              class="link-button"
              onClick={() => host.send('history/startAgent', { agentId: note.agentId })}
            >
              {t('Retry')}
            </button>
            <Account note={note} />
          </span>
        </div>
      )
    case 'sign-in':
      return (
        <div class="history-note" title={note.message}>
          <Icon name="key" />
          <span>
            {t("Sign in to list {0}'s sessions.", note.name)}{' '}
            <button
              type="button"
              class="link-button"
              onClick={() => host.send('history/signIn', { agentId: note.agentId })}
            >
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
            {t("{0} isn't running.", note.name)}{' '}
            <button
              type="button"
              class="link-button"
              onClick={() => host.send('history/startAgent', { agentId: note.agentId })}
            >
              {t('Start to List Sessions')}
            </button>
            <Account note={note} />
          </span>
        </div>
      )
    case 'listed':
      if (note.paging)
        return (
          <div class="history-note">
            <Icon name="loading" class="codicon-modifier-spin" />
            <span>{t('Getting older sessions from {0}…', note.name)}</span>
          </div>
        )
      return note.account === undefined ? null : (
        <div class="history-note">
          <Icon name="account" />
          <span>
            {note.name} · {note.account}
          </span>
        </div>
      )
  }
}

/** Who is signed in, below the agent's other information. */
function Account({ note: { name, account } }: { note: HistoryAgentNote }) {
  return account === undefined ? null : (
    <>
      <br />
      {name} · {account}
    </>
  )
}

function MoreSessions({ note }: { note: HistoryAgentNote }) {
  const { host } = useHistory()
  return (
    <div class="history-note">
      <button
        type="button"
        class="link-button"
        onClick={() => host.send('history/more', { agentId: note.agentId })}
      >
        {t('Show Older Sessions of {0}', note.name)}
      </button>
    </div>
  )
}
