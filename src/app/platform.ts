import type { AgentLaunch } from '../acp/agent.ts'
import type { AuthMethod } from '../acp/model.ts'
import type { PythonSelection } from '../agents/project-environment/python-environment.ts'
import type { Disposable } from '../common/disposable.ts'
import type { Event } from '../common/event.ts'
import type { Logger } from '../common/logger.ts'
import type { SecretRegistry } from '../common/secrets.ts'
import type { EditorDocuments } from '../editor/files/open-documents.ts'
import type { Encodings } from '../editor/files/text-files.ts'
import type { McpFileLocations } from '../mcp/mcp-files.ts'
import type { SecretStore } from '../mcp/secret-store.ts'
import type { NativeElicitation } from '../sessions/ports.ts'
import type { RuleSettings } from './rule-settings.ts'
import type { WindowStorage } from './storage/stores.ts'
import type { Workbench } from './workbench.ts'

/**
 * What the services need when they are created: the window, its storage and its logs. `workbench/` implements this with VS Code; the page
 * tests and the playground in plain Node.
 */
export interface Platform {
  workbench: Workbench
  storage: WindowStorage
  /** Parley's version. */
  version: string
  /** The editor's name and version, and where it runs. */
  editor: string
  /** The page of Parley's issues, if there is one. */
  issues: string | undefined
  /** The path of a file in the extension's folder. */
  fileInExtension(...names: string[]): string
  /** Receives only text without secrets. */
  log: Logger
  logs: AgentLogs
  /** The values that logs and stores redact. */
  secrets: SecretRegistry
  secretStore: SecretStore
  ruleSettings: RuleSettings
  selectedPython: PythonSelection
  /** The address under which the user's browser reaches an address of this machine. */
  externalUrl(url: string): Promise<string>
  /** Identifies the workspace across windows; empty for none. */
  workspaceIdentity: string
  /** The folders of the editor's own settings. */
  settingsFolders: string[]
  /** Where the editor's files with MCP servers are, besides the workspace folders. */
  mcpLocations: Omit<McpFileLocations, 'folders'>
  documents: EditorDocuments
  encodings: Encodings
  /** Reports the paths of files that are created, changed or deleted on disk, as far as the editor knows. */
  followFiles(changed: (path: string) => void): Disposable
  /** The user saved, created, renamed or deleted a file or folder in the editor: its real path. */
  onDidSaveFile: Event<string>
  /** Moves a file to the trash; rejects if there is none. */
  trash(file: string): Promise<void>
  nativeElicitation: NativeElicitation
  /**
   * Signs in with the method's own command, or with that of the agent and the method's arguments, in a visible terminal. Rejects if the
   * command fails, and with `CancelledError` if the user cancels.
   */
  signInTerminal(
    agentName: string,
    launch: AgentLaunch,
    method: AuthMethod,
    signal: AbortSignal,
  ): Promise<void>
}

/** The part of the platform that all windows of a process share. */
export interface ProcessPlatform extends Pick<Platform, 'fileInExtension' | 'log' | 'secrets'> {
  /** The folder for files of all workspaces. */
  globalFolder: string
}

/** The log of each agent. */
export interface AgentLogs {
  /** Receives only text without secrets. */
  write(agentId: string, name: string, level: keyof Logger, message: string): void
  show(agentId: string, name: string): void
  /** Shows Parley's own log. */
  showOwn(): void
}
