import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { pathToFileURL } from 'node:url'
import * as z from 'zod'
import type { Disposable } from '../../common/disposable.ts'
import { visible } from '../../common/visible.ts'
import type { EditorSelection, Position, Severity } from '../server/editor-features.ts'
import { AgentDiffs } from './agent-diffs.ts'
import type { TerminalEditor } from './terminal-editor.ts'
import { type TerminalTool, terminalTool } from './tools-server.ts'

/** Problems of all files together. */
const MAX_PROBLEMS = 2000
/** Characters of a selected text that is sent. */
const MAX_SELECTED = 100_000
/** Characters of a tab's title. */
const MAX_TITLE = 200

/** The words that Claude Code knows. */
const SEVERITIES: Readonly<Record<Severity, string>> = {
  error: 'Error',
  warning: 'Warning',
  information: 'Info',
  hint: 'Hint',
}

const pathInput = z.string().min(1).max(4096)
const none = z.object({})

/** The tools that Claude Code expects from an editor, for one connection with its own diffs. */
export class ClaudeTools implements Disposable {
  readonly #editor: TerminalEditor
  readonly #latest: () => EditorSelection | undefined
  /** by the name of the tab that Claude Code gives them */
  readonly #diffs: AgentDiffs

  /** `latest`: the last selection in a file of the folders. */
  constructor(editor: TerminalEditor, latest: () => EditorSelection | undefined) {
    this.#editor = editor
    this.#latest = latest
    this.#diffs = new AgentDiffs(editor)
  }

