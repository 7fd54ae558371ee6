import { randomUUID } from 'node:crypto'
import { stat } from 'node:fs/promises'
import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import { deferred } from '../../common/async.ts'
import { Owner, toDisposable } from '../../common/disposable.ts'
import { UnavailableError } from '../../common/errors.ts'
import type { OpenDiff, ProposedFile } from '../../mcp/terminal/terminal-editor.ts'

/** The URI scheme, which the `when` clauses in package.json also name. */
const SCHEME = 'parley-terminal'
/** The query of the empty side of a new file's diff. */
const MISSING = 'missing'

const EMPTY = { bytes: new Uint8Array(), changed: 0 }

/** by the URI of the diff's right side */
const proposals = new Map<string, Proposal>()

/** Passes on the user's answer to the proposal in the diff with this right side, or in the active diff. */
export async function answerEditableDiff(accept: boolean, uri?: unknown): Promise<void> {
  const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input
  const active = input instanceof vscode.TabInputTextDiff ? input.modified : undefined
  const proposal = proposals.get(String(uri instanceof vscode.Uri ? uri : active))
  if (!proposal) throw new UnavailableError(l10n.t('No proposed change is open.'))
  await proposal.end(accept)
}

/**
 * Shows files as agents propose them in diff editors, in which the user may edit them. *Accept*, *Reject* and closing the tab answer.
 * The key for saving accepts, too, as in the extensions of these agents, but no other save does: VS Code also saves by itself, such as
 * before a task, and reports that the user saved. Parley writes no file.
 */
export class EditableDiffs extends Owner implements vscode.FileSystemProvider {
  /** Never fires, since only VS Code itself changes these files. */
  readonly onDidChangeFile = this.register(new vscode.EventEmitter<vscode.FileChangeEvent[]>()).event

  constructor() {
    super()
    this.register(vscode.workspace.registerFileSystemProvider(SCHEME, this, { isCaseSensitive: true }))
    this.register(
      vscode.window.tabGroups.onDidChangeTabs(() => {
        for (const proposal of [...proposals.values()]) proposal.tabsChanged()
      }),
    )
    this.register(
      toDisposable(() => {
        for (const proposal of [...proposals.values()]) void proposal.end(false)
      }),
    )
    void closeRestored()
  }

  async open({ path, oldPath, text, title }: ProposedFile): Promise<OpenDiff> {
    const uri = vscode.Uri.from({ scheme: SCHEME, path: vscode.Uri.file(path).path, query: randomUUID() })
    const proposal = new Proposal(uri, text)
    proposals.set(uri.toString(), proposal)
    try {
      const isThere = await stat(oldPath).then(
        found => found.isFile(),
        () => false,
      )
      const left = isThere ? vscode.Uri.file(oldPath) : uri.with({ query: MISSING })
      // whatever `files.encoding` says
      await vscode.workspace.openTextDocument(uri, { encoding: 'utf8' })
      const options = { preview: false, preserveFocus: true }
      await vscode.commands.executeCommand('vscode.diff', left, uri, title, options)
      proposal.tabsChanged()
    } catch (error) {
      await proposal.end(false)
      throw error
    }
    return { outcome: proposal.outcome, close: () => proposal.end(false) }
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => {})
  }

  stat(uri: vscode.Uri): vscode.FileStat {
    // VS Code saves only files that exist
    const { bytes, changed } = proposals.get(uri.toString()) ?? EMPTY
    return { type: vscode.FileType.File, ctime: 0, mtime: changed, size: bytes.byteLength }
  }

  readFile(uri: vscode.Uri): Uint8Array {
    const bytes = uri.query === MISSING ? EMPTY.bytes : proposals.get(uri.toString())?.bytes
    if (!bytes) throw vscode.FileSystemError.FileNotFound(uri)
    return bytes
  }

  writeFile(uri: vscode.Uri, bytes: Uint8Array): void {
    if (uri.query === MISSING) throw vscode.FileSystemError.NoPermissions(uri)
    const proposal = proposals.get(uri.toString())
    // edits from before a reload, which nobody waits for
    if (!proposal) return
    proposal.bytes = bytes
    proposal.changed += 1
  }

  readDirectory(): [] {
    return []
  }

  createDirectory(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri)
  }

  delete(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri)
  }

  rename(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri)
  }
}

/** Closes tabs that were restored after a reload, since their agents no longer wait and their texts are lost. */
async function closeRestored(): Promise<void> {
  const isRestored = (uri: vscode.Uri) => uri.scheme === SCHEME && !proposals.has(uri.toString())
  // VS Code has stored unsaved changes, and would ask what to do with them
  await Promise.allSettled(
    tabsOf(isRestored).map(async ({ input }) => {
      const document = await vscode.workspace.openTextDocument((input as vscode.TabInputTextDiff).modified)
      if (document.isDirty) await document.save()
    }),
  )
  await vscode.window.tabGroups.close(tabsOf(isRestored))
}

class Proposal {
  readonly #uri: vscode.Uri
  readonly #text: string
  readonly #outcome = deferred<string | undefined>()
  readonly outcome = this.#outcome.promise
  /** the content as last saved */
  bytes: Uint8Array
  changed = 1
  #isShown = false
  #end: Promise<string> | undefined

  constructor(uri: vscode.Uri, text: string) {
    this.#uri = uri
    this.#text = text
    this.bytes = Buffer.from(text)
  }

  /** Closing the tab rejects the proposal, even while VS Code still opens the tab. */
  tabsChanged(): void {
    const hasTab = this.#tabs().length > 0
    if (this.#isShown && !hasTab) void this.end(false)
    this.#isShown ||= hasTab
  }

  /** Answers the proposal, unless it was answered before, closes the diff, and resolves to the diff's text. */
  end(accept: boolean): Promise<string> {
    this.#end ??= this.#close(accept)
    return this.#end
  }

  async #close(accept: boolean): Promise<string> {
    const document = this.#document()
    const text = this.#shown(document)
    this.#outcome.resolve(accept ? text : undefined)
    // VS Code would ask what to do with unsaved changes
    if (document?.isDirty) await document.save()
    await vscode.window.tabGroups.close(this.#tabs())
    proposals.delete(this.#uri.toString())
    return text
  }

  #document(): vscode.TextDocument | undefined {
    const address = this.#uri.toString()
    return vscode.workspace.textDocuments.find(({ uri }) => uri.toString() === address)
  }

  /** Returns the visible text; the proposed text if unchanged, since a document has no byte order mark and no mixed line ends. */
  #shown(document: vscode.TextDocument | undefined): string {
    const text = document ? document.getText() : Buffer.from(this.bytes).toString()
    const plain = (full: string) => full.replace(/^\ufeff/, '').replaceAll(/\r\n?/g, '\n')
    if (plain(text) === plain(this.#text)) return this.#text
    return this.#text.startsWith('\ufeff') ? `\ufeff${text.replace(/^\ufeff/, '')}` : text
  }

  #tabs(): vscode.Tab[] {
    const address = this.#uri.toString()
    return tabsOf(uri => uri.toString() === address)
  }
}

/** Returns the diff tabs whose right side is a wanted file. */
function tabsOf(isWanted: (uri: vscode.Uri) => boolean): vscode.Tab[] {
  return vscode.window.tabGroups.all
    .flatMap(({ tabs }) => tabs)
    .filter(({ input }) => input instanceof vscode.TabInputTextDiff && isWanted(input.modified))
}
