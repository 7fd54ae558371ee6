import type { Disposable } from '../../common/disposable.ts'
import type { Event } from '../../common/event.ts'
import type { Logger } from '../../common/logger.ts'
import type { SecretRegistry } from '../../common/secrets.ts'
import type { EditorFeatures } from '../server/editor-features.ts'

export interface TerminalDocument {
  languageId: string
  lineCount: number
  isDirty: boolean
  /** `false` if it couldn't be saved. */
  save(): PromiseLike<boolean>
}

/** A whole file as an agent would write it. */
export interface ProposedFile {
  /** absolute */
  path: string
  /** the file to compare with, which may not exist */
  oldPath: string
  text: string
  title: string
}

/** A diff in which the user may still edit the agent's proposal. */
export interface OpenDiff {
  /** The text that the user accepted, as the diff showed it; `undefined` if it was rejected or closed. */
  readonly outcome: Promise<string | undefined>
  /** Closes the diff and returns the text that it showed. Text that the user hasn't accepted counts as rejected. */
  close(): Promise<string>
}

/** The editor, as agents in a terminal use it. */
export interface TerminalEditor
  extends Pick<EditorFeatures, 'attend' | 'editors' | 'open' | 'problems' | 'selection' | 'show'> {
  folders(): ReadonlyArray<{ name: string; path: string }>
  /** The folders' paths, and the real paths of those that are links: an agent knows the real path of its folder. */
  paths(): string[]
  /** The folders or their paths have changed. */
  readonly onDidChangeFolders: Event<void>
  /** The selection, the active editor or the open editors have changed. */
  readonly onDidChangeSelection: Event<void>
  /** The absolute path of a file; rejects with a `ToolError` if it's outside of the folders. */
  file(path: string): Promise<string>
  /** Whether a file is in a folder. */
  has(path: string): Promise<boolean>
  /** The items whose files are in a folder. */
  within<T extends { path: string }>(items: readonly T[]): Promise<T[]>
  /** The document of a file that is open in the editor. */
  document(path: string): TerminalDocument | undefined
  openDiff(file: ProposedFile): Promise<OpenDiff>
}

export interface TerminalIdeOptions {
  editor: TerminalEditor
  version: string
  secrets: Pick<SecretRegistry, 'add'>
  log: Logger
  /** The folders that Claude Code uses for the user's accounts instead of its default one. */
  accounts?: { folders(): string[]; onDidChange: Event<void> }
}

/** The server through which agents of one kind access the editor. Disposing it removes its files. */
export interface TerminalIde extends Disposable {
  /** The environment variables of terminals, as of now. */
  readonly variables: Readonly<Record<string, string>>
}

/** Bytes of a message: a whole file fits. */
export const MAX_MESSAGE = 16 * 1024 * 1024
/** From a change of the selection until agents are told. */
export const SELECTION_MS = 100
export const MAX_CONNECTIONS = 64
