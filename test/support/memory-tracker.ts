import { createHash } from 'node:crypto'
import { ChangeTracker, type TrackerOptions, type TrackerStore } from '../../src/changes/change-tracker.ts'
import type { DroppedHistory } from '../../src/changes/model/checkpoints.ts'
import type { StoredFile } from '../../src/changes/model/tracked-file.ts'
import type { Undone, UndoneFile } from '../../src/changes/model/undo-log.ts'
import type { DecidedFile } from '../../src/changes/review/review-progress.ts'
import { noDocuments } from '../../src/editor/files/documents.ts'
import { disk } from '../../src/editor/files/file-system.ts'
import { type FilesShared, filesShared } from '../../src/editor/files/files.ts'

/** What a window would store on disk, also serialized as JSON. */
export class MemoryStore implements TrackerStore {
  readonly blobs = new Map<string, Uint8Array>()
  readonly files = new Map<string, string>()
  readonly undone = new Map<string, string>()
  readonly decided = new Map<string, string>()
  dropped = '[]'

  async load(): Promise<StoredFile[]> {
    return [...this.files.values()].map(file => JSON.parse(file))
  }

  async flushed(): Promise<void> {}

  removeUnused(): void {}

  save(path: string, file: StoredFile | undefined): void {
    if (file) this.files.set(path, JSON.stringify(file))
    else this.files.delete(path)
  }

  async put(bytes: Uint8Array): Promise<string> {
    const hash = createHash('sha256').update(bytes).digest('hex')
    this.blobs.set(hash, Uint8Array.from(bytes))
    return hash
  }

  async get(hash: string): Promise<Uint8Array | undefined> {
    return this.blobs.get(hash)
  }

  async saveUndone(undone: Undone): Promise<void> {
    this.undone.set(undone.id, JSON.stringify(undone))
  }

  async addUndone(head: Omit<Undone, 'files'>, files: readonly UndoneFile[]): Promise<void> {
    const known = this.undone.get(head.id)
    const before: UndoneFile[] = known ? JSON.parse(known).files : []
    this.undone.set(head.id, JSON.stringify({ ...head, files: [...before, ...files] }))
  }

  async loadUndone(): Promise<Undone[]> {
    return [...this.undone.values()].map(undone => JSON.parse(undone)).reverse()
  }

  forgetUndone(id: string): void {
    this.undone.delete(id)
  }

  saveDecided(id: string, decided: DecidedFile | undefined): void {
    if (decided) this.decided.set(id, JSON.stringify(decided))
    else this.decided.delete(id)
  }

  async loadDecided(): Promise<Array<[string, DecidedFile]>> {
    return [...this.decided].map(([id, decided]) => [id, JSON.parse(decided)])
  }

  saveDropped(dropped: readonly DroppedHistory[]): void {
    this.dropped = JSON.stringify(dropped)
  }

  ageOf(time: number): number {
    return Math.max(0, Date.now() - time)
  }

  async loadDropped(): Promise<DroppedHistory[]> {
    return JSON.parse(this.dropped)
  }
}

export function memoryTracker(
  files: FilesShared = filesShared({ documents: noDocuments, fileSystem: disk }),
  store: TrackerStore = new MemoryStore(),
  options: Pick<TrackerOptions, 'earlierSessions'> = {},
): ChangeTracker {
  return new ChangeTracker({ files, store, ...options })
}
