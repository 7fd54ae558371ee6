/**
 * What the extension host sends to a conversation's page, over vscode-jsonrpc on `postMessage`. What the page sends is in
 * `conversation-messages.ts`: the host checks all of that; the webview trusts the host.
 */
import { NotificationType } from 'vscode-jsonrpc'
import type { Command, ConfigOption, ContentBlock, Plan, ToolCallContent, Usage } from '../../acp/model.ts'
import type { Draft } from '../../common/draft.ts'
import type {
  Attachment,
  MentionRow,
  PromptPart,
  ReturnedPrompt,
  StoredPrompt,
} from '../../conversation/attachment.ts'
import type {
  Entry,
  EntryId,
  Rewind,
  SessionActivity,
  TerminalState,
  ToolCallEntry,
} from '../../conversation/state.ts'

/** A button of a card; `id` comes back in `conversation/card`. The first is the primary one. */
export interface CardButton {
  id: string
  label: string
  icon?: string
  /** a sentence; shown where the button is in a list */
  description?: string
  /** never the primary button, in any position */
  secondary?: true
}
/** One message with buttons for the next step: a failed start, a missing sign-in, no agent, no trust, an agent that exited. */
export interface Card {
  id: string
  kind: 'error' | 'warning' | 'info'
  /** what the card reports is still running */
  busy?: true
  /** What happened, a few words. */
  title: string
  /** One or two sentences. */
  text: string
  /** Folded under "Details": the command, the PATH searched, stderr's tail, the error's data. Preformatted. */
  details?: Array<{ label: string; text: string }>
  /** the details begin unfolded */
  unfolded?: true
  /** Choices, listed one below the other; the buttons come after them. */
  choices?: CardButton[]
  buttons: CardButton[]
}

export interface AgentChoice {
  agentId: string
  name: string
  description?: string
  /** a codicon's name, or a `data:`/webview URI */
  icon?: string
  source: 'settings' | 'installed' | 'preset' | 'demo'
  /** absent if sign-in isn't required */
  account?: AccountNote
}

/** Who is signed in to an agent. */
export interface AccountNote {
  /** as text, also if it isn't known */
  text: string
  /** absent if it isn't known */
  signedIn?: boolean
}

/** An agent that can be installed from the registry. */
export interface AgentOffer {
  /** in the registry */
  id: string
  name: string
  description: string
  /** a codicon's name, or an image's address (`data:`) */
  icon: string
  /** what an installation runs or downloads, as a sentence */
  plan?: string
  /** the same, as it's sent back to the host */
  action?: string
  /** `share`: 0 to 1; absent where it isn't known */
  running?: { step: string; share?: number }
  /** `help`: a page that says how to get what is missing, and the words for the button */
  failed?: { message: string; output: string; help?: { href: string; label: string } }
}

/** A conversation in an editor tab. */
export interface TabNote {
  key: string
  title: string
  agentName?: string
  state: 'idle' | 'running' | 'waiting' | 'done' | 'failed'
}

/** One MCP server of the session and whether it was passed on. */
export interface McpServerNote {
  name: string
  type: string
  passed: boolean
  /** Why it was not passed. */
  reason?: string
}
export interface RootsNote {
  cwd: string
  /** `cwd` as a user says it: a folder's name, or the path with `~` */
  cwdLabel: string
  /** Something to know of the cwd: it is outside of the workspace. A sentence. */
  cwdRemark?: string
  /** `added`: a folder of this window that the session did not have before */
  additional: Array<{ path: string; label: string; added?: true }>
  /** workspace folders that the agent does not see, and why */
  unseen: Array<{ label: string; reason: string }>
  /** No folder is open: the session works in a private scratch folder. */
  scratch: boolean
}

/** A prompt that is not sent yet. See `PromptState`. */
export interface QueuedNote {
  id: string
  state: 'sending' | 'queued'
  text: string
  /** blocks besides its text */
  attachments: number
}

/** A request that waits for the user: where in the conversation it is. */
export interface PendingRequestNote {
  requestId: string
  entryId: EntryId
  /** the position of its entry */
  index: number
}

/** Which values of an option the user marked, and used, the last one first. */
export interface RememberedOption {
  favorites: string[]
  recent: string[]
}

