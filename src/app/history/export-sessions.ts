import { homedir } from 'node:os'
import * as l10n from '@vscode/l10n'
import { CancelledError, isCancelled, messageOf, UnavailableError } from '../../common/errors.ts'
import { plainMessage } from '../../common/plain-message.ts'
import type { SecretRegistry } from '../../common/secrets.ts'
import { type SessionId, sessionKey } from '../../common/session-key.ts'
import { writeWhole } from '../../common/whole-files.ts'
import { conversationMarkdown } from '../../conversation/markdown-export.ts'
import type { SavedConversation } from '../../conversation/replay/restore-state.ts'
import { dayOf } from '../../history/local-sessions.ts'
import { conversationLines, type ExportedSession } from '../../history/protocol-lines.ts'
import type { LocalSession } from '../../history/session-store.ts'
import { sessionIdOf } from '../../history/transcript-rows.ts'
import type { Transcripts } from '../../history/transcripts.ts'
import type { HistoryItem } from '../../sessions/listing/history-item.ts'
import type { HistoryList } from '../../sessions/listing/history-list.ts'
import type { SessionRecords } from '../../sessions/ports.ts'
import type { SessionManager } from '../../sessions/session-manager.ts'
import { fileNameOfTitle } from '../../sessions/session-title.ts'
import { headOf } from '../../sessions/transcript-recorder.ts'
import type { ProgressStep, Workbench } from '../workbench.ts'
import { sessionChoices } from './session-choices.ts'

/** The file name extension of files with lines of the protocol. */
const LINES_EXTENSION = 'jsonl'
/** The number of characters to collect before they are written. */
const PIECE = 1 << 20

export function linesFilter(): Record<string, string[]> {
  return { [l10n.t('JSON Lines of the Agent Client Protocol')]: [LINES_EXTENSION] }
}

export interface SessionExporterOptions {
  workbench: Workbench
  records: Pick<SessionRecords, 'get'>
  transcripts: Pick<Transcripts, 'read' | 'byAge'>
  manager: Pick<SessionManager, 'find'>
  history: Pick<HistoryList, 'find' | 'items'>
  secrets: SecretRegistry
}

/** Writes conversations to files without starting their agents. */
export class SessionExporter {
  readonly #options: SessionExporterOptions

  constructor(options: SessionExporterOptions) {
    this.#options = options
  }

  /** Asks for a file, and writes the conversation to it as Markdown or as lines of the protocol. */
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
    // reads the conversation only now, since it may have changed while the dialog was open
    const conversation = target && this.#read(item)
    if (!target) return
    if (!conversation)
      throw new UnavailableError(l10n.t('The session was deleted meanwhile. Nothing was exported.'))
    const isLines = target.name.toLowerCase().endsWith(`.${LINES_EXTENSION}`)
    const text = isLines
      ? [...conversationLines(conversation, this.#aboutOf(item), secrets), ''].join('\n')
      : markdownOf(conversation, item)
    await workbench.dialogs.writeSaved(target, text)
    const show = l10n.t('Open')
    void workbench.dialogs.info(l10n.t('Conversation exported to {0}.', target.name), show).then(answer => {
      if (answer !== show) return
      const failed = (error: unknown) => workbench.dialogs.error(plainMessage(messageOf(error)))
      workbench.dialogs.openSaved(target).catch(failed)
    })
  }

  /** Writes all saved conversations, or those of an agent or a folder, to one file. If that fails, there is no partial file. */
  async exportAll(): Promise<void> {
    const { workbench, history, transcripts } = this.#options
    const { dialogs } = workbench
    const saved = new Set(transcripts.byAge().map(copy => sessionKey(copy[0], sessionIdOf(copy))))
    const isSaved = ({ agentId, sessionId, open }: HistoryItem) =>
      open || saved.has(sessionKey(agentId, sessionId))
    const sessions = history.items().filter(isSaved)
    if (sessions.length === 0) throw new UnavailableError(l10n.t('No conversations are saved.'))
    const choices = sessionChoices(sessions, l10n.t('All Conversations'))
    const chosen =
      choices.length === 1
        ? choices[0]
        : await dialogs.pick(choices, {
            title: l10n.t('Export All Conversations'),
            placeholder: l10n.t('Select which conversations to export'),
            matchOnDescription: true,
          })
    if (!chosen || chosen.sessions.length === 0) return
    const target = await dialogs.saveFile({
      title: l10n.t('Export All Conversations'),
      folder: homedir(),
      name: `parley-${dayOf(Date.now())}.${LINES_EXTENSION}`,
      filters: linesFilter(),
    })
    if (!target) return
    const file = target.path
    if (file === undefined)
      throw new UnavailableError(l10n.t("Select a file on this machine's disk. Nothing was exported."))
    let count = 0
    const title = l10n.t('Exporting conversations')
    const work = async (report: (step: ProgressStep) => void, signal: AbortSignal) => {
      const lines = this.#linesOfAll(chosen.sessions, signal, () => {
        count += 1
        report({
          message: l10n.t('{0} of {1}', count, chosen.sessions.length),
          increment: 100 / chosen.sessions.length,
        })
      })
      await writeWhole(file, lines, { isUsers: true })
    }
    try {
      await dialogs.progress({ title, where: 'notification', cancellable: true }, work)
    } catch (error) {
      if (isCancelled(error)) {
        dialogs.showStatus(l10n.t('Export canceled'))
        return
      }
      throw new UnavailableError(problemOf(error, target.name), { cause: error })
    }
    void dialogs.info(
      count === 1
        ? l10n.t('1 conversation exported to {0}.', target.name)
        : l10n.t('{0} conversations exported to {1}.', count, target.name),
    )
  }

  /** Yields pieces of many lines each. A conversation is read only when its lines are written, so that only one is in memory. */
  async *#linesOfAll(
    sessions: readonly HistoryItem[],
    signal: AbortSignal,
    wrote: () => void,
  ): AsyncGenerator<string> {
    for (const item of sessions) {
      // lets the progress be drawn, and lets Cancel take effect
      await new Promise(resolve => setImmediate(resolve))
      if (signal.aborted) throw new CancelledError()
      const conversation = this.#read(item)
      // skips a session that was deleted in the meantime, or an open one without messages
      if (!conversation || conversation.entries.length === 0) continue
      let piece = ''
      for (const line of conversationLines(conversation, this.#aboutOf(item), this.#options.secrets)) {
        piece += `${line}\n`
        if (piece.length < PIECE) continue
        yield piece
        piece = ''
      }
      yield piece
      wrote()
    }
  }

  /** Returns the conversation as this window shows it, or else as it's saved. */
  #read({ agentId, sessionId }: SessionId): SavedConversation | undefined {
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
    const { systemPrompt: _, imported: __, ...record } = known
    return { ...record, ...(title !== undefined && !record.givenTitle && { title }), agentName }
  }
}

function markdownOf(
  { entries, terminals }: SavedConversation,
  { title, agentName, cwd }: HistoryItem,
): string {
  const byId = new Map(terminals.map(terminal => [terminal.terminalId, terminal]))
  const about = { title: title?.trim() || l10n.t('Conversation'), agentName, cwd }
  return conversationMarkdown({ entries, terminals: byId }, about)
}

function problemOf(error: unknown, name: string): string {
  const code = (error as NodeJS.ErrnoException | undefined)?.code
  if (code === 'ENOSPC' || code === 'EDQUOT') return l10n.t("The disk is full. {0} wasn't written.", name)
  return l10n.t("{0} wasn't written: {1}", name, messageOf(error))
}
