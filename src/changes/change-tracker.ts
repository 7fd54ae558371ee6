/**
 * Tracks what agents changed on disk, for the whole window. A file that several sessions change is tracked once. Text
 * that an agent writes through the client, or reports, is the agent's. Other changes during a turn are attributed to the
 * turn and marked as uncertain. All other changes are the user's and are applied to the original text as well.
 */
import { Owner } from '../common/disposable.ts'
import type { FilesShared } from '../editor/files/files.ts'
import { AgentTurns } from './detect/agent-turns.ts'
import { Attribution } from './detect/attribution.ts'
import { type ClientWriteStore, ClientWrites } from './detect/client-writes.ts'
import { DiskChanges } from './detect/disk-changes.ts'
import { FileReader } from './detect/file-reader.ts'
import { FolderScan } from './detect/folder-scan.ts'
import { type TrackedFileStore, TrackedFiles } from './detect/tracked-files.ts'
import { FileViews } from './documents/file-views.ts'
import { UserEdits } from './documents/user-edits.ts'
import { UserRenames } from './documents/user-renames.ts'
import { type CheckpointLimits, type CheckpointStore, Checkpoints } from './model/checkpoints.ts'
import { ContentHolders, type ContentUseStore } from './model/content-use.ts'
import { type BlobStore, FileStates } from './model/file-state.ts'
import { UndoLog, type UndoStore } from './model/undo-log.ts'
import { UnsavedEdits } from './model/unsaved-edits.ts'
import { DescribeAhead } from './review/changed-file.ts'
import { Review } from './review/review.ts'
import { type DecisionStore, ReviewProgress } from './review/review-progress.ts'

/** Persists all data of the tracker across reloads. */
export interface TrackerStore
  extends BlobStore,
    TrackedFileStore,
    ClientWriteStore,
    UndoStore,
    CheckpointStore,
    DecisionStore,
    ContentUseStore {}

export interface TrackerOptions {
  files: FilesShared
  store: TrackerStore
  /** Moves a file to the trash; the content is also in the store. Rejects if there is no trash. */
  trash?: (path: string) => Promise<void>
  /** Returns the limits; called each time checkpoints are dropped. Absent: checkpoints are kept without a limit. */
  checkpoints?: () => CheckpointLimits
  /** Globs of files to ignore in folders without a repository. */
  excluded?: () => readonly string[]
  /** The keys of the sessions that a session's conversation was in before: their changes also count as changes of this session. */
  earlierSessions?: (session: string) => readonly string[]
  /**
   * Resolves when this window has taken over the turns of an earlier one, so that the changes of these turns aren't taken for the user's.
   */
  agentsBack?: Promise<void>
}

export class ChangeTracker extends Owner {
  readonly shared: FilesShared
  readonly files: TrackedFiles
  readonly views: FileViews
  readonly reader: FileReader
  readonly disk: DiskChanges
  /** Detects changes by commands in folders without a Git repository. */
  readonly scan: FolderScan
  readonly edits: UserEdits
  readonly renames: UserRenames
  readonly turns: AgentTurns
  readonly writes: ClientWrites
  readonly review: Review
  readonly checkpoints: Checkpoints
  readonly holders = new ContentHolders()
  /** The user's decisions about changes. */
  readonly progress: ReviewProgress

  constructor({
    files: shared,
    store,
    trash,
    checkpoints: limits,
    excluded,
    earlierSessions = () => [],
    agentsBack,
  }: TrackerOptions) {
    super()
    this.shared = shared
    const attribution = new Attribution()
    const unsaved = new UnsavedEdits()
    const undoLog = new UndoLog(store)
    const states = new FileStates(shared, store)
    const checkpoints = new Checkpoints(store, limits ?? (() => undefined))
    this.checkpoints = checkpoints
    const progress = new ReviewProgress(store)
    this.progress = progress
    const files = new TrackedFiles({ shared, store, attribution, unsaved, checkpoints, undoLog, progress })
    this.files = this.register(files)
    this.register(new DescribeAhead(files))
    const reader = new FileReader(files, states)
    this.reader = reader
    const views = new FileViews({ files, reader, unsaved, store, earlierSessions })
    this.views = views
    this.scan = new FolderScan({
      store,
      holders: this.holders,
      stateOf: (...file) => reader.stateWith(...file),
      maxBytes: () => checkpoints.maxBytes,
      ...(excluded && { excluded }),
    })
    const keep = (path: string, ids?: ReadonlySet<number>) => void this.review.keep(path, () => true, ids)
    const disk = new DiskChanges({ shared, files, reader, attribution, unsaved, keep, agentsBack })
    this.disk = this.register(disk)
    this.edits = this.register(new UserEdits({ files, reader, disk, attribution, unsaved, shared }))
    this.renames = new UserRenames({ shared, files, reader, disk, unsaved, undoLog, progress })
    this.turns = new AgentTurns({ shared, files, reader, disk, attribution })
    this.writes = new ClientWrites({ files, reader, disk, attribution, unsaved, store })
    this.review = new Review({
      shared,
      files,
      reader,
      states,
      disk,
      unsaved,
      views,
      undoLog,
      holders: this.holders,
      progress,
      trash: trash ?? (() => Promise.reject(new Error('There is no trash.'))),
    })
    store.removeUnused({
      inUse: () => {
        const used = new Set<string>()
        this.holders.addTo(used, attribution.isQuiet)
        return files.addContents(used) ? used : undefined
      },
      collected: () => this.scan.collected(),
    })
  }
}
