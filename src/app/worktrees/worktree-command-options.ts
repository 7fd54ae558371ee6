import type { HostedAgentInfo } from '../../acp/start-hosted.ts'
import type { SettingsSource } from '../../agents/setting-layers.ts'
import type { FilesShared } from '../../editor/files/files.ts'
import type { StoredClock } from '../../history/stored-clock.ts'
import type { OpenSessions } from '../../sessions/open-sessions.ts'
import type { AgentDirectory, SessionRecords } from '../../sessions/ports.ts'
import type { Accounts } from '../../sessions/sign-in/accounts.ts'
import type { LaunchConsent } from '../agents/launch-consent.ts'
import type { ConversationSurfaces } from '../conversation/conversation-surface.ts'
import type { DraftStore } from '../storage/draft-store.ts'
import type { WindowSessions } from '../window-sessions.ts'
import type { StartingAgents, WindowWorktrees } from '../window-worktrees.ts'
import type { Workbench } from '../workbench.ts'

export interface WorktreeCommandOptions {
  workbench: Workbench
  settings: SettingsSource
  surfaces: ConversationSurfaces
  agents: AgentDirectory
  accounts: Pick<Accounts, 'get'>
  drafts: Pick<DraftStore, 'get'>
  openSessions: Pick<OpenSessions, 'list'>
  windows: Pick<WindowSessions, 'refresh' | 'others' | 'busy'>
  /** The agents in the agent host, whether or not a window is attached. */
  hosts: { list(): Promise<HostedAgentInfo[]> }
  records: Pick<SessionRecords, 'get'>
  clock: Pick<StoredClock, 'ageOf'>
  consent: Pick<LaunchConsent, 'setup'>
  documents: FilesShared['documents']
  worktrees: WindowWorktrees
  comparisons: StartingAgents
  /** Returns the comparison to which a worktree belongs. */
  comparisonOf: (worktree: string) => { show(): void } | undefined
}