/** All of a conversation but its entries and terminals. A patch replaces whole top-level keys. */
export interface ConversationHead {
  /**
   * empty: no session and nothing under way · starting: an agent starts or a session is being made ·
   * loading: history replays (shown as it comes) · ready · ended: the agent is gone, the conversation stays readable
   */
  phase: 'empty' | 'starting' | 'loading' | 'ready' | 'ended'
  /** What is under way, while `phase` is starting or loading: "Starting Claude…". */
  progress?: string
  /** The conversation's identity in this window; drafts are kept by it. Changes with every new session. */
  key: string
  /** The conversation just started under this key: the text in its composer belongs to it now. */
  keyBefore?: string
  agent?: { agentId: string; name: string; icon?: string }
  /** what the agent calls itself, with its version and that of the protocol */
  program?: string
  sessionId?: string
  title?: string
  account?: AccountNote
  /** A new session can begin with this conversation. */
  canFork?: boolean
  activity: SessionActivity
  /** The requests that wait for the user, oldest first: all of them, whether or not their entries were fetched. */
  pendingRequests: PendingRequestNote[]
  /** The agent does not say for certain what it does. */
  unconfirmed?: true
  /** the number of background tasks, if the agent reports them */
  background?: number
  /** when the running turn began, milliseconds since the epoch */
  turnStartedAt?: number
  /** Where the user went back: the turns that are set aside. */
  rewinds: Rewind[]
  /** the prompts that are not sent yet, in their order */
  queue: QueuedNote[]
  /** None of them is sent before the user resumes the queue: the turn before it was stopped, or failed. */
  queuePaused: boolean
  /** The agent was asked to stop the turn, and has not answered. */
  stopping?: boolean
  roots?: RootsNote
  /** what became of the user's own system prompt, when they have one */
  systemPrompt?: 'appended' | 'overrides' | 'not-taken'
  mcpServers: McpServerNote[]
  plans: Plan[]
  configOptions: ConfigOption[]
  /** ids of options whose change the agent has not confirmed yet */
  pendingOptions: string[]
  /** what the user marked and used of the options' values, by the option's id */
  rememberedOptions: Record<string, RememberedOption>
  commands: Command[]
  usage?: Usage
  prompt: { image: boolean; audio: boolean; embeddedContext: boolean }
  /** shown at the end of the conversation, above the composer */
  cards: Card[]
  /** offered when the phase is empty */
  agents: AgentChoice[]
  /** which of them New Session starts */
  defaultAgentId?: string
  /** in the side bar, when the phase is empty: the first of the conversations in editor tabs, and how many more there are */
  tabs?: { shown: TabNote[]; more: number }
  /** agents that can be installed, where there is none */
  offers?: AgentOffer[]
  /** it isn't known yet which agents there are */
  looking?: true
  /** nothing can be sent: there is no agent to begin a session with */
  noAgent?: true
  /** the name of the agent that is being made ready: what is sent waits for it */
  preparing?: string
}

/** A terminal; its output is sent only where the view shows it, see `conversation/terminals`. */
export type TerminalNote = Omit<TerminalState, 'output'> & { output?: string }

/** A tool call of which the view shows a line, or the end of its output, without the rest; see `conversation/toolCalls`. */
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

export interface ConversationSnapshot {
  /** Increases with every message; a patch with a gap before it makes the view ask for a snapshot. */
  revision: number
  head: ConversationHead
  /** The last entries; `first` is the index of the first of them, `total` how many there are. */
  entries: Entry[]
  first: number
  total: number
  /** Entries before `first` that a pending request is drawn with: itself, its tool call, the subagents it is in. */
  pendingEntries?: Array<{ index: number; entry: Entry }>
  /** those of the entries, with the output of those that the view shows */
  terminals: TerminalNote[]
  draft: Draft<Attachment>
  /** the height that the user gave the composer, in pixels; for a page that just loaded */
  composerHeight?: number
  /** as in `ReturnPrompts` */
  returned?: ReturnedPrompt[]
}

export type PatchOp =
  /** An entry at `index` is new or replaced (`index === total` appends). */
  | { op: 'entry'; index: number; entry: Entry }
  /** Text appended to a text block of the message entry `id`. */
  | { op: 'text'; id: EntryId; block: number; text: string }
  /** What changed of a tool call that was sent before; `content`: see {@link ToolContentDelta}. */
  | {
      op: 'tool'
      id: EntryId
      set: Partial<ToolCallEntry>
      cleared?: Array<keyof ToolCallEntry>
      content?: ToolContentDelta
    }
  /** Without `output`: the rest of it changed, or it isn't shown. */
  | { op: 'terminal'; terminal: TerminalNote }
  | { op: 'terminal_output'; terminalId: string; text: string }
  /** `cleared` names the keys that are no longer there: `undefined` does not cross the bridge. */
  | { op: 'head'; head: Partial<ConversationHead>; cleared?: Array<keyof ConversationHead> }
export interface ConversationPatch {
  revision: number
  ops: PatchOp[]
}

export type { Attachment, MentionRow, PromptPart, ReturnedPrompt, StoredPrompt }

/** The whole state: sent when the webview is ready, shown again, or asks. */
export const Snapshot = new NotificationType<ConversationSnapshot>('conversation/snapshot')
/** At most one each animation frame. */
export const Patch = new NotificationType<ConversationPatch>('conversation/patch')
/** Adds context to the composer (Add Selection to Conversation). */
export const Attach = new NotificationType<Attachment>('conversation/attach')
/**
 * Prompts go back to the composer, in front of what is in it, which answers with `conversation/takeBack`. Sent until it does: a
 * prompt that the composer has had already does nothing.
 */
