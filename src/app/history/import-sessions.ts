import { setImmediate } from 'node:timers/promises'
import * as l10n from '@vscode/l10n'
import { messageOf } from '../../common/errors.ts'
import { visibleProse } from '../../common/visible.ts'
import type { LocalSessions } from '../../history/local-sessions.ts'
import {
  MAX_LINE,
  MAX_LINE_MEMBERS,
  ProtocolReader,
  type ReadConversation,
} from '../../history/protocol-reader.ts'
import { readLines } from '../../history/read-lines.ts'
import type { Transcripts } from '../../history/transcripts.ts'
import type { HistoryList } from '../../sessions/listing/history-list.ts'
import type { SessionDeletions } from '../../sessions/listing/session-deletions.ts'
import { CommandId } from '../ids.ts'
import type { Workbench } from '../workbench.ts'
import { linesFilter } from './export-sessions.ts'

export interface SessionImporterOptions {
  workbench: Pick<Workbench, 'dialogs' | 'execute'>
  records: Pick<LocalSessions, 'imported' | 'agent' | 'agentRuns'>
  transcripts: Pick<Transcripts, 'add'>
  history: Pick<HistoryList, 'recordsChanged'>
  deletions: Pick<SessionDeletions, 'restore'>
  /** Returns the size of all saved conversations in bytes, and the limit; 0 for no limit. */
  storage: () => { used: number; max: number }
}

/** The results of importing files. */
interface Imported {
  added: number
  merged: number
  same: number
  /** conversations that couldn't be saved */
  failed: number
  /** conversations that weren't imported because others would have been deleted to make room */
  noRoom: number
  newer: number
  /** number of skipped entries and lines */
  skipped: number
  /** the reasons why files couldn't be read */
  problems: string[]
}

/** The factor by which a saved conversation may be larger than its lines. */
const OVERHEAD = 1.5

/** The number of characters to read before other work, such as Cancel, can run. */
const READ_AT_ONCE = 200_000
/** The cost of reading a line, as a number of characters. */
const LINE_COST = 2000

/** Imports conversations that were exported on this or another machine. Saved conversations are never replaced. */
export class SessionImporter {
  readonly #options: SessionImporterOptions

  constructor(options: SessionImporterOptions) {
    this.#options = options
  }

  /** Asks for files, and imports their conversations. */
  async importFiles(): Promise<void> {
    const { dialogs, execute } = this.#options.workbench
    const title = l10n.t('Import Conversations')
    const files = await dialogs.openFiles({ title, filters: linesFilter() })
    if (!files || files.length === 0) return
    const done: Imported = {
      ...{ added: 0, merged: 0, same: 0, failed: 0, noRoom: 0, newer: 0, skipped: 0 },
      problems: [],
    }
    await dialogs.progress(
      { title: l10n.t('Importing conversations'), where: 'notification', cancellable: true },
      async (report, signal) => {
        for (const file of files) {
          if (signal.aborted) break
          await this.#importFile(file, done, signal, message => report({ message }))
        }
      },
    )
    this.#options.history.recordsChanged()
    const text = summaryOf(done)
    const isWhole = done.failed + done.noRoom + done.newer + done.skipped + done.problems.length === 0
    const isAny = done.added + done.merged + done.same > 0
    const show = l10n.t('Open History')
    const answer = await (isWhole && isAny ? dialogs.info : dialogs.warn)(text, ...(isAny ? [show] : []))
    if (answer === show) await execute(CommandId.openHistory)
  }

  async #importFile(
    file: string,
    done: Imported,
    signal: AbortSignal,
    report: (message: string) => void,
  ): Promise<void> {
    const reader = new ProtocolReader(Date.now())
    const take = async (read: ReadConversation | undefined) => {
      if (!read) return
      done[await this.#save(read)] += 1
      report(countText(done.added + done.merged + done.same))
    }
    let length = 0
    try {
      const onCut = () => reader.skip()
      for await (const line of readLines(file, MAX_LINE, { signal, onCut, maxMembers: MAX_LINE_MEMBERS })) {
        length += LINE_COST + (line?.length ?? 0)
        if (length > READ_AT_ONCE) {
          length = 0
          await setImmediate()
        }
        signal.throwIfAborted()
        if (line === undefined) reader.skip()
        else await take(reader.push(line))
      }
      await take(reader.end())
    } catch (error) {
      // if the file couldn't be read to its end, the part that was read is still imported
      if (!signal.aborted) {
        await take(reader.end())
        done.problems.push(messageOf(error))
      }
    }
    done.newer += reader.skipped.newer
    // a damaged line usually means a missing entry, so only the larger number counts
    done.skipped += Math.max(reader.skipped.lines, reader.skipped.entries)
  }

  async #save({
    session,
    conversation,
    size,
  }: ReadConversation): Promise<'added' | 'merged' | 'same' | 'failed' | 'noRoom'> {
    const { records, transcripts, storage, deletions } = this.#options
    const { used, max } = storage()
    if (max > 0 && used + size * OVERHEAD > max) return 'noRoom'
    const { agentName, ...record } = session
    // otherwise the imported conversation would be deleted together with the saved one
    if (!deletions.restore(record)) return 'failed'
    const saved = await transcripts.add(record.agentId, record.sessionId, conversation)
    if (saved === 'failed') return saved
    // whoever wrote the file must not choose folders that an agent may access without asking
    records.imported({ ...record, additionalDirectories: [] })
    // an agent that isn't on this machine has no name except in the file
    if (!records.agent(record.agentId))
      records.agentRuns(record.agentId, {
        name: visibleProse(agentName),
        list: true,
        load: false,
        resume: false,
      })
    return saved
  }
}

function countText(count: number): string {
  return count === 1 ? l10n.t('1 conversation') : l10n.t('{0} conversations', count)
}

/** Summarizes in sentences which sessions were imported and which weren't. */
function summaryOf(done: Imported): string {
  const { added, merged, same, failed, noRoom, newer, skipped, problems } = done
  const sentences = [
    added > 0 && l10n.t('Imported: {0}.', countText(added)),
    merged > 0 && l10n.t('Merged with saved conversations: {0}.', countText(merged)),
    same > 0 && l10n.t('Already saved: {0}.', countText(same)),
    newer > 0 && l10n.t('From a newer version of Parley, not imported: {0}.', countText(newer)),
    noRoom > 0 &&
      l10n.t("Not imported, because they'd exceed parley.history.maximumSize: {0}.", countText(noRoom)),
    failed > 0 && l10n.t("Couldn't be saved: {0}.", countText(failed)),
    ...problems.map(problem => l10n.t("A file couldn't be read: {0}", problem)),
  ].filter(sentence => sentence !== false)
  if (sentences.length === 0) return l10n.t('The files contain no conversations exported by Parley.')
  if (skipped === 1) sentences.push(l10n.t('1 damaged or missing part was left out.'))
  if (skipped > 1) sentences.push(l10n.t('{0} damaged or missing parts were left out.', skipped))
  return sentences.join(' ')
}
