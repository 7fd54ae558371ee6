import * as vscode from 'vscode'
import type { EditorChanges } from '../../app/changes/editor-changes.ts'
import { Owner } from '../../common/disposable.ts'
import { pathOnDisk } from '../path-on-disk.ts'

export const BASE_SCHEME = 'parley-base'
/** Maximum number of URIs whose changes are reported, more than editors show. */
const MAX_KNOWN = 2000

/**
 * Returns the URI of a file without the changes of one session, or of all agents. `missing`: the URI of an empty file in place of a missing
 * file. `to`: the new path of a renamed file, where the file stays if the user keeps the change.
 */
export function baseUri(path: string, session?: string, missing?: boolean, to?: string): vscode.Uri {
  const query = new URLSearchParams({
    ...(session && { session }),
    ...(missing && { missing: '1' }),
    ...(to !== undefined && to !== path && { to }),
  })
  return vscode.Uri.from({ scheme: BASE_SCHEME, path: vscode.Uri.file(path).path, query: query.toString() })
}

/**
 * Returns the URI of a summary of a file that isn't text, with or without the changes of one session, or of all agents, since VS Code's
 * review shows only texts. `to`: see {@link baseUri}.
 */
export function summaryUri(path: string, when: 'before' | 'now', session?: string, to?: string): vscode.Uri {
  const base = baseUri(path, session, false, to)
  const query = new URLSearchParams(base.query)
  query.set('summary', when)
  return base.with({ query: query.toString() })
}

interface BaseServices {
  changes: Pick<EditorChanges, 'before'>
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

  /** Starts to notify editors of changes. `keyOf`: equal for different spellings of a path. */
  follow({ onDidChange }: Pick<EditorChanges, 'onDidChange'>, keyOf: (path: string) => string): void {
    this.register(
      onDidChange(paths => {
        this.#changes++
        const keys = new Set(paths.map(keyOf))
        const changed = [...this.#known.values()].filter(uri =>
          [filePathOf(uri), renamedTo(uri)].some(path => path !== undefined && keys.has(keyOf(path))),
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
    const { changes } = await this.#services()
    const session = query.get('session') ?? undefined
    const summary = query.get('summary') === 'now' ? 'now' : query.has('summary') ? 'before' : undefined
    return changes.before({ path: filePathOf(uri), session, to: renamedTo(uri), summary })
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

function renamedTo({ query }: vscode.Uri): string | undefined {
  return new URLSearchParams(query).get('to') ?? undefined
}

export function filePathOf(uri: vscode.Uri): string {
  return pathOnDisk(vscode.Uri.file(uri.path))
}
