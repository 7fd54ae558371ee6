/**
 * The messages between the host and a conversation's page.
 *
 * The sizes of the page's messages are limited: the page shows what an agent wrote, and isn't trusted more than the agent. In most
 * messages, `key` identifies the conversation that the page shows.
 */
import * as z from 'zod'
import type { ContentBlock } from '../acp/model.ts'
import { allowances } from '../common/allowance.ts'
import type { FindQuery } from '../common/find-pattern.ts'
import { MAX_COMMENT_LENGTH } from '../conversation/attachment.ts'
import type { Entry } from '../conversation/state.ts'
import { cardAction } from './card-action.ts'
import { agentsId, answer, nothing, request } from './contract.ts'
import type {
  ActiveContext,
  Attachment,
  ChangedFiles,
  ConversationPatch,
  ConversationSnapshot,
  EarlierPrompts,
  EditOptions,
  ExpandedPrompt,
  FindResult,
  MentionRow,
  NavigateTo,
  OutsideAnswer,
  PromptFileRow,
  ReturnedPrompt,
  RuleOffers,
} from './conversation.ts'
import type { ViewPage } from './history.ts'
import { MAX_PREVIEW_LENGTH, PREVIEW_TAGS, type Preview, type PreviewElement } from './preview.ts'

const MiB = 1024 * 1024
const id = agentsId
/** the key of a session, which contains the ids of the agent and of its session */
const key = z
  .string()
  .min(1)
  .max(128 * 1024)
const path = z.string().min(1).max(32_768)
const base64 = z.string().max(64 * MiB)
const mimeType = z.string().max(256)
const index = z.number().int().nonnegative()
/** a line of a file, 1-based */
const line = z.number().int().positive()
/** the language name of a fenced code block */
const language = z.string().max(256)
const query = z.string().max(1024)
const codeText = z.string().max(16 * MiB)
/** A member of content that only agents send: prompts never contain it. */
const agentOnly = z.literal(true).optional()
const keyed = z.object({ key })
const work = z.union([
  z.object({ toolCallId: id, within: id.optional() }),
  z.object({ terminalId: id }),
  z.object({ subagentId: id }),
])

const block = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string().max(16 * MiB), agentOnly }),
  z.object({ type: z.literal('image'), data: base64, mimeType, uri: path.optional(), agentOnly }),
  z.object({ type: z.literal('audio'), data: base64, mimeType, agentOnly }),
  z.object({
    type: z.literal('resource_link'),
    agentOnly,
    uri: path,
    name: z.string().max(4096),
    title: z.string().max(4096).optional(),
    description: z.string().max(16_384).optional(),
    mimeType: mimeType.optional(),
    size: index.optional(),
  }),
  z.object({
    type: z.literal('resource'),
    agentOnly,
    uri: path,
    mimeType: mimeType.optional(),
    text: z
      .string()
      .max(16 * MiB)
      .optional(),
    blob: base64.optional(),
    asText: z.literal(true).optional(),
  }),
])
const commit = z.string().regex(/^[0-9a-f]{40,64}$/)
const refs = [
  z.object({ type: z.literal('file'), uri: path }),
  z.object({ type: z.literal('folder'), uri: path }),
  z.object({ type: z.literal('symbol'), uri: path, startLine: line, endLine: line }),
  z.object({ type: z.literal('problems'), uri: path.optional() }),
  z.object({ type: z.literal('changes'), staged: z.boolean() }),
  z.object({ type: z.literal('revision'), ref: commit, base: commit.optional() }),
  z.object({
    type: z.literal('comment'),
    uri: path,
    startLine: line,
    endLine: line,
    quote: z.string().max(MAX_COMMENT_LENGTH),
    text: z.string().max(MAX_COMMENT_LENGTH),
  }),
] as const
const attachment: z.ZodType<Attachment> = z.object({
  id,
  label: z.string().max(4096),
  icon: z.string().max(256),
  detail: z.string().max(32_768).optional(),
  content: z.discriminatedUnion('type', [...block.options, ...refs]),
})

