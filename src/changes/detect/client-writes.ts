/** Tracks files that agents write through the client: their new text is known before it's on disk. */
import type { TrackedWrite } from '../../editor/files/agent-write.ts'
import { adaptLineEnds, withLineEndsOf } from '../../editor/line-edits.ts'
import { sameButEnds, withoutMark } from '../../editor/text.ts'
import type { AgentAuthor } from '../model/change-versions.ts'
import { textState } from '../model/file-state.ts'
import { TrackedFile } from '../model/tracked-file.ts'
import type { UnsavedEdits } from '../model/unsaved-edits.ts'
import type { Attribution, ClientWrite } from './attribution.ts'
import type { DiskChanges } from './disk-changes.ts'
import type { FileReader } from './file-reader.ts'
import type { TrackedFileStore, TrackedFiles } from './tracked-files.ts'

export interface ClientWriteStore extends Pick<TrackedFileStore, 'save'> {
  /** Resolves when everything that was saved is on disk. */
  flushed(): Promise<void>
}

export interface ClientWritesOptions {
  files: TrackedFiles
  reader: FileReader
  disk: DiskChanges
  attribution: Attribution
  unsaved: UnsavedEdits
  store: ClientWriteStore
}

export class ClientWrites {
  readonly #files: TrackedFiles
  readonly #reader: FileReader
  readonly #disk: DiskChanges
  readonly #attribution: Attribution
  readonly #unsaved: UnsavedEdits
  readonly #store: ClientWriteStore

  constructor({ files, reader, disk, attribution, unsaved, store }: ClientWritesOptions) {
    this.#files = files
    this.#reader = reader
    this.#disk = disk
    this.#attribution = attribution
    this.#unsaved = unsaved
    this.#store = store
  }

  /**
   * Tracks an agent's write of a file through the client. `work` does the writing, and reports the text that the file gets: the agent's
   * text merged with the user's changes.
   */
  async writing<T>(
    path: string,
    content: string,
    author: AgentAuthor,
    work: (tracked: TrackedWrite) => Promise<T>,
  ): Promise<T> {
    const key = this.#files.paths.key(path)
    const write: ClientWrite = { content: withoutMark(content) }
    let onDisk: TrackedFile | undefined
    let loaded: string | undefined
    await this.#files.run(key, async () => {
      loaded = await this.#check(key, path, write.content, author)
      const document = this.#files.document(path)
      let known = this.#files.get(key)
      if (known && document?.isDirty() && known.attributes.type === 'text') {
        onDisk = known
        known = this.#unsaved.withText(key, known, document.text())
        this.#files.set(key, known)
      }
      if (known) await this.#announce(known, write.content, author)
      this.#attribution.beginWrite(key, write)
    })
    let begun = false
    let done = false
    const willWrite = (text: string) => {
      begun = true
      // only the user has changed the text since the editor got the agent's text
      if (write.shown) return
      write.content = text
      // the agent's text in the editor isn't the user's typing, even before it's saved
      const document = this.#files.document(path)
      if (document && sameButEnds(document.text(), text)) write.shown = true
    }
    try {
      const result = await work({ willWrite, ...(loaded !== undefined && { loaded }) })
      done = true
      return result
    } finally {
      await this.#files.run(key, async () => {
        this.#attribution.endWrite(key, write)
        const file = this.#files.get(key)
        if (!file) return
        // the write failed or never started, so the file is as it was before, with its unsaved changes
        if (!done || (onDisk && !begun)) {
          const known = onDisk ?? file
          this.#files.set(key, known)
          this.#store.save(path, known.isKnown ? known.store() : undefined)
          await this.#disk.check(key, known)
          return this.#disk.reportConflict(key)
        }
        this.#unsaved.overwritten(key)
        const now = await this.#reader.read(path)
        if (!now) return
        if (write.typed !== undefined) file.editText(withLineEndsOf(write.typed, file.text), 'user')
        const text = adaptLineEnds(write.content, now.text)
        const isText = now.attributes.type === 'text'
        if (isText) this.#attribution.applyWrite(key, author, file.text, withoutMark(content))
        const first = isText ? file.edit({ text, attributes: now.attributes }, author) : false
        // a formatter changes only white space, but so may a user who has just started typing
        const isTyping = this.#files.document(path)?.isDirty() === true
        const rest = !isTyping && sameButSpace(text, now.text) ? author : 'user'
        this.#files.save(key, file, file.edit(now, rest) || first)
        this.#unsaved.clearConflict(key)
      })
    }
  }

  /**
   * Stores an agent's change before it's written to disk, so that a crash in between can't hide its author. If the file isn't written after
   * all, the change disappears again when the file is compared after the crash.
   */
  async #announce(file: TrackedFile, content: string, author: AgentAuthor): Promise<void> {
    const { type } = file.attributes
    if (type !== 'text' && type !== 'absent') return
    const written = file.clone()
    written.edit(textState(adaptLineEnds(content, file.text), file.state), author)
    this.#store.save(file.path, written.store())
    await this.#store.flushed()
  }

  /**
   * Tracks the file as it is on disk before the write. Returns the base of its document's unsaved changes if this base isn't on disk
   * anymore.
   */
  async #check(key: string, path: string, content: string, author: AgentAuthor): Promise<string | undefined> {
    const file = this.#files.get(key)
    if (file) {
      await this.#disk.checkBeforeWrite(key, file)
      return this.#unsaved.loadedText(key)
    }
    const now = await this.#reader.read(path)
    if (!now) return undefined
    const begunFrom = this.#files.document(path)?.isDirty()
      ? await this.#unsaved.begunFrom(this.#files.paths.keysOf(path))
      : undefined
    if (begunFrom === undefined || now.attributes.type !== 'text' || sameButEnds(begunFrom, now.text)) {
      this.#files.track(key, path, now)
      return undefined
    }
    // some agents write a file by themselves before they write the same text through the client
    const isAgents = sameButEnds(content, now.text)
    if (!this.#files.track(key, path, isAgents ? textState(begunFrom, now) : now)) return undefined
    const before = TrackedFile.of(path, textState(begunFrom, now))
    await this.#disk.noteConflict(key, before, now)
    if (isAgents) this.#files.get(key)!.edit(now, author)
    return begunFrom
  }
}

/** Whether the texts differ only in white space, as after a formatter. */
function sameButSpace(one: string, other: string): boolean {
  return one === other || one.replace(/\s/g, '') === other.replace(/\s/g, '')
}
