/**
 * Data that the extension host sends to a conversation's page, over vscode-jsonrpc on `postMessage`. The page's own messages are in
 * `conversation-messages.ts`: the host checks those; the webview trusts the host.
 */
import type { Command, ConfigOption, ContentBlock, Plan, ToolCallContent, Usage } from '../acp/model.ts'
import type { Allowance } from '../common/allowance.ts'
import type { Draft } from '../common/draft.ts'
import type { RootsPlan } from '../common/roots-plan.ts'
import type {
  Attachment,
  ExpandedPrompt,
  MentionRow,
  OutsideAnswer,
  PromptFileRow,
  PromptPart,
  ReturnedPrompt,
  StoredPrompt,
} from '../conversation/attachment.ts'
import type { ViewPhase } from '../conversation/phases.ts'
import type { Running } from '../conversation/running-work.ts'
import type { LimitNote } from '../conversation/session-limit.ts'
import type {
  Entry,
  EntryId,
  Rewind,
  SessionActivity,
  TerminalState,
  ToolCallEntry,
} from '../conversation/state.ts'
import { isShownPrompt } from '../conversation/user-prompts.ts'
import type { McpServerNote } from '../mcp/server-note.ts'
import type { CardAction } from './card-action.ts'
import type { HistoryRow } from './history.ts'

/** A button of a card. The first is the primary one. */
export interface CardButton {
  action: CardAction
  label: string
  icon?: string
  /** a sentence; shown where the button is in a list */
  description?: string
  /** never the primary button, in any position */
  secondary?: true
}
/** A message with buttons for the next step, for example after a failed start or when sign-in is required. */
export interface Card {
  id: string
  kind: 'error' | 'warning' | 'info'
  /** the action that the card reports is still running */
  busy?: true
  /** The event in a few words. */
  title: string
  /** One or two sentences. If empty, the card is one line: the title and the buttons. */
  text: string
  /** Preformatted details in a collapsed section: the command, the searched PATH, the end of stderr, the error's data. */
  details?: Array<{ label: string; text: string }>
  /** the details are initially expanded */
  unfolded?: true
  /** Choices, listed one below the other, before the buttons. */
  choices?: CardButton[]
  buttons: CardButton[]
}

export interface AgentChoice {
  agentId: string
  name: string
  description?: string
  /** the name of a codicon, or a `data:` or webview URI */
  icon?: string
  source: 'settings' | 'installed' | 'preset' | 'demo'
  /** absent if sign-in isn't required */
  account?: AccountNote
}

/** Who is signed in to an agent. */
export interface AccountNote {
  /** the state as text, even if it's unknown */
  text: string
  /** absent if the state is unknown */
  signedIn?: boolean
  /** The agent runs, and has no way to sign in. */
  hasNoSignIn?: true
}

/** An agent that can be installed from the registry. */
export interface AgentOffer {
  /** in the registry */
  id: string
  name: string
  description: string
  /** the name of a codicon, or a `data:` URI */
  icon: string
  /** what an installation runs or downloads, as a sentence */
  plan?: string
  /** the question whether to install the agent, with everything that would run, one fact a line */
  asking?: { id: number; text: string; facts: string[] }
  /** `share`: 0 to 1; absent if unknown */
  running?: { step: string; share?: number }
  /** `help`: a page that explains how to get the missing program, and the button's label */
  failed?: { message: string; output: string; help?: { href: string; label: string } }
}

/** A prompt that is not sent yet. See `PromptState`. */
export interface QueuedNote {
  id: string
  state: 'sending' | 'queued'
  text: string
  /** number of blocks besides its text */
  attachments: number
  /** Why the agent didn't add it to the running turn: a sentence. */
  reason?: string
}

/** The position of a pending request in the conversation. */
export interface PendingRequestNote {
  requestId: string
  entryId: EntryId
  /** the index of its entry */
  index: number
}

/** The user's favorite values of an option, and the recently used ones, most recent first. */
export interface RememberedOption {
  favorites: string[]
  recent: string[]
}