  readonly all: readonly TerminalTool[] = [
    terminalTool({
      name: 'openDiff',
      input: z.object({
        old_file_path: pathInput,
        new_file_path: pathInput,
        new_file_contents: z.string(),
        tab_name: z.string().min(1).max(4096),
      }),
      run: async (
        { old_file_path: oldPath, new_file_path: path, new_file_contents: text, tab_name: name },
        signal,
      ) => {
        const title = visible(name).slice(0, MAX_TITLE)
        const diff = await this.#diffs.open(name, { path, oldPath, text, title })
        const cancel = () => void diff.close()
        signal.addEventListener('abort', cancel, { once: true })
        if (signal.aborted) cancel()
        const accepted = await diff.outcome
        // TAB_CLOSED would mean that Claude Code writes the file
        return accepted === undefined ? ['DIFF_REJECTED', name] : ['FILE_SAVED', accepted]
      },
    }),
    terminalTool({
      name: 'close_tab',
      input: z.object({ tab_name: z.string() }),
      run: async ({ tab_name: name }) => {
        await this.#diffs.close(name)
        return ['TAB_CLOSED']
      },
    }),
    terminalTool({
      name: 'closeAllDiffTabs',
      input: none,
      run: async () => [`CLOSED_${await this.#diffs.closeAll()}_DIFF_TABS`],
    }),
    terminalTool({
      name: 'getDiagnostics',
      description: 'Errors and warnings of language servers and linters, of one file or of all files',
      input: z.object({ uri: z.string().max(8192).optional() }),
      run: async ({ uri }) => [JSON.stringify(await this.#problems(uri))],
    }),
    terminalTool({
      name: 'getCurrentSelection',
      input: none,
      run: async () => {
        const selection = await this.#editor.selection()
        const isKnown = selection && (await this.#editor.has(selection.path))
        return [selectionAnswer(isKnown ? selection : undefined, 'No active editor found')]
      },
    }),
    terminalTool({
      name: 'getLatestSelection',
      input: none,
      run: async () => [selectionAnswer(this.#latest(), 'No selection available')],
    }),
    terminalTool({
      name: 'getOpenEditors',
      input: none,
      run: async () => {
        const editors = await this.#editor.within(await this.#editor.editors())
        const tabs = editors.map(({ path, isActive, isDirty }) => ({
          ...{ uri: pathToFileURL(path).href, fileName: path, label: basename(path), isActive, isDirty },
          languageId: this.#editor.document(path)?.languageId,
        }))
        return [JSON.stringify({ tabs })]
      },
    }),
    terminalTool({
      name: 'getWorkspaceFolders',
      input: none,
      run: async () => {
        const folders = this.#editor
          .folders()
          .map(({ name, path }) => ({ name, uri: pathToFileURL(path).href, path }))
        return [JSON.stringify({ success: true, folders, rootPath: folders[0]?.path })]
      },
    }),
    terminalTool({
      name: 'openFile',
      input: z.object({
        filePath: pathInput,
        startText: z.string().optional(),
        makeFrontmost: z.boolean().optional(),
      }),
      run: async ({ filePath, startText, makeFrontmost = true }) => {
        const path = await this.#editor.file(filePath)
        if (makeFrontmost) {
          const at = startText ? findPosition((await this.#editor.open(path)).text, startText) : undefined
          await this.#editor.show(path, at)
          return [`Opened file: ${path}`]
        }
        await this.#editor.attend(path)
        const { languageId, lineCount } = this.#editor.document(path) ?? {}
        return [JSON.stringify({ success: true, filePath: path, languageId, lineCount })]
      },
    }),
    terminalTool({
      name: 'checkDocumentDirty',
      input: z.object({ filePath: pathInput }),
      run: async ({ filePath }) => {
        const path = await this.#editor.file(filePath)
        const document = this.#editor.document(path)
        if (!document) return [notOpen(filePath)]
        const { isDirty } = document
        return [JSON.stringify({ success: true, filePath: path, isDirty, isUntitled: false })]
      },
    }),
    terminalTool({
      name: 'saveDocument',
      input: z.object({ filePath: pathInput }),
      run: async ({ filePath }) => {
        const path = await this.#editor.file(filePath)
        const document = this.#editor.document(path)
        if (!document) return [notOpen(filePath)]
        const saved = await document.save()
        const message = saved ? 'Document saved successfully' : "The document couldn't be saved"
        return [JSON.stringify({ success: saved, filePath: path, saved, message })]
      },
    }),
  ]

  async #problems(uri: string | undefined) {
    const path = uri === undefined ? undefined : await this.#editor.file(pathOfUri(uri))
    const found = await this.#editor.within(await this.#editor.problems(path))
    let remaining = MAX_PROBLEMS
    const files = found.map(({ path, problems }) => {
      const some = problems.slice(0, remaining)
      remaining -= some.length
      const diagnostics = some.map(({ message, severity, source, code, start, end }) => ({
        ...{ message, severity: SEVERITIES[severity], source, code },
        range: { start: toZeroBased(start), end: toZeroBased(end) },
      }))
      return { uri: uri ?? toUri(path), diagnostics }
    })
    return uri !== undefined && files.length === 0 ? [{ uri, diagnostics: [] }] : files
  }

  dispose(): void {
    this.#diffs.dispose()
  }
}

/** Lines and characters count from 0. */
function toZeroBased({ line, column }: Position): { line: number; character: number } {
  return { line: line - 1, character: column - 1 }
}

export function selectionOf({ path, text, start, end }: EditorSelection) {
  return {
    text: text.slice(0, MAX_SELECTED),
    filePath: path,
    fileUrl: pathToFileURL(path).href,
    selection: { start: toZeroBased(start), end: toZeroBased(end), isEmpty: text === '' },
  }
}

function selectionAnswer(selection: EditorSelection | undefined, otherwise: string): string {
  return JSON.stringify(
    selection ? { success: true, ...selectionOf(selection) } : { success: false, message: otherwise },
  )
}

function notOpen(path: string): string {
  return JSON.stringify({ success: false, message: `Document not open: ${path}` })
}

function findPosition(text: string, wanted: string): Position | undefined {
  const offset = text.indexOf(wanted)
  if (offset < 0) return undefined
  const lines = text.slice(0, offset).split('\n')
  return { line: lines.length, column: lines.at(-1)!.length + 1 }
}

/** Claude Code puts `file://` before an unencoded path, and compares the result with this text. */
function toUri(path: string): string {
  const plain = path.replaceAll('\\', '/')
  return `file://${plain.startsWith('/') ? '' : '/'}${plain}`
}

/** The path of a URI, or of a text that Claude Code uses as a URI. */
export function pathOfUri(uri: string): string {
  const plain = uri.replace(/^file:\/\//, '').replace(/^\/(?=[A-Za-z]:)/, '')
  if (!plain.includes('%') || existsSync(plain)) return plain
  try {
    return decodeURIComponent(plain).replace(/^\/(?=[A-Za-z]:)/, '')
  } catch {
    return plain
  }
}
