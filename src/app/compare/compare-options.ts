import type { PromptQueues } from '../../sessions/prompt-queues.ts'
import type { SessionManager } from '../../sessions/session-manager.ts'
import type { SessionStarter } from '../../sessions/session-starter.ts'
import type { ConversationTabs } from '../conversation/conversation-tabs.ts'
import type { DraftStore } from '../storage/draft-store.ts'
import type { WorktreeCommandOptions } from '../worktrees/worktree-command-options.ts'
import type { ComparePage } from './compare-page.ts'
import type { Comparisons } from './comparisons.ts'

/** The services that a comparison needs to start its agents and apply their results. */
export interface CompareOptions extends WorktreeCommandOptions {
  manager: Pick<SessionManager, 'list' | 'find'>
  starter: Pick<SessionStarter, 'create'>
  queues: Pick<PromptQueues, 'of' | 'claimed' | 'contentOf'>
  drafts: Pick<DraftStore, 'get' | 'set'>
  tabs: Pick<ConversationTabs, 'open'>
  comparisons: Comparisons
  comparePage: Pick<ComparePage, 'show'>
}
