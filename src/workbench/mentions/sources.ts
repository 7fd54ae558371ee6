/** Reads the content for prompts from the editor and the disk. */
import { readFile, realpath, stat } from 'node:fs/promises'
import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import type { Roots } from '../../acp/model.ts'
import type { KeyValueStore } from '../../common/key-value-store.ts'
import { visible } from '../../common/visible.ts'
import type { OutsideAnswer } from '../../conversation/attachment.ts'
import { gitChanges } from '../../editor/git.ts'
import { revisionText } from '../../editor/git-revisions.ts'
import { PickedFiles } from '../../editor/mentions/picked-files.ts'
import { type ContextSources, pathOfUri } from '../../editor/mentions/prompt-content.ts'
import { isInRoots } from '../../editor/mentions/typed-path.ts'
import { PathRules } from '../../editor/path-rules.ts'
import { dialogs } from '../dialogs.ts'
import { isUnsaved } from '../editor/files.ts'
import { pathOnDisk } from '../path-on-disk.ts'

const rules = new PathRules()

/** Files that the user picked in this window. */
const picked = new PickedFiles()

/** Keeps picked files in this window's store, so that they stay picked after a reload. */
export function storePickedIn(store: KeyValueStore): void {
  picked.keepIn(store)
}

/** Remembers files that the user chose, so that prompts may read them wherever they are, unless a link later leads elsewhere. */
export async function rememberPicked(uris: readonly vscode.Uri[]): Promise<void> {
  for (const uri of uris) {
    const file = pathOnDisk(uri)
    const real = uri.scheme === 'file' ? await realPath(file) : undefined
    if (real !== undefined) picked.add(keyOf(file), keyOf(real))
  }
}

/** Whether a file's real path is in one of the folders or a workspace folder, or the user picked the file. */
export async function isReadable(file: string, folders: readonly string[] = []): Promise<boolean> {
  if (await isInRoots(file, [...folders, ...workspaceFolders()])) return true
  const target = picked.targetOf(keyOf(file))
  if (target === undefined) return false
  const real = await realPath(file)
  return real !== undefined && keyOf(real) === target
}

function keyOf(file: string): string {
  return rules.key(rules.normalize(file))
}

function realPath(file: string): Promise<string | undefined> {
  return realpath(file).catch(() => undefined)
}

/**
 * Asks whether a prompt gets the content of a file that is outside of the session's and the workspace's folders. Doesn't ask about
 * files inside, or files that the user picked before.
 */
export async function askOutside(uri: string, roots: Roots | undefined): Promise<OutsideAnswer> {
  const file = pathOfUri(uri)
  if (file === undefined) return 'path'
  if (await isReadable(file, roots && [roots.cwd, ...roots.additionalDirectories])) return 'content'
  const real = (await realPath(file)) ?? file
  const [content, path] = [l10n.t('Add Content'), l10n.t('Add Path Only')]
  const answer = await dialogs.confirm(
    l10n.t("Add a file outside this session's folders?"),
    { detail: [...new Set([file, real])].map(visible).join(' → ') },
    // Enter selects the first row, but may be meant for the prompt
    path,
    content,
  )
  // pick the target named in the question, even if the link leads elsewhere by now
  if (answer === content) picked.add(keyOf(file), keyOf(real))
  return answer === content ? 'content' : answer === path ? 'path' : 'cancel'
}

export const editorSources: ContextSources = {
  mayRead: (file, { cwd, additionalDirectories }: Roots) => isReadable(file, [cwd, ...additionalDirectories]),
  async size(file) {
    const document = openDocument(file)
    if (document && isUnsaved(document)) return Buffer.byteLength(document.getText())
    const info = await stat(file).catch(() => undefined)
    return info?.isFile() ? info.size : undefined
  },
  async readText(file) {
    const document = openDocument(file)
    if (document && isUnsaved(document)) return document.getText()
    // the document of a file that has just changed on disk may still be the old one
    const bytes = await readFile(file)
    if (document) return vscode.workspace.decode(bytes, { encoding: document.encoding })
    // text never has zero bytes
    if (bytes.subarray(0, 8192).includes(0)) return undefined
    return vscode.workspace.decode(bytes, { uri: vscode.Uri.file(file) })
  },
  readBytes: file => readFile(file),
  async problems(uri) {
    const all = vscode.languages.getDiagnostics()
    const wanted = uri === undefined ? all : all.filter(([of]) => of.toString() === uri)
    return problemsText(wanted.flatMap(([of, found]) => found.map(one => toProblem(of, one))))
  },
  changes: staged => gitChanges(workspaceFolders(), staged),
  revision: ref => revisionText(workspaceFolders(), ref),
}

function workspaceFolders(): string[] {
  return (vscode.workspace.workspaceFolders ?? [])
    .filter(folder => folder.uri.scheme === 'file')
    .map(folder => pathOnDisk(folder.uri))
}

export function openDocument(file: string): vscode.TextDocument | undefined {
  const key = keyOf(file)
  return vscode.workspace.textDocuments.find(
    ({ uri, isClosed }) => uri.scheme === 'file' && !isClosed && keyOf(pathOnDisk(uri)) === key,
  )
}

const SEVERITIES = ['error', 'warning', 'info', 'hint'] as const

export function toProblem(
  uri: vscode.Uri,
  { message, range, severity, source, code }: vscode.Diagnostic,
): Problem {
  const id = typeof code === 'object' ? code.value : code
  const from = [source, id === undefined ? '' : `(${id})`].join('')
  return {
    file: vscode.workspace.asRelativePath(uri),
    line: range.start.line + 1,
    severity: SEVERITIES[severity] ?? 'info',
    message,
    ...(from && { source: from }),
  }
}

/** A problem in a file. */
export interface Problem {
  /** the name of the file for the user */
  file: string
  /** 1-based */
  line: number
  severity: 'error' | 'warning' | 'info' | 'hint'
  message: string
  /** the problem's source and code: `ts(2304)` */
  source?: string
}

/** Maximum number of listed problems; the others are only counted. */
const MAX_PROBLEMS = 300
const RANK = { error: 0, warning: 1, info: 2, hint: 3 }

/** Returns problems as text for a model, errors first; empty if there are none. */
export function problemsText(problems: readonly Problem[]): string {
  const sorted = [...problems].sort(
    (a, b) => RANK[a.severity] - RANK[b.severity] || a.file.localeCompare(b.file) || a.line - b.line,
  )
  const lines = sorted
    .slice(0, MAX_PROBLEMS)
    .map(
      ({ file, line, severity, message, source }) =>
        `${file}:${line}: ${severity}: ${message.replace(/\s*\n\s*/g, ' ')}${source ? ` [${source}]` : ''}`,
    )
  if (sorted.length > MAX_PROBLEMS) lines.push(`… and ${sorted.length - MAX_PROBLEMS} more`)
  return lines.join('\n')
}
