/** Limits the age and the size of checkpoints, and remembers which were dropped. */
import type { TurnRef } from './change-versions.ts'
import type { TrackedFile } from './tracked-file.ts'
import { type UndoLog, type Undone, undoSize } from './undo-log.ts'

/** A file whose checkpoints were dropped. */
export interface DroppedHistory {
  path: string
  turns: TurnRef[]
  why: 'age' | 'size'
}

/** How long checkpoints stay, and how much space they may use. */
export interface CheckpointLimits {
  maxAgeMs: number
  maxBytes: number
}

/** Number of files for which a dropped checkpoint is remembered. */
const MAX_DROPPED = 2000

export interface CheckpointStore {
  /** Saves the list in the background, replacing the stored one. */
  saveDropped(dropped: readonly DroppedHistory[]): void
  loadDropped(): Promise<DroppedHistory[]>
  /** The age in milliseconds of something from this time: never more than its real age, even if the clock is wrong. */
  ageOf(time: number): number
}

export class Checkpoints {
  readonly #store: CheckpointStore
  readonly #limits: () => CheckpointLimits | undefined
  #dropped: readonly DroppedHistory[] = []

  constructor(store: CheckpointStore, limits: () => CheckpointLimits | undefined) {
    this.#store = store
    this.#limits = limits
  }

  async load(): Promise<void> {
    this.#dropped = await this.#store.loadDropped()
  }

  get maxBytes(): number {
    return this.#limits()?.maxBytes ?? Number.POSITIVE_INFINITY
  }

  /** The files whose checkpoints before the matching turns were dropped. */
  dropped(matches: (turn: TurnRef) => boolean): DroppedHistory[] {
    return this.#dropped.filter(({ turns }) => turns.some(matches))
  }

  /**
   * Drops checkpoints that are too old, and then the oldest checkpoints and undos until the rest fits the limit. The newest undo and undos
   * in use stay. Returns the files whose checkpoints were dropped.
   */
  drop(files: Iterable<TrackedFile>, undos: Pick<UndoLog, 'all' | 'forget' | 'isUsed'>): TrackedFile[] {
    const limits = this.#limits()
    if (!limits) return []
    const all: Array<{ at: number; bytes: number; file?: TrackedFile; undone?: Undone }> = undos.all.map(
      undone => ({ undone, at: undone.at, bytes: undoSize(undone) }),
    )
    for (const file of files) {
      const at = file.historyAt
      if (at !== undefined) all.push({ file, at, bytes: file.historyBytes })
    }
    const age = new Map(all.map(one => [one, this.#store.ageOf(one.at)]))
    all.sort((a, b) => age.get(a)! - age.get(b)! || b.at - a.at)
    const [newest] = undos.all
    let bytes = 0
    const dropped: TrackedFile[] = []
    for (const one of all) {
      const { bytes: own, file, undone } = one
      const isOld = age.get(one)! > limits.maxAgeMs
      bytes += own
      if (undone && undone !== newest && bytes > limits.maxBytes && !undos.isUsed(undone))
        undos.forget(undone)
      if (!file || (!isOld && bytes <= limits.maxBytes)) continue
      this.dropOf(file, isOld ? 'age' : 'size')
      dropped.push(file)
    }
    return dropped
  }

  dropOf(file: TrackedFile, why: DroppedHistory['why']): void {
    const turns = file.historyAuthors(() => true).flatMap(author => author.turns)
    const known = new Map(turns.map(turn => [`${turn.turn} ${turn.session}`, turn]))
    const dropped = { path: file.path, turns: [...known.values()], why }
    this.#dropped = [dropped, ...this.#dropped].slice(0, MAX_DROPPED)
    file.forgetHistory()
    this.#store.saveDropped(this.#dropped)
  }
}
