import path from 'node:path'
import { ChangeTracker } from '../../changes/change-tracker.ts'
import { followDocuments } from '../../changes/documents/follow-documents.ts'
import type { CheckpointLimits } from '../../changes/model/checkpoints.ts'
import { storeCompiledCode } from '../../common/compiled-code.ts'
import { type DisposableStore, toDisposable } from '../../common/disposable.ts'
import { protectFolders } from '../../common/private-files.ts'
import { sessionKey, sessionOfKey } from '../../common/session-key.ts'
import { removeUnfinishedFiles } from '../../common/unfinished-files.ts'
import { disk } from '../../editor/files/file-system.ts'
import { filesShared } from '../../editor/files/files.ts'
import { OpenDocuments } from '../../editor/files/open-documents.ts'
import { PathRules } from '../../editor/path-rules.ts'
import type { ProtectedFiles } from '../../editor/protected-files.ts'
import { ChangesStore } from '../../history/changes-store.ts'
import { ConversationStorage } from '../../history/conversation-storage.ts'
import { StorageTrouble } from '../../history/database.ts'
import { LocalSessions } from '../../history/local-sessions.ts'
import { SearchClient } from '../../history/search/search-client.ts'
import { sessionsBefore } from '../../sessions/continuation.ts'
import { PreviewStore } from '../page-preview.ts'
import type { Platform, ProcessPlatform } from '../platform.ts'
import type { ProcessWindows } from '../process-windows.ts'
import { settingOf, type WindowState } from '../workbench.ts'
import { CODE_CACHE, previewFiles, privateFolders } from './stores.ts'

/** The delay, after the first view was shown, before the compiled code is stored, in milliseconds. */
const KEEP_CODE_AFTER_MS = 3000

/** The delay before leftovers of a crash and expired data are removed, so that the first view doesn't wait, in milliseconds. */
const CLEAN_AFTER_MS = 10_000

/** The delay before conversations beyond a new limit are deleted, in milliseconds. The user may still be typing the limit. */
const TRIM_AFTER_MS = 60_000
const DAY_MS = 24 * 3_600_000

/** Creates the stores of data that outlive the window: sessions, conversations and previews. */
export function createStorageServices(
  platform: ProcessPlatform,
  windows: ProcessWindows,
  own: DisposableStore,
) {
  const { globalFolder, log, secrets } = platform
  const { setting } = windows
  const trouble = new StorageTrouble(async (message, action) => {
    const answer = await windows.warn(message, ...(action ? [action.title] : []))
    if (action && answer === action.title) action.run()
  })
  const previews = new PreviewStore(previewFiles(platform, log), {
    redact: text => secrets.redact(text),
    isSaved(key) {
      const { agentId, sessionId } = sessionOfKey(key)
      return transcripts.has(agentId, sessionId)
    },
  })
  const cleaner = setTimeout(() => {
    if (setting('history.maximumAge') > 0) conversations.trim()
  }, CLEAN_AFTER_MS)
  const codeKeeper = setTimeout(
    () => void storeCompiledCode(path.join(globalFolder, CODE_CACHE), log),
    KEEP_CODE_AFTER_MS,
  )
  own.add(
    toDisposable(() => {
      clearTimeout(cleaner)
      clearTimeout(codeKeeper)
    }),
  )
  const fileOf = (name: string) => path.join(globalFolder, name)
  /** Returns the maximum size of all saved conversations in bytes; 0 for no limit. */
  const maxBytes = () => {
    const megabytes = setting('history.maximumSize')
    return megabytes > 0 ? Math.max(1, megabytes) * 1_000_000 : 0
  }
  const conversations = own.add(
    new ConversationStorage({
      file: fileOf('conversations.db'),
      trouble,
      log,
      secrets,
      maxBytes,
      maxAgeMs: () => setting('history.maximumAge') * DAY_MS,
      pinned: () => records.pinned(),
    }),
  )
  const { transcripts, leases, windows: processRow, clock } = conversations
  const records: LocalSessions = own.add(
    new LocalSessions({ file: fileOf('sessions.db'), trouble, log, secrets, seenClock: clock }),
  )
  let trimmer: NodeJS.Timeout | undefined
  for (const limit of ['history.maximumAge', 'history.maximumSize'] as const)
    own.add(
      windows.onDidChangeSetting(limit, () => {
        clearTimeout(trimmer)
        trimmer = setTimeout(() => conversations.trim(), TRIM_AFTER_MS)
      }),
    )
  own.add(toDisposable(() => clearTimeout(trimmer)))
  transcripts.onDidDelete(({ agentId, sessionId }) => previews.remove(sessionKey(agentId, sessionId)))
  const search = own.add(
    new SearchClient({
      transcripts,
      script: platform.fileInExtension('dist', 'search-worker.js'),
      files: { file: fileOf('search.db'), conversations: fileOf('conversations.db') },
      log,
    }),
  )
  return {
    previews,
    search,
    records,
    transcripts,
    leases,
    processRow,
    conversations,
    clock,
    /** Returns the size of all saved conversations in bytes, and the limit; 0 for no limit. */
    historySize: () => ({ used: conversations.usedBytes, max: maxBytes() }),
  }
}

/** Makes the window's folders readable only by the user, and removes the files that a crash left there. */
export function protectStores(
  { storage, log }: Pick<Platform, 'storage' | 'log'>,
  own: DisposableStore,
): void {
  const folders = privateFolders(storage)
  void protectFolders(folders, log)
  const cleaner = setTimeout(() => void removeUnfinishedFiles(folders, log), CLEAN_AFTER_MS)
  own.add(toDisposable(() => clearTimeout(cleaner)))
}

/** Creates the services that read and write files for agents, and track what agents changed. For `agentsBack`, see `TrackerOptions`. */
export function createChangeServices(
  { documents: opened, encodings, followFiles, workbench, storage, log, trash }: Platform,
  protectedFiles: ProtectedFiles,
  own: DisposableStore,
  agentsBack: Promise<void>,
  {
    conversations: { database, clock },
    records,
  }: { conversations: ConversationStorage; records: LocalSessions },
) {
  const rules = new PathRules()
  const documents = own.add(new OpenDocuments(opened, rules))
  const files = filesShared({
    ...{ documents, rules, protectedFiles, log },
    fileSystem: disk,
    encodings,
    watch: followFiles,
    folders: () => workbench.folders.map(({ path }) => path),
  })
  const folder = path.join(storage.workspaceFolder ?? storage.globalFolder, 'changes')
  const workspace = path.relative(storage.globalFolder, folder)
  const tracker = own.add(
    new ChangeTracker({
      files,
      store: own.add(new ChangesStore({ database, clock, workspace, folder, log })),
      trash,
      checkpoints: () => checkpointLimits(workbench),
      excluded: () => workbench.hiddenFiles,
      earlierSessions: key => sessionsBefore(key, records),
      agentsBack,
    }),
  )
  own.add(followDocuments(documents, tracker))
  return { documents, files, tracker }
}

function checkpointLimits(window: WindowState): CheckpointLimits {
  const days = settingOf(window, 'checkpoints.maximumAge')
  const megabytes = settingOf(window, 'checkpoints.maximumSize')
  return {
    maxAgeMs: days === 0 ? Number.POSITIVE_INFINITY : days * DAY_MS,
    maxBytes: megabytes === 0 ? Number.POSITIVE_INFINITY : megabytes * 1_000_000,
  }
}