export const draftText = z.object({
  text: z.string().max(16 * MiB),
  /** Drafts that earlier builds stored have no chips; their items become attached. */
  chips: z
    .array(z.object({ from: index, to: index, id }))
    .max(1024)
    .default([]),
})
export const draftItems = z.array(attachment).max(1024)
const draft = draftText.extend({ items: draftItems })
const promptId = z.string().min(1).max(64)
const queued = z.object({ key, id })
/** A prompt that the user edits in place: see `EditedEntry`. */
const editedEntry = z.object({ round: index, entryId: id })

const formValue = z.union([
  z.string().max(MiB),
  z.number(),
  z.boolean(),
  z.array(z.string().max(16_384)).max(4096),
])
/** The place of a change in a tool call's content. */
const changePlace = z.object({ key, entryId: id, content: index, change: index })
/** The agent's id in the registry. */
const registryId = z.string().min(1).max(64)

/** The commands of an entry's buttons, which are also in the palette and the context menu. */
const entryCommand = z.enum([
  'parley.copyMessage',
  'parley.editPrompt',
  'parley.sendAgain',
  'parley.restoreCheckpoint',
  'parley.undoRestore',
])

/** The commands of the page's other buttons and menus. */
const pageCommand = z.enum([
  'parley.continueSession',
  'parley.followAgent',
  'parley.forkSession',
  'parley.manageAgents',
  'parley.managePermissionRules',
  'parley.newSession',
  'parley.openHistory',
  'parley.openSettings',
  'parley.restartAgent',
  'parley.setSessionLimit',
  'parley.showAgentLog',
  'parley.showMcpServers',
  'parley.showUsage',
  'parley.signIn',
  'parley.signOut',
  'parley.worktree',
])
export type PageCommand = z.infer<typeof pageCommand>

const pixels = z.number().min(0).max(100_000)
const previewElement: z.ZodType<PreviewElement> = z.object({
  tag: z.enum(PREVIEW_TAGS),
  class: z.string().optional(),
  dir: z.enum(['auto', 'ltr', 'rtl']).optional(),
  start: z.number().int().optional(),
  size: z.tuple([pixels, pixels]).optional(),
})
const preview: z.ZodType<Preview> = z
  .object({
    themeId: z.string(),
    colors: z.record(z.string().startsWith('--parley-'), z.string()),
    title: z.string(),
    besideTitle: pixels,
    dock: pixels,
    composer: pixels,
    rows: z.array(z.union([z.string(), previewElement, z.null()])),
  })
  .refine(preview => JSON.stringify(preview).length <= MAX_PREVIEW_LENGTH, 'a smaller preview')

export type ConversationMessages = typeof conversationMessages

