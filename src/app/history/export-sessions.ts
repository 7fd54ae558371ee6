import * as l10n from '@vscode/l10n'
import { UnavailableError } from '../../common/errors.ts'
import type { SecretRegistry } from '../../common/secrets.ts'
import type { SessionId } from '../../common/session-key.ts'
import { conversationMarkdown } from '../../conversation/markdown-export.ts'
import type { KeptConversation } from '../../conversation/replay/restore-state.ts'
import { conversationLines, type ExportedSession } from '../../history/protocol-lines.ts'
import type { LocalSession } from '../../history/session-store.ts'
import type { Transcripts } from '../../history/transcripts.ts'
import type { HistoryItem, HistoryList } from '../../sessions/listing/history-list.ts'
import type { SessionRecords } from '../../sessions/ports.ts'
import type { SessionManager } from '../../sessions/session-manager.ts'
import { headOf } from '../../sessions/transcript-recorder.ts'
import { fileNameOfTitle } from '../conversation/conversation-context.ts'
import type { Workbench } from '../workbench.ts'

/** The extension of files with lines of the protocol. */
const LINES_EXTENSION = 'jsonl'

export function linesFilter(): Record<string, string[]> {
  return { [l10n.t('JSON Lines of the Agent Client Protocol')]: [LINES_EXTENSION] }
}

export interface SessionExporterOptions {
  workbench: Workbench
  records: Pick<SessionRecords, 'get'>
  transcripts: Pick<Transcripts, 'read'>
  manager: Pick<SessionManager, 'find'>
  history: Pick<HistoryList, 'find'>
  secrets: SecretRegistry
}

/** Writes conversations to files, without starting their agents. */
export class SessionExporter {
  readonly #options: SessionExporterOptions

  constructor(options: SessionExporterOptions) {
    this.#options = options
  }

  /** Asks for a file, and writes the conversation to it: as Markdown, or as lines of the protocol. */
  async exportSession(session: SessionId): Promise<void> {
    const { workbench, history, secrets } = this.#options
    const item = history.find(session.agentId, session.sessionId)
    if (!item && this.#options.manager.find(session.agentId, session.sessionId))
      throw new UnavailableError(l10n.t('No prompts have been sent yet.'))
    if (!item || !this.#read(item))
      throw new UnavailableError(
        l10n.t("Parley hasn't saved this conversation. Load the session, then export it."),
      )
    const target = await workbench.dialogs.saveFile({
      title: l10n.t('Export Conversation'),
      folder: item.cwd,
      name: `${fileNameOfTitle(item.title ?? '')}.md`,
      filters: { Markdown: ['md'], ...linesFilter() },
    })
    // the current state, not that when the dialog was opened
    const conversation = target && this.#read(item)
    if (!conversation) return
    const isLines = target.name.toLowerCase().endsWith(`.${LINES_EXTENSION}`)
    const text = isLines
      ? [...conversationLines(conversation, this.#aboutOf(item), secrets), ''].join('\n')
      : markdownOf(conversation, item)
    await target.write(text)
    const show = l10n.t('Open')
    void workbench.dialogs.info(l10n.t('Conversation exported to {0}.', target.name), show).then(answer => {
      if (answer === show) void target.open()
    })
  }

  /** The conversation as it's shown in this window, or else as it's saved. */
  #read({ agentId, sessionId }: SessionId): KeptConversation | undefined {
    const state = this.#options.manager.find(agentId, sessionId)?.session.state
    if (!state) return this.#options.transcripts.read(agentId, sessionId)
    return { entries: state.entries, terminals: [...state.terminals.values()], head: headOf(state) }
  }

  #aboutOf(item: HistoryItem): ExportedSession {
    const { agentId, agentName, sessionId, cwd, title, archived, pinned } = item
    const known: LocalSession = this.#options.records.get(agentId, sessionId) ?? {
      ...{ agentId, sessionId, cwd, additionalDirectories: [...(item.additionalDirectories ?? [])] },
      ...(archived && { archived }),
      ...(pinned && { pinned }),
      createdAt: item.updatedAt ?? 0,
      updatedAt: item.updatedAt ?? 0,
    }
    const { systemPrompt: _, ...record } = known
    return { ...record, ...(title !== undefined && !record.givenTitle && { title }), agentName }
  }
}

function markdownOf(
  { entries, terminals }: KeptConversation,
  { title, agentName, cwd }: HistoryItem,
): string {
  const byId = new Map(terminals.map(terminal => [terminal.terminalId, terminal]))
  const about = { title: title?.trim() || l10n.t('Conversation'), agentName, cwd }
  return conversationMarkdown({ entries, terminals: byId }, about)
}
