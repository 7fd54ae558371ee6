/**
 * The data that the extension host sends to a conversation's page, with vscode-jsonrpc over `postMessage`. The page's own messages are in
 * `conversation-messages.ts`. The host checks the page's messages; the page trusts the host.
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

/** A button of a card. The first button is the primary one. */
export interface CardButton {
  action: CardAction
  label: string
  icon?: string
  /** a sentence that is shown if the button is in a list */
  description?: string
  /** the button is never the primary one, whatever its position */
  secondary?: true
}
/** A message with buttons for the next step, for example after a failed start or when sign-in is required. */
export interface Card {
  id: string
  kind: 'error' | 'warning' | 'info'
  /** the action that the card reports is still running */
  busy?: true
  /** what happened, in a few words */
  title: string
  /** One or two sentences. If empty, the card is one line: the title and the buttons. */
  text: string
  /** Preformatted details in a collapsed section: the command, the searched PATH, the end of stderr, the error's data. */
  details?: Array<{ label: string; text: string }>
  /** whether the details are expanded at first */
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
  /** absent if the agent doesn't require sign-in */
  account?: AccountNote
}

/** Who is signed in to an agent. */
export interface AccountNote {
  /** who is signed in, or that this is unknown, as text */
  text: string
  /** absent if it's unknown whether the user is signed in */
  signedIn?: boolean
  /** The agent runs and has no sign-in method. */
  hasNoSignIn?: true
}

/** An agent that can be installed from the registry. */
export interface AgentOffer {
  /** the agent's id in the registry */
  id: string
  name: string
  description: string
  /** the name of a codicon, or a `data:` URI */
  icon: string
  /** what an installation runs or downloads, as a sentence */
  plan?: string
  /** the question whether to install the agent, with everything that would run, one fact per line */
  asking?: { id: number; text: string; facts: string[] }
  /** `share` is the finished part, from 0 to 1; absent if unknown */
  running?: { step: string; share?: number }
  /** `help` is a page that explains how to get the missing program, with the button's label */
  failed?: { message: string; output: string; help?: { href: string; label: string } }
}

/** A prompt that isn't sent yet. See `PromptState`. */
export interface QueuedNote {
  id: string
  state: 'sending' | 'queued'
  text: string
  /** the number of blocks besides the text */
  attachments: number
  /** a sentence that says why the agent didn't add the prompt to the running turn */
  reason?: string
}

/** The position of a pending request in the conversation. */
export interface PendingRequestNote {
  requestId: string
  entryId: EntryId
  /** the index of the request's entry */
  index: number
}

/** The user's favorite values of an option, and the recently used ones, most recent first. */
export interface RememberedOption {
  favorites: string[]
  recent: string[]
}

/** A rewind whose notice is the entry `id`, with the indexes of the entries that it set aside: from `first` to `end`, exclusive. */
export interface RewindNote extends Rewind {
  id: EntryId
  first: number
  end: number
}

/** All of a conversation except its entries and terminals. A patch replaces whole top-level members. */
export interface ConversationHead {
  phase: ViewPhase
  /** The conversation is a recording, which can only be read. */
  recording?: true
  /** The current step while `phase` is starting or loading: "Starting Claude…". */
  progress?: string
  /** Identifies the conversation in this window, and its draft. Each new session has another key. */
  key: string
  /** The previous key of the conversation. The text in the composer of the previous key now belongs to this conversation. */
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
  /** All pending requests, the oldest first, whether or not the page has their entries. */
  pendingRequests: PendingRequestNote[]
  /** The agent's state is unknown. */
  unconfirmed?: true
  /** work that outlives its tool call or its turn; absent if there is none */
  running?: Running
  /** when the running turn began, in milliseconds since the epoch */
  turnStartedAt?: number
  /** The turns that are set aside because the user went back. */
  rewinds: RewindNote[]
  /** The previous agent of the conversation, if the conversation can go back to it now. */
  goBack?: { agentName: string; entryId: EntryId }
  /** the unsent prompts, in order */
  queue: QueuedNote[]
  /** The queue is paused until the user resumes it, because the previous turn was stopped or failed. */
  queuePaused: boolean
  /** The agent can add a prompt to the running turn. */
  canSteer?: boolean
  /** A prompt can be sent to several agents, each of which works in its own worktree. */
  canSendTo?: boolean
  /** The agent was asked to stop the turn and hasn't responded yet. */
  stopping?: boolean
  roots?: RootsPlan
  /** the worktree in which the session works, if it isn't open in this window; without a branch, the worktree was removed */
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
  /** the agent's default options for new sessions, by the option's id */
  defaultOptions: Record<string, string | boolean>
  commands: Command[]
  usage?: Usage
  /** the session's limit, if it has one */
  limit?: LimitNote
  /** the agent's suggestion for the next prompt */
  suggestion?: string
  prompt: { image: boolean; audio: boolean; embeddedContext: boolean }
  /** shown at the end of the conversation, above the composer */
  cards: Card[]
  /** the agents offered in the empty view */
  agents: AgentChoice[]
  /** the agent with which New Session starts */
  defaultAgentId?: string
  /** the most important sessions, for the empty view and while the session switcher is open */
  sessions?: HistoryRow[]
  /** the agents to install, if there are no agents */
  offers?: AgentOffer[]
  /** the available agents aren't known yet */
  looking?: true
  /** nothing can be sent, because there is no agent to start a session with */
  noAgent?: true
  /** the name of the agent that is being prepared, and for which prompts wait */
  preparing?: string
}

