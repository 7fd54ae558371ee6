/** The messages between the host and the page that compares agents. */
import * as z from 'zod'
import { MAX_COMPARED_AGENTS } from '../common/limits.ts'
import type { ComparedFiles, CompareState } from './compare.ts'
import { nothing } from './contract.ts'

export type CompareMessages = typeof compareMessages

const id = z.string().min(1).max(100)
const agent = z
  .number()
  .int()
  .min(0)
  .max(MAX_COMPARED_AGENTS - 1)
/** Identifies an agent of a comparison, which may no longer be shown. */
const participantId = z.object({ id, agent })

export const compareMessages = {
  /** The page can draw. */
  'compare/ready': nothing,
  /** Lets the user choose another comparison. */
  'compare/choose': nothing,
  /** Shows the agent's session, with its pending request if there is one. */
  'compare/open': participantId,
  /** Starts the agent again. */
  'compare/retry': participantId,
  /** Starts the agent in a conversation, which shows how to sign in. */
  'compare/signIn': participantId,
  'compare/stop': participantId,
  'compare/stopAll': z.object({ id }),
  /** Shows the changes since the worktree was created: of one file, or of all files. */
  'compare/changes': participantId.extend({ path: z.string().min(1).max(4096).optional() }),
  /** Shows how the files of two agents differ. */
  'compare/compareTwo': z.object({ id, agents: z.tuple([agent, agent]) }),
  'compare/apply': participantId,
  'compare/discard': participantId,
  /** Discards the worktrees of all other agents. */
  'compare/discardOthers': participantId,
} as const

/** The host's messages to the page. They are sent while the page is visible. */
export interface CompareHostMessages {
  'compare/state': CompareState
  /** The files that one agent changed, sent only when they differ from the last message. */
  'compare/files': { id: string; agent: number; files: ComparedFiles }
}
