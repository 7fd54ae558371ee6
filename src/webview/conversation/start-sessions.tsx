import type { ConversationHead } from '../../bridge/conversation.ts'
import type { HistoryRow } from '../../bridge/history.ts'
import { t } from '../l10n.ts'
import { SessionRow, sessionTooltip } from '../ui/session-row.tsx'
import { useApp } from './context.ts'
import { hasFolders, iconOf } from './header/session-switcher.tsx'
import { moveFocus } from './navigation/keys.ts'

interface StartSessionsProps {
  head: ConversationHead
  sessions: readonly HistoryRow[]
}

/** The sessions on the start page: waiting and running sessions, then the latest. The list is a single tab stop. */
export function StartSessions({ head, sessions }: StartSessionsProps) {
  const { host, composer } = useApp()
  const folder = hasFolders(sessions)
  return (
    <section class="sessions" aria-labelledby="start-sessions">
      <div class="sessions-head">
        <h2 id="start-sessions" class="empty-title">
          {t('Sessions')}
        </h2>
        <button
          type="button"
          class="link-button"
          onClick={() => host.send('conversation/command', { command: 'parley.openHistory' })}
        >
          {t('Show All')}
        </button>
      </div>
      <ul class="choices" onKeyDown={event => moveFocus(event, event.currentTarget, '.choice')}>
        {sessions.map((row, i) => (
          <li key={`${row.agentId}/${row.sessionId}`}>
            <button
              type="button"
              class="choice"
              title={sessionTooltip(row)}
              tabIndex={i === 0 ? 0 : -1}
              onClick={() => {
                host.send('conversation/openSession', { agentId: row.agentId, sessionId: row.sessionId })
                // the button disappears, so focus the composer next
                composer.current?.focus()
              }}
            >
              <SessionRow row={row} icon={iconOf(head, row.agentId)} folder={folder} />
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}
