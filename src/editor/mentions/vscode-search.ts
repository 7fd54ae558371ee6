/** What `@` offers for what was typed behind it. */
import path from 'node:path'
import * as l10n from '@vscode/l10n'
import fuzzysort from 'fuzzysort'
import * as vscode from 'vscode'
import { Owner } from '../../common/disposable.ts'
import { fileIcon } from '../../common/file-icon.ts'
import type { MentionRow } from '../../conversation/mention.ts'
import { FileIndex, type FoundFile, type IndexRoot } from './file-index.ts'
import { listFiles } from './list-files.ts'
import {
  changesAttachment,
  fileAttachment,
  problemsAttachment,
  symbolAttachment,
  symbolIcon,
  urlAttachment,
} from './vscode-attachments.ts'

const MOST_FILES = 40
const MOST_OPEN = 6
const MOST_SYMBOLS = 20
/** A language that has not found symbols by then is not waited for, in milliseconds. */
const SYMBOLS_PATIENCE_MS = 3000

export class MentionSearch extends Owner {
  readonly #index = new FileIndex(listFiles)
  #watching = false

  /** All but symbols: they come later, from programs that may take their time. */
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
          take: attachment,
        },
      ]
    }
    const open = openFiles()
    if (query === '') return [...open.slice(0, MOST_OPEN), ...contextRows()]
    const files = await this.#index.search(rootsOfWorkspace(), query, MOST_FILES)
    const isOpen = new Set(open.map(row => row.detail))
    const rows = files.map(fileRow)
    // among those that fit as well, the ones that are open come first
    const best = rows.slice(0, 8).sort((a, b) => Number(isOpen.has(b.detail)) - Number(isOpen.has(a.detail)))
    return [...matching(contextRows(), query), ...best, ...rows.slice(8)]
  }

  async symbols(query: string): Promise<MentionRow[]> {
    if (query.length < 2) return []
    const asked = vscode.commands.executeCommand<vscode.SymbolInformation[]>(
      'vscode.executeWorkspaceSymbolProvider',
      query,
    )
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<undefined>(resolve => {
      timer = setTimeout(() => resolve(undefined), SYMBOLS_PATIENCE_MS)
    })
    const found = await Promise.race([asked, late]).finally(() => clearTimeout(timer))
    const own = (found ?? []).filter(({ location }) => vscode.workspace.getWorkspaceFolder(location.uri))
    const ranked = fuzzysort.go(query, own, { key: 'name', limit: MOST_SYMBOLS, threshold: 0.3 })
    return ranked.map(({ obj, indexes }) => ({
      group: 'symbols' as const,
      name: obj.name,
      matches: [...indexes],
      icon: symbolIcon(obj.kind),
      detail: vscode.workspace.asRelativePath(obj.location.uri),
      take: symbolAttachment(obj),
    }))
  }

  /** Nothing is watched before somebody searches. */
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
    .map(folder => ({ path: folder.uri.fsPath, name: folder.name }))
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
    take: fileAttachment(uri, isFolder),
    ...(isFolder && { goOn: `${file}/` }),
  }
}

/** Files in tabs, the active one first. */
function openFiles(): MentionRow[] {
  const { all, activeTabGroup } = vscode.window.tabGroups
  const tabs = [activeTabGroup, ...all.filter(group => group !== activeTabGroup)]
    .flatMap(group => [...group.tabs].sort((a, b) => Number(b.isActive) - Number(a.isActive)))
    .flatMap(tab => (tab.input instanceof vscode.TabInputText ? [tab.input.uri] : []))
    .filter(uri => uri.scheme === 'file')
  const once = new Map(tabs.map(uri => [uri.toString(), uri]))
  return [...once.values()].map(uri => {
    const name = path.posix.basename(uri.path)
    return {
      group: 'open',
      name,
      matches: [],
      icon: fileIcon(name),
      detail: vscode.workspace.asRelativePath(uri),
      take: fileAttachment(uri),
    }
  })
}

/** What there is to take along besides files. */
function contextRows(): MentionRow[] {
  const rows: MentionRow[] = []
  const add = (name: string, icon: string, detail: string | undefined, take: MentionRow['take']) =>
    rows.push({ group: 'context', name, matches: [], icon, ...(detail && { detail }), take })
  const editor = vscode.window.activeTextEditor
  if (editor && !editor.selection.isEmpty) {
    const lines = editor.selection.end.line - editor.selection.start.line + 1
    const file = path.posix.basename(editor.document.uri.path)
    add(l10n.t('Selection'), 'list-selection', `${file} · ${l10n.t('{0} lines', lines)}`, {
      capture: 'selection',
    })
  }
  const all = vscode.languages.getDiagnostics().filter(([, found]) => found.length > 0)
  if (all.length > 0) {
    const count = all.reduce((sum, [, found]) => sum + found.length, 0)
    add(
      l10n.t('Problems'),
      'warning',
      l10n.t('{0} in {1} files', count, all.length),
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
  add(l10n.t('Files…'), 'files', l10n.t('From anywhere; or drop them with Shift held'), { capture: 'pick' })
  return rows
}

/** Whether Git knows of changes at all; where VS Code's Git is off, that is not known. */
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
