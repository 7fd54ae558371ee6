/**
 * The messages between the extension host and a conversation's webview, over vscode-jsonrpc on `postMessage`.
 * The host checks everything that comes in with the schemas of `incoming.ts`; the webview trusts the host.
 */
import { NotificationType, RequestType } from 'vscode-jsonrpc'
import type {
  Command,
  ConfigOption,
  ElicitationOutcome,
  Plan,
  ToolCallContent,
  Usage,
} from '../../acp/model.ts'
import type { Draft, DraftMark } from '../../common/draft.ts'
import type { Attachment, PromptPart, ReturnedPrompt, StoredPrompt } from '../../conversation/attachment.ts'
import type {
  Entry,
  EntryId,
  SessionActivity,
  TerminalState,
  ToolCallEntry,
} from '../../conversation/state.ts'
import type { RememberedOption } from './options.ts'

/** A button of a card; `id` comes back in `CardAction`. The first is the primary one. */
export interface CardButton {
  id: string
  label: string
  icon?: string
  /** a sentence; shown where the button stands in a list of its own */
  description?: string
  /** never the first choice, wherever it stands */
  secondary?: true
}
/** One clear message with a way on: a failed start, a missing sign-in, no agent, no trust, a dead agent. */
export interface Card {
  id: string
  kind: 'error' | 'warning' | 'info'
  /** something runs that the card tells of */
  busy?: true
  /** What happened, a few words. */
  title: string
  /** One or two sentences. */
  text: string
  /** Folded under "Details": the command, the PATH searched, stderr's tail, the error's data. Preformatted. */
  details?: Array<{ label: string; text: string }>
  /** the details begin unfolded */
  unfolded?: true
  /** Ways that stand for themselves, one under the other; the buttons come after them. */
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
}