export const ReturnPrompts = new NotificationType<{ key: string; prompts: ReturnedPrompt[] }>(
  'conversation/returnPrompts',
)
export const FocusComposer = new NotificationType<void>('conversation/focus')

/** Whether this window follows its agents: the editor shows where they work. */
export const FollowShown = new NotificationType<{ on: boolean }>('follow/shown')

/** The theme's colors of code as `#rrggbb[aa]`, by kind of word; missing ones have a fallback. */
export const TokenColors = new NotificationType<Record<string, string>>('appearance/tokens')
/** Diffs side by side where there is space, or always inline. */
export const DiffLayout = new NotificationType<{ sideBySide: boolean }>('appearance/diff')

export interface ChangedFileNote {
  /** absolute */
  path: string
  status: 'added' | 'modified' | 'deleted' | 'renamed'
  /** Of a renamed file: where it was. Absolute. */
  from?: string
  /** All of it changed while a turn ran, and nothing says that the agent did it; of a renamed file: some of it. */
  uncertain?: boolean
  /** lines */
  added: number
  removed: number
}
/** The files that the session's agent changed: all of them, whenever one changed or another conversation is shown. */
export const ChangedFilesShown = new NotificationType<{
  key: string
  files: ChangedFileNote[]
  /** files that changed during the turn and aren't listed: too many, or too large */
  omitted?: number
  /** folders in which changes by commands can't be detected, absolute */
  unseen?: string[]
}>('changes/shown')

/** A permission rule that would have answered a request. */
interface RuleOffer {
  /** what it fits, in words */
  label: string
  /** what saving it means, in a sentence */
  preview: string
  /** as it would be in the settings */
  json: string
}
export interface RuleOffers {
  /** The narrowest first. */
  offers: RuleOffer[]
  /** There are workspace settings to write to. */
  workspace: boolean
}

/** The selection, or else the file of the active editor; `automatic`: it's added to every prompt. */
export interface ActiveContext {
  attachment?: Attachment
  automatic: boolean
}
export const ActiveContextChanged = new NotificationType<ActiveContext>('composer/activeContext')

/** Prompts that came earlier in a conversation, the oldest first. */
export interface EarlierPrompts {
  prompts: ContentBlock[][]
  /** Index of the entry of the first one; there is none before entry 0. */
  from: number
}

/** host → webview: appends a prompt to the composer's content; `quiet`: doesn't take the focus */
export const FillComposer = new NotificationType<{ blocks: ContentBlock[]; quiet?: boolean }>('actions/fill')
/** host → webview: quotes what is selected in the conversation */
export const Quote = new NotificationType<void>('actions/quote')

/** What a context menu passes to a command about the place where it was opened. */
export interface EntryContext {
  /** the conversation's key */
  conversation: string
  entry?: EntryId
}

/** The user went back to before this turn: it is no longer part of what the agent goes by. */
export function isSetAside(rewinds: readonly Rewind[], turn: number): boolean {
  return rewinds.some(({ from, to }) => from <= turn && turn <= to)
}

/** More matches than this are not counted. */
export const FIND_LIMIT = 20_000

export interface FindResult {
  /** of the `find/start` that it answers */
  id: number
  /**
   * Three numbers for each entry: its index, the number of matches in what is visible of it while it's collapsed, and how many
   * in all of it. Those of `part: 'change'` replace the former ones of these entries (0 matches: none any more).
   */
  hits: number[]
  part: 'whole' | 'change'
  /** The search isn't complete: more results follow. */
  searching: boolean
  /** There are more matches than are counted. */
  limited: boolean
  /** Nothing was searched, and why: a sentence. */
  problem?: string
}

/** host → webview: opens the find widget, or puts the cursor into it. */
export const ShowFind = new NotificationType<void>('find/show')
/** host → webview: what was found; sent again when the conversation changes. */
export const FindResults = new NotificationType<FindResult>('find/results')

/** `question`: the next request that waits for the user, after the one that has the focus, or the one that is named */
export type NavigateTo = 'previousTurn' | 'nextTurn' | 'first' | 'latest' | 'question'

/** host → webview */
export const Navigate = new NotificationType<{ to: NavigateTo; requestId?: string }>('conversation/navigate')

/** 1: toward the end, -1: toward the beginning. */
export type Direction = 1 | -1

/** Whether an entry is a prompt of the user, which begins a turn or steers it; not one to a subagent. */
export function isPrompt(entry: Entry): boolean {
  return (
    entry.kind === 'message' && entry.role === 'user' && entry.within === undefined && entry.blocks.length > 0
  )
}

/** The index of the nearest prompt at or after `from` in a direction. */
export function nearestPrompt(
  entries: readonly Entry[],
  from: number,
  direction: Direction,
): number | undefined {
  let at = direction < 0 ? Math.min(from, entries.length - 1) : from
  while (at >= 0 && at < entries.length && !isPrompt(entries[at]!)) at += direction
  return entries[at] && at
}