/** A rewind whose notice is the entry `id`, with the positions of the entries that it set aside; `end` is exclusive. */
export interface RewindNote extends Rewind {
  id: EntryId
  first: number
  end: number
}

/** All of a conversation but its entries and terminals. A patch replaces whole top-level keys. */
export interface ConversationHead {
  phase: ViewPhase
  /** A recorded conversation, which can only be read. */
  recording?: true
  /** The current step while `phase` is starting or loading: "Starting Claude…". */
  progress?: string
  /** The conversation's identity in this window, and the key of its draft. Changes with every new session. */
  key: string
  /** The previous key of the conversation: the text in that composer now belongs to this conversation. */
  keyBefore?: string
  agent?: { agentId: string; name: string; icon?: string }
  /** the agent's own name, with its version and the protocol's version */
  program?: string
  sessionId?: string
  title?: string
  account?: AccountNote
  /** A new session can be started with this conversation. */
  canFork?: boolean
  activity: SessionActivity
  /** All pending requests, oldest first, whether or not their entries were fetched. */
  pendingRequests: PendingRequestNote[]
  /** The agent's state is uncertain. */
  unconfirmed?: true
  /** work that outlives its tool call or its turn; absent if there is none */
  running?: Running
  /** when the running turn began, milliseconds since the epoch */
  turnStartedAt?: number
  /** The turns that are set aside because the user went back. */
  rewinds: RewindNote[]
  /** The agent that the conversation was with before, and can go back to now. */
  goBack?: { agentName: string; entryId: EntryId }
  /** the unsent prompts, in order */
  queue: QueuedNote[]
  /** The queue is paused until the user resumes it, because the previous turn was stopped or failed. */
  queuePaused: boolean
  /** The agent can add a prompt to the running turn. */
  canSteer?: boolean
  /** A prompt can be sent to several agents, each in a worktree of its own. */
  canSendTo?: boolean
  /** The agent was asked to stop the turn and hasn't responded. */
  stopping?: boolean
  roots?: RootsPlan
  /** the worktree in which the session works, if it isn't open in this window; without a branch, it was removed */
  worktree?: { name: string; branch?: string }
  /** how the agent used the user's system prompt, if there is one */
  systemPrompt?: 'appended' | 'overrides' | 'not-taken'
  /** the environment that the folder's project adds */
  environment?: EnvironmentNote
  mcpServers: McpServerNote[]
  /** Whether the editor tools are on, if the session has them. */
  editorTools?: { isOn: boolean }
  /** The current and the available permission levels of the session. Absent while no agent is connected. */
  allowance?: { allowed: Allowance; offered: Allowance[] }
  plans: Plan[]
  configOptions: ConfigOption[]
  /** ids of options whose change the agent hasn't confirmed yet */
  pendingOptions: string[]
  /** the user's favorite and recently used values, by the option's id */
  rememberedOptions: Record<string, RememberedOption>
  /** the agent's default options for new sessions, by option id */
  defaultOptions: Record<string, string | boolean>
  commands: Command[]
  usage?: Usage
  /** the session's limit, if it has one */
  limit?: LimitNote
  /** a suggestion for the next prompt, from the agent */
  suggestion?: string
  prompt: { image: boolean; audio: boolean; embeddedContext: boolean }
  /** shown at the end of the conversation, above the composer */
  cards: Card[]
  /** offered in the empty phase */
  agents: AgentChoice[]
  /** the agent that New Session starts */
  defaultAgentId?: string
  /** in the empty phase, and while the session switcher is open: the most important sessions */
  sessions?: HistoryRow[]
  /** agents to install, if there is none */
  offers?: AgentOffer[]
  /** the available agents aren't known yet */
  looking?: true
  /** nothing can be sent, because there is no agent to start a session with */
  noAgent?: true
  /** the name of the agent that is being prepared, for which prompts wait */
  preparing?: string
}