/** An agent that can be installed from the registry. */
export interface AgentOffer {
  /** in the registry */
  id: string
  name: string
  description: string
  /** a codicon's name */
  icon: string
  /** what an installation runs or downloads, as a sentence */
  plan?: string
  /** the same, as it is told back to the host */
  action?: string
  /** `share`: 0 to 1; absent where it isn't known */
  running?: { step: string; share?: number }
  /** `help`: a page that says how to get what is missing, and the words for the button */
  failed?: { message: string; output: string; help?: { href: string; label: string } }
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
  /** `cwd` as a person says it: a folder's name, or the path with `~` */
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

/** A request that waits for the person: where in the conversation it is. */
export interface PendingRequestNote {
  requestId: string
  entryId: EntryId
  /** the position of its entry */
  index: number
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
  /** The conversation has just begun under this key: what was being written there belongs to it now. */
  keyBefore?: string
  agent?: { agentId: string; name: string; icon?: string }
  /** what the agent calls itself, with its version and that of the protocol */
  program?: string
  sessionId?: string
  title?: string
  /** who is signed in to the agent, where it tells */
  account?: { text: string; signedIn: boolean }
  /** A new session can begin with this conversation. */
  canFork?: boolean
  activity: SessionActivity
  /** The requests that wait for the person, oldest first: all of them, whether or not their entries were fetched. */
  pendingRequests: PendingRequestNote[]
  /** The agent does not say for certain what it does. */
  unconfirmed?: true
  /** how many things go on apart from the turn, where the agent tells */
  background?: number
  /** when the running turn began, milliseconds since the epoch */
  turnStartedAt?: number
  /** the prompts that are not sent yet, in their order */
  queue: QueuedNote[]
  /** None of them is sent before the person resumes the queue: the turn before it was stopped, or failed. */
  queuePaused: boolean
  /** The agent was asked to stop the turn, and has not answered. */
  stopping?: boolean
  roots?: RootsNote
  /** what became of the person's own system prompt, when they have one */
  systemPrompt?: 'appended' | 'overrides' | 'not-taken'
  mcpServers: McpServerNote[]
  plans: Plan[]
  configOptions: ConfigOption[]
  /** ids of options whose change the agent has not confirmed yet */
  pendingOptions: string[]
  /** what the person marked and used of the options' values, by the option's id */
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
  /** agents that can be installed, where there is none */
  offers?: AgentOffer[]
  /** it isn't known yet which agents there are */
  looking?: true
  /** nothing can be sent: there is no agent to begin a session with */
  noAgent?: true
  /** the name of the agent that is being made ready: what is sent waits for it */
  preparing?: string
}

/** A terminal; its output is sent only where the view shows it, see {@link WatchTerminals}. */
export type TerminalNote = Omit<TerminalState, 'output'> & { output?: string }

/** A tool call of which the view shows a line, or the end of its output, without the rest; see {@link ShowToolCalls}. */
export type CutToolCall = ToolCallEntry & { cut: true }

export function isCut(entry: ToolCallEntry): entry is CutToolCall {
  return 'cut' in entry
}

/** The first `keep` items stay, `append` goes on with the text of the next one, `add` comes after it. */
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
  /** how tall the person made the composer, in pixels; for a page that has just begun */
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
  /** Without `output`: the rest of it changed, or nobody looks at it. */
  | { op: 'terminal'; terminal: TerminalNote }
  | { op: 'terminal_output'; terminalId: string; text: string }
  /** `cleared` names the keys that are no longer there: `undefined` does not cross the bridge. */
  | { op: 'head'; head: Partial<ConversationHead>; cleared?: Array<keyof ConversationHead> }
export interface ConversationPatch {
  revision: number
  ops: PatchOp[]
}

export type { Attachment, PromptPart, ReturnedPrompt, StoredPrompt }

// ---- host → webview ------------------------------------------------------------------------------------------------

/** Everything anew: sent when the webview is ready, shown again, or asks. */
export const Snapshot = new NotificationType<ConversationSnapshot>('conversation/snapshot')
/** At most one each animation frame. */
export const Patch = new NotificationType<ConversationPatch>('conversation/patch')
/** Adds context to the composer (Add Selection to Conversation). */
export const Attach = new NotificationType<Attachment>('conversation/attach')
/**
 * Prompts go back to the composer, in front of what is in it, which answers with `TakeBack`. Sent until it does: a
 * prompt that the composer has had already does nothing.
 */
export const ReturnPrompts = new NotificationType<{ key: string; prompts: ReturnedPrompt[] }>(
  'conversation/returnPrompts',
)
export const FocusComposer = new NotificationType<void>('conversation/focus')

// ---- webview → host ------------------------------------------------------------------------------------------------

/** The webview can draw; asks for a snapshot. Also sent after a gap in the revisions. */
export const Ready = new NotificationType<void>('conversation/ready')
/** The terminals whose output the view shows now: only theirs is sent, all of it at first. */
export const WatchTerminals = new NotificationType<{ key: string; ids: string[] }>('conversation/terminals')
/** The tool calls, by their entries, of which the view shows all: the others are sent without what is long. */
export const ShowToolCalls = new NotificationType<{ key: string; ids: EntryId[] }>('conversation/toolCalls')
/** Earlier entries, by index, `from` inclusive, `to` exclusive. */
export const FetchEntries = new RequestType<{ key: string; from: number; to: number }, Entry[], void>(
  'conversation/entries',
)
/**
 * A prompt leaves the composer. Never empty. It is the host's, and stored, once this resolves; if it rejects, with a
 * sentence, the composer keeps it.
 */
export const EnqueuePrompt = new RequestType<StoredPrompt & { key: string }, void, void>(
  'conversation/enqueue',
)
/** Returned prompts are in the composer, whose draft this is, and in the queue no longer. */
export const TakeBack = new NotificationType<{ key: string; ids: string[]; draft: Draft<Attachment> }>(
  'conversation/takeBack',
)
export const CancelTurn = new NotificationType<{ key: string }>('conversation/cancel')
export const AnswerPermission = new NotificationType<{
  key: string
  requestId: string
  /** absent: cancelled */
  optionId?: string
}>('conversation/permission')
/** Stops one tool call, or one terminal's command, and not the turn. */
export const CancelWork = new NotificationType<{
  key: string
  work: { toolCallId: string } | { terminalId: string } | { subagentId: string }
}>('conversation/cancelWork')
/** Answers a form with values by key, or agrees to an address, which the host then opens. */
export const AnswerElicitation = new NotificationType<{
  key: string
  requestId: string
  answer: ElicitationOutcome
}>('conversation/elicitation')
export const SetConfigOption = new NotificationType<{
  key: string
  optionId: string
  value: string | boolean
}>('conversation/option')
export const CardAction = new NotificationType<{ cardId: string; buttonId: string }>('conversation/card')
/** Starts a new session with the agent, or with the default one. */
export const StartSession = new NotificationType<{ agentId?: string }>('conversation/start')
export const SaveDraft = new NotificationType<{ key: string; text: string; marks: DraftMark[] }>(
  'conversation/draft',
)
/** The draft's items, when others are there than before: they are larger than its text, and change less often. */
export const SaveDraftItems = new NotificationType<{ key: string; items: Attachment[] }>(
  'conversation/draftItems',
)
/** A link in prose: http(s) opens outside (asked by VS Code), a path or file URI opens in the editor. */
export const OpenLink = new NotificationType<{ href: string }>('conversation/link')
/** line and column: 1-based */
export const OpenFile = new NotificationType<{ path: string; line?: number; column?: number }>(
  'conversation/file',
)
/** Opens the diff of a tool call's content in VS Code's diff editor. */
export const OpenDiff = new NotificationType<{
  key: string
  entryId: EntryId
  content: number
  change: number
}>('conversation/diff')
/** The line, from 1, at which the texts of a change begin in its file; `null` where that can't be told. */
export const FindFragment = new RequestType<
  { key: string; entryId: EntryId; content: number; change: number },
  number | null,
  void
>('conversation/findFragment')
export const Copy = new NotificationType<{ text: string }>('conversation/copy')
/** Runs one of Parley's own commands; the host has the list of those allowed. */
export const RunCommand = new NotificationType<{ command: string }>('conversation/command')