/** The environment that a project adds. It contains only names, because values may be secrets. */
export interface EnvironmentNote {
  tools: Array<{ tool: string; names: string[] }>
  /** The folder in which the agent itself was started, if it's another one. The agent has the environment of that folder. */
  agentFolder?: string
}

/** A terminal. Its output is sent only if the page shows it: see `conversation/terminals`. */
export type TerminalNote = Omit<TerminalState, 'output'> & { output?: string }

/** A tool call without long content, for a page that shows only its line or the end of its output: see `conversation/toolCalls`. */
export type CutToolCall = ToolCallEntry & { cut: true }

export function isCut(entry: ToolCallEntry): entry is CutToolCall {
  return 'cut' in entry
}

/**
 * A change of a tool call's content: the first `keep` items stay, `append` continues the text of the next item, and `add` comes after that
 * item.
 */
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
  /** Increases when prompts may have other entries, or when the page must show these edits instead of its own. */
  round: number
  /** The edits, the latest last; absent while their entries aren't known. `from` is the entry under which the page stored the edit last. */
  prompts?: Array<{ entryId: EntryId; draft: Draft<Attachment>; from?: EditedEntry }>
}

export interface ConversationSnapshot {
  /** Increases with every message. If there is a gap before a patch, the page requests a snapshot. */
  revision: number
  head: ConversationHead
  /** The last entries. `first` is the index of the first one, and `total` the number of all entries. */
  entries: Entry[]
  first: number
  total: number
  /** The host reads the other entries when the page reports `conversation/drawn`. */
  more?: true
  /**
   * Entries before `first` that are needed to draw pending requests: the requests' own entries, their tool calls, and the entries that
   * contain them.
   */
  pendingEntries?: Array<{ index: number; entry: Entry }>
  /** the terminals of the entries, with the output of the visible ones */
  terminals: TerminalNote[]
  draft: Draft<Attachment>
  edits?: EditedPromptsShown
  /** the height of the composer that the user set, in pixels; only for a page that has just loaded */
  composerHeight?: number
  /** as in `conversation/returnPrompts` */
  returned?: ReturnedPrompt[]
  /** The side bar switches from History to the conversation. The snapshot contains this, so that the page draws only once. */
  leavesHistory?: true
}

