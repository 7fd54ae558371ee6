/** Remembers which changes of agents were undone, so that an undo can be reverted. */

import { messageOf } from '../../common/errors.ts'
import { mergeLines, splitLines } from '../../editor/line-edits.ts'
import type { AgentAuthor, Matches } from './change-versions.ts'
import { type FileState, sameAttributes } from './file-state.ts'
import { type StoredFile, TrackedFile } from './tracked-file.ts'

/** A file before and after an undo. */
export interface UndoneFile {
  before: StoredFile
  after: StoredFile
}

/** An undo that can be reverted. */
export interface Undone {
  id: string
  /** milliseconds since the epoch */
  at: number
  /** the session whose changes were undone; absent if there were several */
  session?: string
  files: UndoneFile[]
}

/** A file that was left unchanged when an undo was reverted. */
export interface UnrestoredFile {
  path: string
  /** The error; absent if later or unsaved changes are in the way. */
  why?: Error
}

/** Restores one file. Resolves to false if that's impossible. */
type RestoreFile = (key: string, file: UndoneFile, session: string | undefined) => Promise<boolean>

/** Stores a file before its changes are undone. Resolves to a function that removes the record if the changes weren't undone after all. */
export type NoteUndone = (file: UndoneFile) => Promise<() => Promise<void>>

/** An undo that is being done, and isn't dropped until `end`. */
export interface BegunUndo {
  undone: Undone
  note: NoteUndone
  end: () => void
}

export interface UndoStore {
  /** Replaces the stored undo. Resolves when it is on disk. */
  saveUndone(undone: Undone): Promise<void>
  /** Adds files to a stored undo. Resolves when they're on disk. */
  addUndone(undone: Omit<Undone, 'files'>, files: readonly UndoneFile[]): Promise<void>
  /** The undos, newest first. */
  loadUndone(): Promise<Undone[]>
  forgetUndone(id: string): void
}

export class UndoLog {
  readonly #store: UndoStore
  readonly #undone: Undone[] = []
  /** an entry for each time that an undo is being done or reverted */
  readonly #uses = new Set<{ undone: Undone }>()
  #count = 0
  /** Writes to the store run one after another, so that each includes the earlier changes. */
  #storing: Promise<unknown> = Promise.resolve()

  constructor(store: UndoStore) {
    this.#store = store
  }

  async load(): Promise<void> {
    this.#undone.push(...(await this.#store.loadUndone()))
  }

  /** The undos, newest first. */
  get all(): readonly Undone[] {
    return this.#undone
  }

  forget(undone: Undone): void {
    const index = this.#undone.indexOf(undone)
    if (index >= 0) this.#undone.splice(index, 1)
    this.#store.forgetUndone(undone.id)
  }

  /** Whether the undo is being done or reverted, so that it must stay. */
  isUsed(undone: Undone): boolean {
    return [...this.#uses].some(use => use.undone === undone)
  }

  #use(undone: Undone): () => void {
    const use = { undone }
    this.#uses.add(use)
    return () => void this.#uses.delete(use)
  }