/** Names only: values may be secrets. */
export interface EnvironmentNote {
  tools: Array<{ tool: string; names: string[] }>
  /** The agent itself started in this other folder, and has the environment there. */
  agentFolder?: string
}

/** A terminal; its output is sent only if the view shows it, see `conversation/terminals`. */
export type TerminalNote = Omit<TerminalState, 'output'> & { output?: string }

/**
 * A tool call without long content, for a view that shows only its line or the end of its output; see
 * `conversation/toolCalls`.
 */
export type CutToolCall = ToolCallEntry & { cut: true }

export function isCut(entry: ToolCallEntry): entry is CutToolCall {
  return 'cut' in entry
}

/** The first `keep` items stay, `append` continues the text of the next one, `add` comes after it. */
export interface ToolContentDelta {
  keep: number
  append?: string
  add: ToolCallContent[]
}

/** A prompt that a page edits: its entry in a round of `EditedPromptsShown`. */
export interface EditedEntry {
  round: number
  entryId: EntryId
}

/** The prompts that the user edits in the conversation. */
export interface EditedPromptsShown {
  /** Increases when prompts may have other entries, or when the page has to show these edits instead of its own. */
  round: number
  /** The latest last; absent while their entries aren't known. `from`: where the page stored the edit last. */
  prompts?: Array<{ entryId: EntryId; draft: Draft<Attachment>; from?: EditedEntry }>
}

export interface ConversationSnapshot {
  /** Increases with every message; if there's a gap before a patch, the view requests a snapshot. */
  revision: number
  head: ConversationHead
  /** The last entries; `first` is the index of the first of them, `total` how many there are. */
  entries: Entry[]
  first: number
  total: number
  /** The host reads the other entries once the page reports `conversation/drawn`. */
  more?: true
  /** Entries before `first` that are needed to draw pending requests: the requests, their tool calls, and what these are part of. */
  pendingEntries?: Array<{ index: number; entry: Entry }>
  /** the terminals of the entries, with the output of the visible ones */
  terminals: TerminalNote[]
  draft: Draft<Attachment>
  edits?: EditedPromptsShown
  /** the height of the composer that the user set, in pixels; for a page that just loaded */
  composerHeight?: number
  /** as in `ReturnPrompts` */
  returned?: ReturnedPrompt[]
  /** The side bar switches from History to the conversation: in the same frame, so that it's drawn once. */
  leavesHistory?: true
}

export type PatchOp =
  /** An entry at `index` is new or replaced (`index === total` appends). */
  | { op: 'entry'; index: number; entry: Entry }
  /** Text appended to a text block of the entry `id`: a message, a compaction or a message to a session. */
  | { op: 'text'; id: EntryId; block: number; text: string }
  /** The changes of a tool call that was sent before; `content`: see {@link ToolContentDelta}. */
  | {
      op: 'tool'
      id: EntryId
      set: Partial<ToolCallEntry>
      cleared?: Array<keyof ToolCallEntry>
      content?: ToolContentDelta
    }
  /** Without `output` if only the rest changed, or the output isn't shown. */
  | { op: 'terminal'; terminal: TerminalNote }
  | { op: 'terminal_output'; terminalId: string; text: string }
  /** `cleared`: the keys that were removed, since JSON has no `undefined`. */
  | { op: 'head'; head: Partial<ConversationHead>; cleared?: Array<keyof ConversationHead> }
export interface ConversationPatch {
  revision: number
  ops: PatchOp[]
}

export type {
  Attachment,
  ExpandedPrompt,
  MentionRow,
  OutsideAnswer,
  PromptFileRow,
  PromptPart,
  ReturnedPrompt,
  StoredPrompt,
}

