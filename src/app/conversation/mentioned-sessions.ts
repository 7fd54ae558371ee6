import * as l10n from '@vscode/l10n'
import fuzzysort from 'fuzzysort'
import type { Attachment, MentionRow } from '../../bridge/conversation.ts'
import { newestFirst } from '../../common/date-groups.ts'
import { UnavailableError } from '../../common/errors.ts'
import type { SecretRegistry } from '../../common/secrets.ts'
import { type SessionId, sessionKey } from '../../common/session-key.ts'
import { visible } from '../../common/visible.ts'
import type { SessionState } from '../../conversation/state.ts'
import type { Transcripts } from '../../history/transcripts.ts'
import type { HistoryItem } from '../../sessions/listing/history-item.ts'
import type { HistoryList } from '../../sessions/listing/history-list.ts'
import type { SessionManager } from '../../sessions/session-manager.ts'
import { transcriptAttachment } from './conversation-context.ts'

/** The maximum number of sessions offered before the user types anything. */
const MAX_RECENT = 3
const MAX_FOUND = 6

interface MentionedSessionsOptions {
  history: Pick<HistoryList, 'items' | 'find'>
  transcripts: Pick<Transcripts, 'keys' | 'read'>
  manager: Pick<SessionManager, 'find'>
  /** Returns whether a folder belongs to this workspace. */
  isHere: () => (cwd: string) => boolean
  secrets: Pick<SecretRegistry, 'redact'>
}

/** Finds the sessions that a prompt can mention: all whose text Parley has, except the prompt's own session. */
export class MentionedSessions {
  readonly #options: MentionedSessionsOptions

  constructor(options: MentionedSessionsOptions) {
    this.#options = options
  }

  /**
   * Returns the sessions with this title, those of this workspace first. Without a query, or for `session`, returns the latest sessions.
   * `current` is the key of the prompt's own session.
   */
  find(query: string, current: string): MentionRow[] {
    const { history, transcripts, manager, isHere } = this.#options
    const saved = transcripts.keys()
    const here = isHere()
    const items = history.items().filter(({ agentId, sessionId, title, open }) => {
      const key = sessionKey(agentId, sessionId)
      if (key === current || !title?.trim()) return false
      return saved.has(key) || (open && manager.find(agentId, sessionId) !== undefined)
    })
    if (query === '' || (query.length > 2 && 'sessions'.startsWith(query.toLowerCase()))) {
      const latest = items.filter(({ archived }) => !archived).sort(newestFirst)
      const ordered = [...latest.filter(({ cwd }) => here(cwd)), ...latest.filter(({ cwd }) => !here(cwd))]
      return ordered.slice(0, query === '' ? MAX_RECENT : MAX_FOUND).map(item => rowOf(item, []))
    }
    const found = fuzzysort.go(query, items, { key: titleIn, threshold: 0.4, limit: 4 * MAX_FOUND })
    const ranked = [...found].sort((a, b) => Number(here(b.obj.cwd)) - Number(here(a.obj.cwd)))
    return ranked.slice(0, MAX_FOUND).map(({ obj, indexes }) => rowOf(obj, [...indexes]))
  }

  /** Returns the latest turns of a session. Throws an error with a sentence for the user if Parley has no text of the session. */
  attachment({ agentId, sessionId }: SessionId): Attachment {
    const { history, secrets } = this.#options
    const item = history.find(agentId, sessionId)
    const state = item && this.#stateOf(item)
    if (!state) throw new UnavailableError(l10n.t("The session was deleted, so it wasn't added."))
    const { agentName, cwd } = item
    const title = secrets.redact(titleIn(item)) || l10n.t('Conversation')
    const attachment = transcriptAttachment(state, { title, agentName, cwd }, true)
    const { content } = attachment
    // a stored conversation contains no secrets, but a displayed one may
    if (content.type === 'resource' && content.text !== undefined) content.text = secrets.redact(content.text)
    return { ...attachment, id: crypto.randomUUID() }
  }

  #stateOf({ agentId, sessionId }: SessionId): Pick<SessionState, 'entries' | 'terminals'> | undefined {
    const open = this.#options.manager.find(agentId, sessionId)?.session.state
    if (open) return open
    const saved = this.#options.transcripts.read(agentId, sessionId)
    return (
      saved && {
        entries: saved.entries,
        terminals: new Map(saved.terminals.map(terminal => [terminal.terminalId, terminal])),
      }
    )
  }
}

/** Returns the session's title as one line. */
function titleIn({ title = '' }: HistoryItem): string {
  return visible(title).replace(/\s+/g, ' ').trim()
}

function rowOf(item: HistoryItem, matches: number[]): MentionRow {
  const { agentId, sessionId, agentName } = item
  return {
    group: 'sessions',
    name: titleIn(item),
    matches,
    icon: 'comment-discussion',
    detail: agentName,
    attaches: { session: { agentId, sessionId } },
  }
}
