/** Shows the tracked files as the user sees them, including unsaved changes. */

import type { FileReader } from '../detect/file-reader.ts'
import type { TrackedFiles } from '../detect/tracked-files.ts'
import type { Matches } from '../model/change-versions.ts'
import type { BlobStore, FileState } from '../model/file-state.ts'
import type { Rewound, TrackedFile } from '../model/tracked-file.ts'
import type { UnsavedEdits, View } from '../model/unsaved-edits.ts'

export interface FileViewsOptions {
  files: TrackedFiles
  reader: FileReader
  unsaved: UnsavedEdits
  store: BlobStore
  /** The keys of the sessions that a session's conversation was in before: their changes also count as changes of this session. */
  earlierSessions: (session: string) => readonly string[]
}

export class FileViews {
  readonly #files: TrackedFiles
  readonly #reader: FileReader
  readonly #unsaved: UnsavedEdits
  readonly #store: BlobStore
  readonly earlierSessions: FileViewsOptions['earlierSessions']

  constructor({ files, reader, unsaved, store, earlierSessions }: FileViewsOptions) {
    this.#files = files
    this.#reader = reader
    this.#unsaved = unsaved
    this.#store = store
    this.earlierSessions = earlierSessions
  }

  /** The file including the user's unsaved changes. */
  at(path: string): TrackedFile | undefined {
    const key = this.#files.paths.ownKey(path)
    const file = this.#files.get(key)
    if (!file || !this.#unsaved.has(key)) return file
    return this.withDocument(key, file)?.file ?? file
  }

  /**
   * The file without the changes of one session's conversation, or of all agents. A file that agents didn't change is returned unchanged.
   * `undefined` if the file can't be read.
   */
  async before(path: string, session?: string): Promise<FileState | undefined> {
    await this.#files.ready
    const file = this.at(path)
    if (!file) return this.#reader.read(path).catch(() => undefined)
    if (session === undefined) return file.base
    const sessions = new Set([session, ...this.earlierSessions(session)])
    return file.without(author => author.turns.some(turn => sessions.has(turn.session)))
  }

  /** The content of a file as bytes; text is in UTF-8, with a byte order mark if it isn't ASCII. */
  async bytesOf({ attributes, text }: FileState): Promise<Uint8Array> {
    if (attributes.type === 'text') return Buffer.from(/^[\0-\x7f]*$/.test(text) ? text : `\ufeff${text}`)
    if (attributes.type === 'binary') return (await this.#store.get(attributes.hash)) ?? new Uint8Array()
    return attributes.type === 'link' ? Buffer.from(attributes.target) : new Uint8Array()
  }

  /** Files with agents' changes, in the order of their first change. */
  changed(): TrackedFile[] {
    const files = this.#files
      .entries()
      .flatMap(([key, file]) =>
        (file.hasChanges || this.#unsaved.isRewritten(key)) && !file.gone ? file : [],
      )
    return this.#asShown(files)
  }

  #asShown(files: TrackedFile[]): TrackedFile[] {
    return this.#unsaved.none ? files : files.map(file => this.at(file.path) ?? file)
  }

  /** Sessions with changes, in the order of their first change. */
  sessions(): Set<string> {
    const sessions = new Set<string>()
    for (const file of this.#files.values()) {
      if (!file.gone) for (const session of file.sessions) sessions.add(session)
    }
    return sessions
  }

  /** Files with matching changes in a checkpoint, including the user's unsaved changes. */
  checkpointed(matches: Matches): TrackedFile[] {
    return this.#asShown(this.#files.values().filter(file => file.historyAuthors(matches).length > 0))
  }

  /**
   * The file without the matching changes, kept or not. `unsaved`: the result conflicts with unsaved changes. `conflict`: the unsaved
   * changes conflict with a later write to disk, and can be merged.
   */
  rewound(path: string, matches: Matches): Rewound | 'unsaved' | 'conflict' | undefined {
    const key = this.#files.paths.ownKey(path)
    const file = this.#files.get(key)
    if (!file) return undefined
    const view = this.withDocument(key, file)
    if (!view) return this.#unsaved.merge(key, file, this.#files.document(file.path)) ? 'conflict' : 'unsaved'
    const rewound = view.file.rewound(matches)
    return rewound && view.document && rewound.file.attributes.type !== 'text' ? 'unsaved' : rewound
  }

  /**
   * The file with its unsaved changes, and the document that contains these; `undefined` if the unsaved changes conflict with the content
   * on disk.
   */
  withDocument(key: string, file: TrackedFile): View | undefined {
    if (this.#files.isUnsavedElsewhere(file.path)) return undefined
    return this.#unsaved.view(key, file, this.#files.document(file.path))
  }
}