export type PatchOp =
  /** The entry at `index` is new or replaced. If `index === total`, the entry is appended. */
  | { op: 'entry'; index: number; entry: Entry }
  /** Appends text to a text block of the entry `id`: a message, a compaction or a message to a session. */
  | { op: 'text'; id: EntryId; block: number; text: string }
  /** The changes of a tool call that was sent before. For `content`, see {@link ToolContentDelta}. */
  | {
      op: 'tool'
      id: EntryId
      set: Partial<ToolCallEntry>
      cleared?: Array<keyof ToolCallEntry>
      content?: ToolContentDelta
    }
  /** A terminal; without `output` if only other members changed, or if the page doesn't show the output. */
  | { op: 'terminal'; terminal: TerminalNote }
  | { op: 'terminal_output'; terminalId: string; text: string }
  /** `cleared` contains the keys that were removed, since JSON has no `undefined`. */
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
  /** absent if all changes of the file are decided */
  status?: 'added' | 'modified' | 'deleted' | 'renamed'
  /** the previous path of a renamed file, absolute */
  from?: string
  /** Whether all or some changes of the file happened during a turn without a report by the agent. */
  uncertain?: 'all' | 'some'
  /** numbers of lines */
  added: number
  removed: number
  /** Present once the user has decided about changes of the file: how many changes are kept, reverted and undecided. */
  decided?: {
    outcome: 'kept' | 'reverted' | 'both' | 'some'
    kept: number
    reverted: number
    undecided: number
    /** The file doesn't exist anymore. */
    isGone?: true
    /** The user can undo at least some of these decisions. */
    canUndo?: true
  }
}
/** All files that the session's agent changed. */
export interface ChangedFiles {
  key: string
  /** in review order; files without undecided changes appear only while other files have some */
  files: ChangedFileNote[]
  /** The number of changes in all files, and how many of them the user has decided. */
  count?: { decided: number; total: number }
  /** the number of files that changed during the turn and aren't listed because there are too many or they are too large */
  omitted?: number
  /** absolute paths of folders in which changes by commands can't be detected */
  unseen?: string[]
}

/** A permission rule that would answer a request. */
interface RuleOffer {
  /** a description of the requests that the rule matches */
  label: string
  /** the effect of the rule, in a sentence */
  preview: string
  /** the rule as it would appear in the settings */
  json: string
  /** The rule names a path in this workspace, so it belongs in the workspace settings. */
  isOfWorkspace?: true
}
export interface RuleOffers {
  /** the rules, the narrowest first */
  offers: RuleOffer[]
  /** Whether there are workspace settings to write to. */
  workspace: boolean
}

/** The selection, or else the file of the active editor. `automatic` means that it's added to every prompt. */
export interface ActiveContext {
  attachment?: Attachment
  automatic: boolean
}

/** The choices about later turns when the user edits a prompt, with the user's last choice. */
export interface EditOptions {
  /** the number of files that can be restored */
  files: number
  canForget: boolean
  /** There is no choice, because the turns are already set aside or the agent isn't running. */
  isSetAside: boolean
  agentName: string
  restores: boolean
  forgets: boolean
}

/** Earlier prompts of a conversation, oldest first. */
export interface EarlierPrompts {
  prompts: ContentBlock[][]
  /** the index of the first prompt's entry; 0 if there are no earlier prompts */
  from: number
}

/** The place where a context menu was opened, in the form in which the menu passes it to commands. */
export interface EntryContext {
  /** the conversation's key */
  conversation: string
  entry?: EntryId
}

/** Whether the user went back to before this turn, so that the turn is no longer part of the agent's context. */
export function isRewound(rewinds: readonly Rewind[], turn: number): boolean {
  return rewinds.some(({ from, to }) => from <= turn && turn <= to)
}

/** Whether the restore can be undone in this conversation. A conversation that was only forked before a prompt still has its original. */
export function canUndo({ withdrawn, forgotten, restored }: Rewind): boolean {
  return !withdrawn && (!forgotten || restored !== undefined)
}

/** The maximum number of matches that are counted. */
export const FIND_LIMIT = 20_000

export interface FindResult {
  /** the id of the `find/start` that this answers */
  id: number
  /**
   * Three numbers for each entry: its index, the number of matches in the part that is visible while the entry is collapsed, and the number
   * in the whole entry. With `part: 'change'`, the numbers replace the previous numbers of these entries.
   */
  hits: number[]
  part: 'whole' | 'change'
  /** whether the search is still in progress and more results follow */
  searching: boolean
  /** whether there are more matches than were counted */
  limited: boolean
  /** a sentence that says why nothing was searched */
  problem?: string
}

/** `question` is the pending request with this id, or else the next one after the focused request */
export type NavigateTo = 'previousTurn' | 'nextTurn' | 'first' | 'latest' | 'question'

/** 1 is toward the end, -1 toward the beginning. */
export type Direction = 1 | -1

/** Returns the index of the nearest prompt at or after `from` in a direction. */
export function nearestPrompt(
  entries: readonly Entry[],
  from: number,
  direction: Direction,
): number | undefined {
  let at = direction < 0 ? Math.min(from, entries.length - 1) : from
  while (at >= 0 && at < entries.length && !isShownPrompt(entries[at]!)) at += direction
  return entries[at] && at
}