  /** Begins an undo, which is stored on disk before it's done; `end` ends it. `into`: the earlier undo that it becomes part of. */
  begin(session: string | undefined, into?: Undone): BegunUndo {
    const at = Date.now()
    const undone: Undone = into ?? {
      id: `${at}-${++this.#count}`,
      at,
      ...(session !== undefined && { session }),
      files: [],
    }
    // files that are noted while the disk is busy are stored together
    let waiting: UndoneFile[] = []
    let adding: Promise<void> = Promise.resolve()
    const note: NoteUndone = async file => {
      if (waiting.length === 0) {
        adding = this.#inOrder(() => {
          const files = waiting
          waiting = []
          return this.#add(undone, files)
        })
      }
      waiting.push(file)
      await adding
      return () => this.#remove(undone, new Set([file]))
    }
    return { undone, note, end: this.#use(undone) }
  }

  /** Records an undo of the agents' changes in a file that the user replaced with another file, so that the original can be restored. */
  async putAside(file: TrackedFile): Promise<void> {
    const { note, end } = this.begin(firstAuthor(file, () => true)?.turns[0]?.session)
    await note({ before: TrackedFile.of(file.path, file.base).store(), after: file.store() }).finally(end)
  }

  /**
   * Reverts an undo with `restore`, file by file. `only`: reverts it only for this file. Returns the files for which `restore` returns
   * false or rejects.
   */
  async restore(
    id: string,
    keyOf: (path: string) => string,
    restore: RestoreFile,
    only?: string,
  ): Promise<UnrestoredFile[]> {
    const undone = this.#undone.find(one => one.id === id)
    if (!undone) return []
    const files = undone.files.filter(({ before }) => only === undefined || before.path === only)
    return this.#restore(undone, files, keyOf, restore).finally(this.#use(undone))
  }

  async #restore(
    undone: Undone,
    files: readonly UndoneFile[],
    keyOf: (path: string) => string,
    restore: RestoreFile,
  ): Promise<UnrestoredFile[]> {
    const unrestored: UndoneFile[] = []
    const restored = new Set<UndoneFile>()
    /** the errors of `restore`, by path */
    const errors = new Map<string, Error>()
    // a file may have been undone in steps: revert the last one first
    for (const one of files.toReversed()) {
      const key = keyOf(one.before.path)
      const isBelow = unrestored.some(other => keyOf(other.before.path) === key)
      const isRestored =
        !isBelow &&
        (await restore(key, one, undone.session).catch((error: unknown) => {
          errors.set(one.before.path, error instanceof Error ? error : new Error(messageOf(error)))
          return false
        }))
      if (isRestored) restored.add(one)
      else unrestored.unshift(one)
    }
    await this.#remove(undone, restored)
    return [...new Set(unrestored.map(one => one.before.path))].map(path => {
      const why = errors.get(path)
      return { path, ...(why && { why }) }
    })
  }

  async #add(undone: Undone, files: readonly UndoneFile[]): Promise<void> {
    const { files: _, ...head } = undone
    const isStored = this.#undone.includes(undone)
    // files that couldn't be stored aren't undone
    if (isStored) await this.#store.addUndone(head, files)
    // the undo is new, or was dropped since its first part was stored
    else await this.#store.saveUndone({ ...head, files: [...undone.files, ...files] })
    undone.files.push(...files)
    if (!isStored) this.#undone.unshift(undone)
  }

  /** Removes these files from the undo, but not files that were added meanwhile. */
  #remove(undone: Undone, files: ReadonlySet<UndoneFile>): Promise<void> {
    return this.#inOrder(async () => {
      undone.files = undone.files.filter(one => !files.has(one))
      if (undone.files.length > 0) await this.#store.saveUndone(undone)
      else this.forget(undone)
    })
  }

  #inOrder<T>(change: () => Promise<T>): Promise<T> {
    const changing = this.#storing.then(change)
    this.#storing = changing.catch(() => {})
    return changing
  }
}

/** Approximate size of an undo: its contents, each counted once. */
export function undoSize({ files }: Undone): number {
  const texts = new Set<string>()
  const binaries = new Map<string, number>()
  for (const { before, after } of files) {
    for (const { text, attributes } of [before, after]) {
      texts.add(text)
      for (const { value } of attributes) if (value.type === 'binary') binaries.set(value.hash, value.size)
    }
  }
  const sizes = [...[...texts].map(text => Buffer.byteLength(text)), ...binaries.values()]
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** The file after reverting the undo; `undefined` if other changes are in the way. */
export function restored(
  { before, after }: UndoneFile,
  now: TrackedFile,
  session: string | undefined,
): TrackedFile | undefined {
  const was = TrackedFile.restore(before)
  const then = TrackedFile.restore(after)
  if (!was || !then || (now.gone && then.attributes.type !== 'absent')) return undefined
  if (!sameAttributes(now.attributes, then.attributes)) return undefined
  const text = mergeLines(splitLines(then.text), splitLines(now.text), splitLines(was.text))?.join('')
  if (text === undefined) return undefined
  if (text === was.text && JSON.stringify(now.store().segments) === JSON.stringify(after.segments)) return was
  const mine: Matches = ({ turns }) => session === undefined || turns.some(turn => turn.session === session)
  const author = firstAuthor(was, mine)
  const target = now.clone()
  const state: FileState = { text, attributes: was.attributes }
  target.edit(state, author ?? 'user', author ?? was.historyAuthors(mine).at(-1) ?? 'user')
  return target
}

function firstAuthor(file: TrackedFile, matches: Matches): AgentAuthor | undefined {
  const [author] = [
    ...file.hunks(matches).flatMap(({ authors }) => authors),
    ...file.attributeAuthors(matches),
  ]
  return author
}
