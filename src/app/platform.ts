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
 * What the services need when they are created: the window, its storage and its logs. `workbench/` implements this with VS Code's API; the
 * page tests and the playground implement it in plain Node.
 */
export interface Platform {
  workbench: Workbench
  storage: WindowStorage
  /** Parley's version. */
  version: string
  /** The editor's name and version, and where it runs. */
  editor: string
  /** The URL of Parley's issues, if there is one. */
  issues: string | undefined
  /** Returns the path of a file in the extension's folder. */
  fileInExtension(...names: string[]): string
  /** Parley's log. Accepts only text without secrets. */
  log: Logger
  logs: AgentLogs
  /** The secrets that logs and stores redact. */
  secrets: SecretRegistry
  secretStore: SecretStore
  ruleSettings: RuleSettings
  selectedPython: PythonSelection
  /** Resolves to the address at which the user's browser reaches an address of this machine. */
  externalUrl(url: string): Promise<string>
  /** Identifies the workspace across windows; empty without a workspace. */
  workspaceIdentity: string
  /** The folders of the editor's own settings. */
  settingsFolders: string[]
  /** The locations of the editor's files with MCP servers, besides the workspace folders. */
  mcpLocations: Omit<McpFileLocations, 'folders'>
  documents: EditorDocuments
  encodings: Encodings
  /** Reports the paths of files that are created, changed or deleted on disk, as far as the editor watches them. */
  followFiles(changed: (path: string) => void): Disposable
  /** Fires with the real path of a file or folder that the user saved, created, renamed or deleted in the editor. */
  onDidSaveFile: Event<string>
  /** Moves a file to the trash. Rejects if the machine has no trash. */
  trash(file: string): Promise<void>
  nativeElicitation: NativeElicitation
  /**
   * Signs in with a terminal method in a visible terminal. Runs the method's own command, or else the agent's command with the method's
   * arguments. Rejects if the command fails, and with `CancelledError` if the user cancels.
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
  /** The folder for files that all workspaces share. */
  globalFolder: string
}

/** The log of each agent. */
export interface AgentLogs {
  /** Writes a line. Accepts only text without secrets. */
  write(agentId: string, name: string, level: keyof Logger, message: string): void
  show(agentId: string, name: string): void
  /** Shows Parley's own log. */
  showOwn(): void
}
