/** Finds the suggestions for `@` and the text after it. */

import { stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import path from 'node:path'
import * as l10n from '@vscode/l10n'
import fuzzysort from 'fuzzysort'
import * as vscode from 'vscode'
import { withTimeout } from '../../common/async.ts'
import { fileIcon } from '../../common/block-chip.ts'
import { Owner } from '../../common/disposable.ts'
import type { KeyValueStore } from '../../common/key-value-store.ts'
import { SYMBOLS_MS } from '../../common/limits.ts'
import type { MentionRow } from '../../conversation/attachment.ts'
import { listFiles } from '../../editor/list-files.ts'
import { FileIndex, type FoundFile, type IndexRoot } from '../../editor/mentions/file-index.ts'
import { type FoundRevision, RevisionIndex } from '../../editor/mentions/revision-index.ts'
import { type TypedPath, TypedPathSearch } from '../../editor/mentions/typed-path.ts'
import { currentSelection } from '../editor/open.ts'
import { pathOnDisk } from '../path-on-disk.ts'
import {
  changesAttachment,
  fileAttachment,
  problemsAttachment,
  revisionAttachment,
  symbolAttachment,
  symbolIcon,
  urlAttachment,
} from './attachments.ts'

const MAX_FILES = 40
const MAX_OPEN = 6
const MAX_RECENT = 6
/** Number of remembered files; more than the number of suggestions, since open files are omitted from these. */
const MAX_REMEMBERED = 30
const MAX_SYMBOLS = 20
const MAX_SYMBOLS_HERE = 8
const MAX_REVISIONS = 5
const RECENT = 'parley.recentFiles'

export class MentionSearch extends Owner {
  readonly #index = new FileIndex(listFiles)
  readonly #revisions = new RevisionIndex()
  readonly #typedPaths = new TypedPathSearch()
  #watching = false
  readonly #store: KeyValueStore

  /** @param store remembers recently viewed files of this workspace */
  constructor(store: KeyValueStore) {
    super()
    this.#store = store
    const remember = (editor: vscode.TextEditor | undefined) => editor && this.#remember(editor.document.uri)
    remember(vscode.window.activeTextEditor)
    this.register(vscode.window.onDidChangeActiveTextEditor(remember))
  }

  /** Finds everything except commits, branches and symbols, which Git and language servers may be slow to provide. */
  async find(query: string): Promise<MentionRow[]> {
    this.#watch()
    const url = webAddress(query)
    if (url) {
      const attachment = urlAttachment(url)
      return [
        {
          group: 'context',
          name: url.href,
          matches: [],
          icon: 'globe',
          detail: l10n.t('Link'),
          attaches: attachment,
        },
      ]
    }
    const open = openFiles()
    if (query === '')
      return [...open.slice(0, MAX_OPEN), ...(await this.#recentFiles(open)), ...contextRows()]
    const roots = rootsOfWorkspace()
    const [files, typed] = await Promise.all([
      this.#index.search(roots, query, MAX_FILES),
      this.#typedPaths.find(query, { roots: roots.map(root => root.path), home: homedir() }),
    ])
    const isOpen = new Set(open.map(row => row.detail))
    const byDetail = new Map(typed.map(typedRow).map(row => [row.detail, row]))
    // Git lists a symbolic link like any file; only the lookup by path knows where the link leads
    const listed = files.map(fileRow).map(row => {
      const same = byDetail.get(row.detail)
      byDetail.delete(row.detail)
      return same ? { ...row, ...same, matches: row.matches } : row
    })
    // a typed path that the search doesn't find, such as an ignored file's, comes first
    const rows = [...byDetail.values(), ...listed]
    // among equal matches, open files come first
    const best = rows.slice(0, 8).sort((a, b) => Number(isOpen.has(b.detail)) - Number(isOpen.has(a.detail)))
    return [...matching(contextRows(), query), ...best, ...rows.slice(8)]
  }

  /** Finds commits and branches. */
  async revisions(query: string): Promise<MentionRow[]> {
    const folders = rootsOfWorkspace().map(root => root.path)
    return (await this.#revisions.search(folders, query, MAX_REVISIONS)).map(revisionRow)
  }

  async symbols(query: string): Promise<MentionRow[]> {
    if (query === '') return symbolsHere()
    if (query.length < 2) return []
    const asked = vscode.commands.executeCommand<vscode.SymbolInformation[]>(
      'vscode.executeWorkspaceSymbolProvider',
      query,
    )
    const found = await withTimeout(Promise.resolve(asked), SYMBOLS_MS)
    const own = (found ?? []).filter(({ location }) => vscode.workspace.getWorkspaceFolder(location.uri))
    const ranked = fuzzysort.go(query, own, { key: 'name', limit: MAX_SYMBOLS, threshold: 0.3 })
    return ranked.map(({ obj, indexes }) => symbolRow(obj, [...indexes]))
  }

  #remember(uri: vscode.Uri): void {
    if (uri.scheme !== 'file') return
    const before = this.#remembered()
    const address = uri.toString()
    if (before[0] === address) return
    this.#store.set(RECENT, [address, ...before.filter(one => one !== address)].slice(0, MAX_REMEMBERED))
  }

  #remembered(): string[] {
    const stored = this.#store.get<unknown>(RECENT)
    return Array.isArray(stored) ? stored.filter(one => typeof one === 'string') : []
  }

  /** Resolves to recently viewed files of the workspace that aren't open in a tab. */
  async #recentFiles(open: readonly MentionRow[]): Promise<MentionRow[]> {
    const isOpen = new Set(open.map(row => row.detail))
    const rows: MentionRow[] = []
    for (const address of this.#remembered()) {
      const uri = vscode.Uri.parse(address)
      const detail = vscode.workspace.asRelativePath(uri)
      if (isOpen.has(detail) || !vscode.workspace.getWorkspaceFolder(uri)) continue
      const isThere = await stat(pathOnDisk(uri)).then(
        info => info.isFile(),
        () => false,
      )
      if (isThere) rows.push(openRow('recent', uri))
      if (rows.length === MAX_RECENT) break
    }
    return rows
  }

  /** Starts watching files, at the first search. */
  #watch(): void {
    if (this.#watching) return
    this.#watching = true
    const watcher = this.register(vscode.workspace.createFileSystemWatcher('**/*', false, true, false))
    this.register(watcher.onDidCreate(() => this.#index.changed()))
    this.register(watcher.onDidDelete(() => this.#index.changed()))
  }
}

function rootsOfWorkspace(): IndexRoot[] {
  return (vscode.workspace.workspaceFolders ?? [])
    .filter(folder => folder.uri.scheme === 'file')
    .map(folder => ({ path: pathOnDisk(folder.uri), name: folder.name }))
}

function fileRow({ root, path: file, isFolder, matches }: FoundFile): MentionRow {
  const name = path.posix.basename(file)
  const at = file.length - name.length
  const uri = vscode.Uri.file(path.join(root.path, file))
  const several = (vscode.workspace.workspaceFolders?.length ?? 0) > 1
  const prefix = several ? `${root.name}/` : ''
  return {
    group: 'files',
    name,
    matches: matches.filter(i => i >= at).map(i => i - at),
    icon: isFolder ? 'folder' : fileIcon(name),
    detail: `${prefix}${file}`,
    detailMatches: matches.map(i => i + prefix.length),
    attaches: fileAttachment(uri, isFolder),
    ...(isFolder && { continuation: `${file}/` }),
  }
}

function typedRow({ path: file, isFolder, typed, isOutside }: TypedPath): MentionRow {
  const name = path.basename(file)
  const uri = vscode.Uri.file(file)
  const inFolder = vscode.workspace.getWorkspaceFolder(uri) !== undefined
  return {
    group: 'files',
    name,
    matches: [],
    icon: isFolder ? 'folder' : fileIcon(name),
    detail: inFolder ? vscode.workspace.asRelativePath(uri) : typed,
    attaches: fileAttachment(uri, isFolder),
    ...(isFolder && { continuation: `${typed}/` }),
    ...(isOutside && !isFolder && { isOutside }),
  }
}

function revisionRow({ revision, matches, hashMatches }: FoundRevision): MentionRow {
  const { name, short, base, repository } = revision
  const attaches = revisionAttachment(revision)
  const where = repository === undefined ? '' : `${repository} · `
  return {
    group: 'git',
    name,
    matches,
    icon: attaches.icon,
    detail: `${where}${base === undefined ? short : l10n.t('Changes since {0}', short)}`,
    detailMatches: Array.from({ length: Math.min(hashMatches, short.length) }, (_, i) => where.length + i),
    attaches,
  }
}

/** Returns the files in tabs, the active tab's first. */
function openFiles(): MentionRow[] {
  const { all, activeTabGroup } = vscode.window.tabGroups
  const tabs = [activeTabGroup, ...all.filter(group => group !== activeTabGroup)]
    .flatMap(group => [...group.tabs].sort((a, b) => Number(b.isActive) - Number(a.isActive)))
    .flatMap(tab => (tab.input instanceof vscode.TabInputText ? [tab.input.uri] : []))
    .filter(uri => uri.scheme === 'file')
  const once = new Map(tabs.map(uri => [uri.toString(), uri]))
  return [...once.values()].map(uri => openRow('open', uri))
}

function openRow(group: 'open' | 'recent', uri: vscode.Uri): MentionRow {
  const name = path.posix.basename(uri.path)
  return {
    group,
    name,
    matches: [],
    icon: fileIcon(name),
    detail: vscode.workspace.asRelativePath(uri),
    attaches: fileAttachment(uri),
  }
}

function symbolRow(symbol: vscode.SymbolInformation, matches: number[]): MentionRow {
  return {
    group: 'symbols',
    name: symbol.name,
    matches,
    icon: symbolIcon(symbol.kind),
    detail: vscode.workspace.asRelativePath(symbol.location.uri),
    attaches: symbolAttachment(symbol),
  }
}

/** Resolves to the top-level symbols of the active editor's file, starting with the symbols at and after the cursor. */
async function symbolsHere(): Promise<MentionRow[]> {
  const editor = vscode.window.activeTextEditor
  const uri = editor?.document.uri
  if (!uri || !vscode.workspace.getWorkspaceFolder(uri)) return []
  const asked = vscode.commands.executeCommand<Array<vscode.DocumentSymbol | vscode.SymbolInformation>>(
    'vscode.executeDocumentSymbolProvider',
    uri,
  )
  const found = (await withTimeout(Promise.resolve(asked), SYMBOLS_MS)) ?? []
  const symbols = found.map(one =>
    'location' in one
      ? new vscode.SymbolInformation(one.name, one.kind, '', one.location)
      : new vscode.SymbolInformation(one.name, one.kind, '', new vscode.Location(uri, one.range)),
  )
  const { line } = editor.selection.active
  const isAbove = ({ location }: vscode.SymbolInformation) => location.range.end.line < line
  symbols.sort(
    (a, b) =>
      Number(isAbove(a)) - Number(isAbove(b)) || a.location.range.start.line - b.location.range.start.line,
  )
  return symbols.slice(0, MAX_SYMBOLS_HERE).map(symbol => symbolRow(symbol, []))
}

/** Returns suggestions for context other than files. */
function contextRows(): MentionRow[] {
  const rows: MentionRow[] = []
  const add = (name: string, icon: string, detail: string | undefined, attaches: MentionRow['attaches']) =>
    rows.push({ group: 'context', name, matches: [], icon, ...(detail && { detail }), attaches })
  const editor = vscode.window.activeTextEditor
  const selection = currentSelection(editor)
  if (editor && selection) {
    const lines = selection.endLine - selection.startLine + 1
    const file = path.posix.basename(editor.document.uri.path)
    add(
      l10n.t('Selection'),
      'list-selection',
      `${file} · ${lines === 1 ? l10n.t('1 line') : l10n.t('{0} lines', lines)}`,
      {
        capture: 'selection',
      },
    )
  }
  const all = vscode.languages.getDiagnostics().filter(([, found]) => found.length > 0)
  if (all.length > 0) {
    const count = all.reduce((sum, [, found]) => sum + found.length, 0)
    add(
      l10n.t('Problems'),
      'warning',
      all.length === 1 ? l10n.t('{0} in 1 file', count) : l10n.t('{0} in {1} files', count, all.length),
      problemsAttachment(undefined),
    )
    const here = all.find(([uri]) => uri.toString() === editor?.document.uri.toString())
    if (here && all.length > 1) {
      const attachment = problemsAttachment(here[0])
      add(attachment.label, 'warning', l10n.t('{0} in this file', here[1].length), attachment)
    }
  }
  if (hasRepository()) {
    for (const staged of [false, true]) {
      const attachment = changesAttachment(staged)
      add(attachment.label, attachment.icon, l10n.t('Git diff'), attachment)
    }
  }
  if (vscode.window.activeTerminal) {
    const { name } = vscode.window.activeTerminal
    add(l10n.t('Terminal Selection'), 'terminal', name, { capture: 'terminal' })
  }
  add(l10n.t('Files…'), 'files', l10n.t('Browse, or hold Shift and drop files here'), { capture: 'pick' })
  return rows
}

/** Whether the workspace has a Git repository. Without VS Code's Git extension, whether it has a folder. */
function hasRepository(): boolean {
  const git = vscode.extensions.getExtension<{ getAPI(version: 1): { repositories: unknown[] } }>(
    'vscode.git',
  )
  if (!git?.isActive) return rootsOfWorkspace().length > 0
  try {
    return git.exports.getAPI(1).repositories.length > 0
  } catch {
    return rootsOfWorkspace().length > 0
  }
}

function matching(rows: readonly MentionRow[], query: string): MentionRow[] {
  const found = fuzzysort.go(query, rows, { key: 'name', threshold: 0.4, limit: 4 })
  return found.map(({ obj, indexes }) => ({ ...obj, matches: [...indexes] }))
}

function webAddress(query: string): URL | undefined {
  if (!/^https?:\/\/[^\s]+$/i.test(query)) return undefined
  try {
    return new URL(query)
  } catch {
    return undefined
  }
}