export const conversationMessages = {
  // ---- what the page shows -----------------------------------------------------------------------------------------

  /**
   * The page has loaded, or has noticed a gap in the revisions. Asks for a snapshot, unless `isShown`: the page already shows a snapshot
   * that came early.
   */
  'conversation/ready': z.object({ isShown: z.boolean() }),
  /** The page has drawn the end of a conversation whose snapshot had `more`. */
  'conversation/drawn': keyed,
  /** Returns earlier entries by index, from `from` (inclusive) to `to` (exclusive). */
  'conversation/entries': request(
    z
      .object({ key, from: index, to: index })
      .refine(
        range => range.from <= range.to && range.to - range.from <= 2000,
        'a range of at most 2000 entries',
      ),
    answer<Entry[]>(),
  ),
  /** Sets the terminals whose output the page shows. The host sends only their output, at first as a whole. */
  'conversation/terminals': z.object({ key, ids: z.array(id).max(1000) }),
  /** Sets the tool calls, by their entries, that the page shows completely. The host sends the others without long content. */
  'conversation/toolCalls': z.object({ key, ids: z.array(id).max(1000) }),
  /**
   * Returns the index of the nearest prompt from `from` toward the end (1) or the start (-1); `null` if there is none. Used for entries
   * that the page hasn't loaded.
   */
  'conversation/findPrompt': request(
    z.object({ key, from: index, direction: z.union([z.literal(1), z.literal(-1)]) }),
    answer<number | null>(),
  ),
  /** Searches the conversation, and ends the previous search. The length of the text is limited, since users don't type more. */
  'find/start': z.object({
    key,
    id: index,
    query: z.object({
      text: z.string().max(10_000),
      matchCase: z.boolean(),
      wholeWord: z.boolean(),
      regex: z.boolean(),
    }),
  }),
  /** The page no longer shows the search. */
  'find/stop': nothing,
  /** The page's theme, sent at first and whenever the theme changes. */
  'appearance/theme': z.object({ themeId: z.string().max(512) }),
  /** The user's layout for all diffs: side by side if there is space, or always inline. */
  'appearance/setDiff': z.object({ sideBySide: z.boolean() }),

  /** A preview of the end of the conversation, as the page shows it after the snapshot or patch with this revision. */
  'conversation/preview': z.object({ key, revision: index, preview }),

  // ---- the composer and its queue ----------------------------------------------------------------------------------

  /**
   * Sends a prompt from the composer. The prompt is never empty. Resolves when the host has stored the prompt. If this rejects (with a
   * sentence), the composer keeps the prompt. `joins` means that the prompt is for the running turn, if the agent can add it.
   */
  'conversation/enqueue': request(
    z.object({ key, id: promptId, draft, joins: z.literal(true).optional() }),
    answer<void>(),
  ),
  /** The composer's draft now contains the returned prompts, which therefore leave the queue. */
  'conversation/movedToComposer': request(
    z.object({ key, ids: z.array(promptId).max(1024), draft }),
    answer<void>(),
  ),
  /**
   * Stores the draft. Resolves when snapshots contain the draft. With `edit`, the draft belongs to a prompt that the user edits in place,
   * here and in the next message.
   */
  'conversation/draft': request(draftText.extend({ key, edit: editedEntry.optional() }), answer<void>()),
  /** Stores the draft's items. They are larger than its text and change less often, so they are sent only when they change. */
  'conversation/draftItems': z.object({ key, edit: editedEntry.optional(), items: draftItems }),
  /** Returns suggestions for `@` and the text after it: open editors, context, files and folders. */
  'composer/mentions': request(z.object({ query }), answer<MentionRow[]>()),
  /** Returns commits and branches. They are requested separately, since Git may take seconds. */
  'composer/revisions': request(z.object({ query }), answer<MentionRow[]>()),
  /** Returns other sessions with this title. */
  'composer/sessions': request(keyed.extend({ query }), answer<MentionRow[]>()),
  /** Returns the text of another session. Rejects with a sentence if there is none. */
  'composer/session': request(z.object({ agentId: id, sessionId: key }), answer<Attachment[]>()),
  /** Returns the current prompt files, which are offered as commands beside the agent's. */
  'composer/promptFiles': request(keyed, answer<PromptFileRow[]>()),
  /**
   * Returns the text of the prompt file whose command is at the start of a draft; `none` without such a command, `canceled` if the user
   * canceled a question. Rejects with a sentence if something is missing. `text` is the draft's text up to its first chip.
   */
  'composer/expand': request(
    z.object({ key, text: z.string().max(MiB) }),
    answer<ExpandedPrompt | 'none' | 'canceled'>(),
  ),
  /** Returns symbols. They are requested separately, since language servers may take seconds. */
  'composer/symbols': request(z.object({ query }), answer<MentionRow[]>()),
  /** Returns the editor's current context. Rejects with a sentence if there is none. `pick` may return nothing. */
  'composer/capture': request(
    z.object({ kind: z.enum(['selection', 'terminal', 'pick']) }),
    answer<Attachment[]>(),
  ),
  /** Asks the user whether a prompt may contain a file outside of the folders. */
  'composer/askOutside': request(z.object({ uri: path }), answer<OutsideAnswer>()),
  /** Returns the file or folder of the workspace whose path was pasted, if there is one. */
  'composer/pastedPath': request(z.object({ path }), answer<Attachment[]>()),
  /**
   * Returns the source of pasted code: the selection of an editor, or lines of an open file. Empty if there is no such place, or more than
   * one.
   */
  'composer/pastedCode': request(z.object({ code: z.string().min(1).max(100_000) }), answer<Attachment[]>()),
  /** Returns the files and folders that were dropped onto the view. Rejects with a sentence if none can be attached. */
  'composer/dropped': request(
    z.object({ uris: z.array(z.string().max(32_768)).max(1000) }),
    answer<Attachment[]>(),
  ),
  /** Shows a comment of the draft at its lines. */
  'composer/openComment': z.object({ id }),
  /** Returns the last prompts before an entry. The page itself has only a part of a long conversation. */
  'composer/prompts': request(z.object({ key, before: index }), answer<EarlierPrompts>()),
  /** Moves a queued prompt to another position. The prompt at position 0 is sent next. */
  'composer/moveQueued': queued.extend({ to: index }),
  /** Returns a queued prompt to the composer with `conversation/returnPrompts`, unless the prompt was sent in the meantime. */
  'composer/editQueued': queued,
  /** Removes a queued prompt. Returns false if the prompt was sent in the meantime. */
  'composer/removeQueued': request(queued, answer<boolean>()),
  /** Stops the running turn, if any, and sends this queued prompt next. */
  'composer/sendNow': queued,
  /** Lets the user choose several agents to which the stored draft is sent. The host sends `composer/sent` when an agent has the draft. */
  'composer/sendTo': keyed,
  /** Sends the prompts of a paused queue. */
  'composer/resumeQueue': keyed,
  /** Stores the height of the composer that the user set, in pixels; `undefined` for automatic height. */
  'composer/height': z.object({ height: z.number().positive().max(10_000).optional() }),

  // ---- the session -------------------------------------------------------------------------------------------------

  /** Starts a new session with this agent, or else with the default agent. */
  'conversation/start': z.object({ agentId: id.optional() }),
  /** Shows a session of the list in `ConversationHead.sessions`, in this view or in the view that already shows the session. */
  'conversation/openSession': z.object({ agentId: id, sessionId: id }),
  /** The session switcher was opened or closed. While it's open, the head contains the list of sessions. */
  'conversation/switcher': z.object({ isOpen: z.boolean() }),
  'conversation/cancel': keyed,
  /** Opens the plan of a pending request as a document. */
  'conversation/openPlan': z.object({ key, requestId: id }),
  /** Stops a tool call or a terminal's command, but not the turn. */
  'conversation/cancelWork': z.object({ key, work }),
  /** Returns the last output line of each task, in the same order; empty for a task without output. */
  'conversation/lastLines': request(z.object({ key, work: z.array(work).max(200) }), answer<string[]>()),
  /**
   * Answers a permission request, or cancels it if no option is given. `reason` is a prompt for the running turn with the reason or other
   * instructions. If the request isn't pending anymore, the reason goes to the composer.
   */
  'conversation/permission': z.object({
    key,
    requestId: id,
    optionId: id.optional(),
    reason: z.object({ id: promptId, text: draftText.shape.text }).optional(),
  }),
  /**
   * Answers a form with values by key, or accepts a URL, which the host then opens. The code that handles the form validates the values.
   */
  'conversation/elicitation': z.object({
    key,
    requestId: id,
    answer: z.discriminatedUnion('action', [
      z.object({ action: z.literal('accept'), content: z.record(id, formValue).optional() }),
      z.object({ action: z.literal('decline') }),
      z.object({ action: z.literal('cancel') }),
    ]),
  }),
  /** Returns the rules that could allow requests like this one; empty if no rule may. */
  'conversation/offerRules': request(z.object({ key, requestId: id }), answer<RuleOffers>()),
  /**
   * Saves the suggested rule at this position, or keeps it for the session only, and allows the pending request. The request contains the
   * rule's JSON that the user saw. Rejects with a sentence if nothing was saved.
   */
  'conversation/saveRule': request(
    z.object({
      key,
      requestId: id,
      offer: index,
      json: z.string().max(65_536),
      target: z.enum(['session', 'user', 'workspace']),
    }),
    answer<void>(),
  ),
  /** Sets the permission level of a session. The user must confirm *Accept Everything*. */
  'conversation/allow': z.object({ key, allowed: z.enum(allowances) }),
  /** Opens the settings that contain a rule, and reveals the rule. */
  'conversation/openRule': z.object({
    scope: z.enum(['user', 'workspace', 'folder']),
    folder: z.string().max(4096).optional(),
    action: z.enum(['allow', 'reject']),
    text: z.string().max(65_536),
  }),
  'conversation/option': z.object({ key, optionId: id, value: z.union([id, z.boolean()]) }),
  /** Sets the value of an option with which new sessions of the agent start. Without a value, the agent's own default applies. */
  'options/default': z.object({ key, optionId: id, value: z.union([id, z.boolean()]).optional() }),
  /** Marks a value of an option as a favorite, or removes the mark. */
  'options/favorite': z.object({ key, optionId: id, value: id }),
  'conversation/card': z.object({ cardId: id, action: cardAction }),
  /** Renames the session. An empty title restores the automatic title. */
  'conversation/rename': z.object({ key, title: z.string().max(4096) }),
  /** Installs an agent from the empty view once the user has confirmed the commands, and then starts a session with it. */
  'agents/install': z.object({ id: registryId }),
  /** The user confirmed the installation that the question with this id describes. */
  'agents/confirmInstall': z.object({ id: registryId, question: z.number().int() }),
  'agents/cancelInstall': z.object({ id: registryId }),

  // ---- changed files -----------------------------------------------------------------------------------------------

  /** Opens a file's diff against its text without this session's changes. */
  'changes/open': z.object({ key, path }),
  /** Opens the diffs of all files in one editor. */
  'changes/review': keyed,
  /** Undoes the changes of a file or a turn after the user has confirmed. Without `path` and `turn`, undoes all changes. */
  'changes/undo': z.object({ key, path: path.optional(), turn: index.optional() }),
  /** Keeps the changes of a file; without a path, of all files. */
  'changes/keep': z.object({ key, path: path.optional() }),
  /** Undoes the user's decisions about the changes in a file. */
  'changes/undecide': z.object({ key, path }),
  /** Sets whether the editor of this window follows agents. */
  'follow/set': z.object({ on: z.boolean() }),

  // ---- the editor ----------------------------------------------------------------------------------------

  /**
   * Opens a link: `http(s)` in the browser after VS Code has asked, a path or file URI in the editor. `of` is `user` if the user attached
   * the file, which is then on this machine even if the agent isn't, and `text` if the link is in a text, whose paths are those of the
   * agent's machine.
   */
  'conversation/link': z.object({ href: path, of: z.enum(['user', 'text']).optional() }),
  'conversation/file': z.object({ path, line: line.optional() }),
  /** Opens the diff of a tool call's content in VS Code's diff editor. */
  'conversation/diff': changePlace,
  /** Returns the 1-based line at which the texts of a change begin in its file; `null` if unknown. */
  'conversation/findFragment': request(changePlace, answer<number | null>()),
  /** Turns the editor tools off or on for a session. */
  'conversation/editorTools': z.object({ key, isOn: z.boolean() }),
  'conversation/copy': z.object({ text: z.string().max(64 * MiB) }),
  /** Copies all of the agent's messages in a turn. */
  'conversation/copyAnswer': z.object({ key, turn: index }),
  /** Inserts code at the cursor in the editor. */
  'conversation/insertCode': z.object({ text: codeText }),
  /** Opens a text as an untitled document. */
  'conversation/openText': z.object({ text: codeText, language }),
  /**
   * Shows a diff in which the code is applied to the named file, or to the active editor's file. Writes the file if the user confirms.
   * `from` and `to` are the first and the last line to replace.
   */
  'conversation/applyCode': z.object({
    text: codeText,
    language,
    path: z.string().min(1).max(4096).optional(),
    from: line.optional(),
    to: line.optional(),
  }),
  /** Opens a file that exists only in the conversation, in the editor that VS Code has for this type. */
  'conversation/openBlob': z.object({ name: z.string().max(4096), mimeType, data: base64 }),
  /** Returns the choices about later turns for a prompt that is edited in place. */
  'conversation/editOptions': request(z.object({ key, entryId: id }), answer<EditOptions | null>()),
  /** Sends the edited prompt instead of the original. Returns whether the prompt is stored; if not, the user has seen the reason. */
  'conversation/resendEdited': request(
    z.object({
      key,
      edit: editedEntry,
      edited: z.object({
        id: promptId,
        draft,
        restores: z.boolean(),
        forgets: z.boolean(),
        /** There was nothing to choose, so the prompt just continues the conversation. */
        isSetAside: z.boolean(),
      }),
    }),
    answer<boolean>(),
  ),
  /**
   * Answers the host's message of the same name. `index` is the index of the first entry in view; at the end of the conversation, of the
   * last entry.
   */
  'conversation/outline': z.object({ key, index }),
  /** Runs a command that applies to one entry. */
  'actions/entry': z.object({ command: entryCommand, key, entryId: id }),
  /** The user's choice after a turn failed because the context is full. The failed prompt returns to the input. */
  'conversation/contextFull': z.object({ key, entryId: id, next: z.enum(['compact', 'continue', 'edit']) }),
  /** Continues with the agent that the conversation had before this notice. */
  'conversation/goBack': z.object({ key, entryId: id }),
  /** Continues with another agent. */
  'conversation/continueWith': z.object({ key, agentId: id }),
  /** Runs one of Parley's commands. */
  'conversation/command': z.object({ command: pageCommand }),
} as const