/** A changed file, with or without undecided changes. */
export interface ChangedFileNote {
  /** absolute */
  path: string
  /** absent if all its changes are decided */
  status?: 'added' | 'modified' | 'deleted' | 'renamed'
  /** Of a renamed file: its previous path, absolute. */
  from?: string
  /** Whether some or all changes of the file happened during a turn without a report by the agent. */
  uncertain?: 'all' | 'some'
  /** lines */
  added: number
  removed: number
  /** Present once the user has decided about changes of the file: how many of them are kept, reverted and undecided. */
  decided?: {
    outcome: 'kept' | 'reverted' | 'both' | 'some'
    kept: number
    reverted: number
    undecided: number
    /** The file doesn't exist anymore. */
    isGone?: true
    /** The user can undo what they decided, or some of it. */
    canUndo?: true
  }
}
/** All files that the session's agent changed. */
export interface ChangedFiles {
  key: string
  /** in review order; files without undecided changes appear only while other files have some */
  files: ChangedFileNote[]
  /** The user has decided about that many of all their changes. */
  count?: { decided: number; total: number }
  /** files that changed during the turn and aren't listed: too many, or too large */
  omitted?: number
  /** folders in which changes by commands can't be detected, absolute */
  unseen?: string[]
}

/** A permission rule that would have answered a request. */
interface RuleOffer {
  /** a description of what the rule matches */
  label: string
  /** the effect of the rule, in a sentence */
  preview: string
  /** the rule as it would appear in the settings */
  json: string
  /** The rule names a path in this workspace, so it belongs in the workspace settings. */
  isOfWorkspace?: true
}
export interface RuleOffers {
  /** The narrowest first. */
  offers: RuleOffer[]
  /** Whether there are workspace settings to write to. */
  workspace: boolean
}

/** The selection, or else the file of the active editor; `automatic`: it's added to every prompt. */
export interface ActiveContext {
  attachment?: Attachment
  automatic: boolean
}

/** The choices when a prompt is edited about the turns after it, with the user's last choice. */
export interface EditOptions {
  /** how many can be restored */
  files: number
  canForget: boolean
  /** The turns were set aside before, or the agent doesn't run: there is no choice. */
  isSetAside: boolean
  agentName: string
  restores: boolean
  forgets: boolean
}

/** Earlier prompts of a conversation, oldest first. */
export interface EarlierPrompts {
  prompts: ContentBlock[][]
  /** Index of the first one's entry; there are none before entry 0. */
  from: number
}

/** The place where a context menu was opened, as the menu passes it to commands. */
export interface EntryContext {
  /** the conversation's key */
  conversation: string
  entry?: EntryId
}

/** The user went back to before this turn, so it's no longer part of the agent's context. */
export function isRewound(rewinds: readonly Rewind[], turn: number): boolean {
  return rewinds.some(({ from, to }) => from <= turn && turn <= to)
}

/** Whether a restore can be undone here. A conversation that was only forked before a prompt has its original. */
export function canUndo({ withdrawn, forgotten, restored }: Rewind): boolean {
  return !withdrawn && (!forgotten || restored !== undefined)
}

/** More matches than this are not counted. */
export const FIND_LIMIT = 20_000

export interface FindResult {
  /** the id of the answered `find/start` */
  id: number
  /**
   * Three numbers for each entry: its index, the number of matches in the part that is visible while the entry is collapsed, and the number
   * in the whole entry. With `part: 'change'`, the numbers replace the previous ones of these entries.
   */
  hits: number[]
  part: 'whole' | 'change'
  /** The search isn't complete: more results follow. */
  searching: boolean
  /** There are more matches than were counted. */
  limited: boolean
  /** Why nothing was searched: a sentence. */
  problem?: string
}

/** `question`: the pending request with this id, or the next one after the focused request */
export type NavigateTo = 'previousTurn' | 'nextTurn' | 'first' | 'latest' | 'question'

/** 1: toward the end, -1: toward the beginning. */
export type Direction = 1 | -1

/** The index of the nearest prompt at or after `from` in a direction. */
export function nearestPrompt(
  entries: readonly Entry[],
  from: number,
  direction: Direction,
): number | undefined {
  let at = direction < 0 ? Math.min(from, entries.length - 1) : from
  while (at >= 0 && at < entries.length && !isShownPrompt(entries[at]!)) at += direction
  return entries[at] && at
}
