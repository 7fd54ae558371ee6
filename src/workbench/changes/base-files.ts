import * as vscode from 'vscode'
import type { ChangeTracker } from '../../changes/change-tracker.ts'
import { Owner } from '../../common/disposable.ts'

export const BASE_SCHEME = 'parley-base'
/** Number of URIs whose changes are reported: more than editors show. */
const MAX_KNOWN = 2000

/**
 * The URI of a file without the changes of one session, or of all agents. `missing`: the URI of an empty file that represents a missing
 * one. `to`: the new path of a renamed file, where it stays if the user keeps the change.
 */
export function baseUri(path: string, session?: string, missing?: boolean, to?: string): vscode.Uri {
  const query = new URLSearchParams({
    ...(session && { session }),
    ...(missing && { missing: '1' }),
    ...(to !== undefined && to !== path && { to }),
  })
  return vscode.Uri.from({ scheme: BASE_SCHEME, path: vscode.Uri.file(path).path, query: query.toString() })
}

interface BaseServices {
  tracker: ChangeTracker
  /** The text for a `summary`. */
  summaryOf(tracker: ChangeTracker, path: string, isBefore: boolean, session?: string): Promise<Uint8Array>
}

/** Serves files without agents' changes, for comparison with the current ones, and summaries of files that aren't text. */
export class BaseFiles extends Owner implements vscode.FileSystemProvider {
  readonly #services: () => Promise<BaseServices>
  readonly #change = this.register(new vscode.EventEmitter<vscode.FileChangeEvent[]>())
  /** URIs that were read, the latest last. VS Code doesn't watch the files that quick diff compares with. */
  readonly #known = new Map<string, vscode.Uri>()
  #changes = 0

  readonly onDidChangeFile = this.#change.event

  /** `services` is called when the first file is read, which an editor restored after a reload may do. */
  constructor(services: () => Promise<BaseServices>) {
    super()
    this.#services = services
    this.register(vscode.workspace.registerFileSystemProvider(BASE_SCHEME, this, { isReadonly: true }))
  }

  /** Starts to notify editors of changes. */
  follow(tracker: ChangeTracker): void {
    this.register(
      tracker.files.onDidChange(paths => {
        this.#changes++
        const keys = new Set([...paths].map(path => tracker.files.key(path)))
        const changed = [...this.#known.values()].filter(uri =>
          [filePathOf(uri), renamedTo(uri)].some(path => path !== null && keys.has(tracker.files.key(path))),
        )
        if (changed.length > 0)
          this.#change.fire(changed.map(uri => ({ type: vscode.FileChangeType.Changed, uri })))
      }),
    )
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => {})
  }

  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    const bytes = await this.readFile(uri)
    // always a new value, since the previous content may be outdated
    return { type: vscode.FileType.File, ctime: 0, mtime: ++this.#changes, size: bytes.byteLength }
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    const query = new URLSearchParams(uri.query)
    if (query.has('missing')) return new Uint8Array()
    this.#know(uri)
    const { tracker, summaryOf } = await this.#services()
    const summary = query.get('summary')
    const session = query.get('session') ?? undefined
    const to = renamedTo(uri)
    const old = await tracker.views.before(filePathOf(uri), session)
    const isKept = to !== null && (old?.attributes.type ?? 'absent') === 'absent'
    if (summary !== null)
      return summaryOf(tracker, isKept ? to : filePathOf(uri), summary === 'before', session)
    const state = isKept ? await tracker.views.before(to, session) : old
    return state ? tracker.views.bytesOf(state) : new Uint8Array()
  }

  #know(uri: vscode.Uri): void {
    const key = uri.toString()
    this.#known.delete(key)
    this.#known.set(key, uri)
    const [oldest] = this.#known.keys()
    if (this.#known.size > MAX_KNOWN && oldest !== undefined) this.#known.delete(oldest)
  }

  readDirectory(): [] {
    return []
  }

  createDirectory(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri)
  }

  writeFile(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri)
  }

  delete(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri)
  }

  rename(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri)
  }
}

function renamedTo({ query }: vscode.Uri): string | null {
  return new URLSearchParams(query).get('to')
}

export function filePathOf(uri: vscode.Uri): string {
  return vscode.Uri.file(uri.path).fsPath
}