/** The host's messages to a conversation's page. */
export interface ConversationHostMessages {
  /** The whole state, sent when the webview is ready, is shown again, or requests it. */
  'conversation/snapshot': ConversationSnapshot
  /** Sent at most once per animation frame. */
  'conversation/patch': ConversationPatch
  /**
   * A comment on lines was added to this conversation's draft, or changed; without `item`, it was deleted. The host has already stored the
   * draft. Unlike other context, the comment doesn't move the focus.
   */
  'composer/comment': { key: string; id: string; item?: Attachment }
  /** Adds context to the composer, for example for *Add Selection to Conversation*. */
  'conversation/attach': Attachment
  /**
   * Returns prompts to the composer, before its content. The page answers with `conversation/movedToComposer`. The host repeats the message
   * until then; prompts that the composer already has are ignored.
   */
  'conversation/returnPrompts': { key: string; prompts: ReturnedPrompt[] }
  /** For *Send to Several Agents…*: the page completes the draft, stores it and sends `composer/sendTo`. */
  'composer/sendTo': undefined
  /** An agent has this draft. The composer is emptied if it still has the same text and items. */
  'composer/sent': { key: string; text: string; ids: string }
  'conversation/focus': undefined
  /** Opens the outline at the turn in view. The page answers with the message of the same name. */
  'conversation/outline': undefined
  /** Reveals the prompt at this index. */
  'conversation/goTo': { index: number }
  'conversation/navigate': { to: NavigateTo; requestId?: string }
  /** Whether this window follows its agents, so that the editor shows where they work. */
  'follow/shown': { on: boolean }
  /** The theme's colors for code as `#rrggbb[aa]`, by token type. Missing colors have a fallback. */
  'appearance/tokens': Record<string, string>
  /** Whether diffs are side by side where there is space, or always inline. */
  'appearance/diff': { sideBySide: boolean }
  /** Sent whenever a file has changed or another conversation is shown. */
  'changes/shown': ChangedFiles
  'composer/activeContext': ActiveContext
  'composer/sendKey': { key: 'enter' | 'ctrlEnter' }
  /** Collapses or expands all turns. */
  'conversation/foldTurns': { folded: boolean }
  /**
   * Appends a prompt to the composer's content. `quiet` means that the composer doesn't take the focus. `instead` is a prompt that was
   * appended before and that the new one replaces, unless the user has changed it.
   */
  'actions/fill': { blocks: ContentBlock[]; quiet?: boolean; instead?: ContentBlock[] }
  /** Starts to edit a prompt in place. */
  'actions/edit': { entryId: string }
  /** Quotes the selected text of the conversation in the composer. */
  'actions/quote': undefined
  /** Opens the find widget, or focuses it. `match` contains what to search for, and the index of the entry at which the search starts. */
  'find/show': { match?: { query: FindQuery; from: number } }
  /** The results of a search, sent again when the conversation changes. */
  'find/results': FindResult
  /** Plays a sound, because a turn ended or waits for the user. */
  'view/sound': { kind: 'done' | 'waiting' }
  /** In the side bar: shows this page, and with `focus` also focuses it. */
  'view/page': { page: ViewPage; focus: boolean }
}
