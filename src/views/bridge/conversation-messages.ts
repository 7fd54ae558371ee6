/**
 * What a conversation's page may send. Sizes are bounded: a webview shows what an agent wrote, and is not trusted more
 * than the agent. `key`, in most of them: the conversation that the page shows.
 */
import * as z from 'zod'
import type { Entry } from '../../conversation/state.ts'
import { answer, nothing, request } from './contract.ts'
import type { Attachment, EarlierPrompts, MentionRow, RuleOffers } from './conversation.ts'

const MiB = 1024 * 1024
/** Ids come from agents: any text, an empty one too. */
const id = z.string().max(4096)
const key = z.string().min(1).max(256)
const path = z.string().min(1).max(32_768)
const base64 = z.string().max(64 * MiB)
const mimeType = z.string().max(256)
const index = z.number().int().nonnegative()
/** in a file, from 1 */
const line = z.number().int().positive()
/** as a fence names it */
const language = z.string().max(256)
const query = z.string().max(1024)
const codeText = z.string().max(16 * MiB)
/** Of what an agent sent: a prompt's own blocks never have it. */
const agentOnly = z.literal(true).optional()
const keyed = z.object({ key })

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
  }),
])
const refs = [
  z.object({ type: z.literal('file'), uri: path }),
  z.object({ type: z.literal('folder'), uri: path }),
  z.object({ type: z.literal('symbol'), uri: path, startLine: line, endLine: line }),
  z.object({ type: z.literal('problems'), uri: path.optional() }),
  z.object({ type: z.literal('changes'), staged: z.boolean() }),
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
  marks: z.array(z.object({ from: index, to: index, id })).max(1024),
})
export const draftItems = z.array(attachment).max(1024)
const draft = draftText.extend({ items: draftItems })
const promptId = z.string().min(1).max(64)
const queued = z.object({ key, id })

const formValue = z.union([
  z.string().max(MiB),
  z.number(),
  z.boolean(),
  z.array(z.string().max(16_384)).max(4096),
])
/** A change of a tool call's content, by its position. */
const changePlace = z.object({ key, entryId: id, content: index, change: index })
/** Of the registry. */
const registryId = z.string().min(1).max(64)

/** What an entry's own buttons run; each is also in the palette and in the context menu. */
const entryCommand = z.enum([
  'parley.copyMessage',
  'parley.editPrompt',
  'parley.sendAgain',
  'parley.restoreCheckpoint',
  'parley.undoRestore',
  'parley.forkFromHere',
])

export type ConversationMessages = typeof conversationMessages

export const conversationMessages = {
  // ---- what the page shows -----------------------------------------------------------------------------------------

  /** The page has loaded. Asks for a snapshot unless it `isShown`, which came early. Also sent after a gap in the revisions. */
  'conversation/ready': z.object({ isShown: z.boolean() }),
  /** Earlier entries, by index, `from` inclusive, `to` exclusive. */
  'conversation/entries': request(
    z
      .object({ key, from: index, to: index })
      .refine(
        range => range.from <= range.to && range.to - range.from <= 2000,
        'a range of at most 2000 entries',
      ),
    answer<Entry[]>(),
  ),
  /** The terminals whose output the page shows now: only theirs is sent, all of it at first. */
  'conversation/terminals': z.object({ key, ids: z.array(id).max(1000) }),
  /** The tool calls, by their entries, of which the page shows all: the others are sent without what is long. */
  'conversation/toolCalls': z.object({ key, ids: z.array(id).max(1000) }),
  /**
   * The index of the nearest prompt at or after `from`: 1, toward the end, or -1; `null` where there is none. Asked
   * where entries are not loaded.
   */
  'conversation/findPrompt': request(
    z.object({ key, from: index, direction: z.union([z.literal(1), z.literal(-1)]) }),
    answer<number | null>(),
  ),
  /** Searches the conversation, in place of what was searched before. A longer text isn't typed by a user. */
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
  /** The page no longer shows it. */
  'find/stop': nothing,
  /** Which theme the page is in, at first and whenever it changes. */
  'appearance/theme': z.object({ themeId: z.string().max(512) }),
  /** The user's layout for all diffs: side by side where there is space, or always inline. */
  'appearance/setDiff': z.object({ sideBySide: z.boolean() }),

  // ---- the composer and its queue ----------------------------------------------------------------------------------

  /**
   * A prompt leaves the composer. Never empty. It is the host's, and stored, once this resolves; if it rejects, with a
   * sentence, the composer keeps it.
   */
  'conversation/enqueue': request(z.object({ key, id: promptId, draft }), answer<void>()),
  /** Returned prompts are in the composer, whose draft this is, and in the queue no longer. */
  'conversation/takeBack': z.object({ key, ids: z.array(promptId).max(1024), draft }),
  'conversation/draft': draftText.extend({ key }),
  /** The draft's items, when others are there than before: they are larger than its text, and change less often. */
  'conversation/draftItems': z.object({ key, items: draftItems }),
  /** What `@` offers for what was typed behind it: open editors, context, files and folders. */
  'composer/mentions': request(z.object({ query }), answer<MentionRow[]>()),
  /** Symbols come apart: from programs that may take seconds. */
  'composer/symbols': request(z.object({ query }), answer<MentionRow[]>()),
  /** Asks the editor for context as it is now. Rejects with a sentence when there is none; picking may answer none. */
  'composer/capture': request(
    z.object({ kind: z.enum(['selection', 'terminal', 'pick']) }),
    answer<Attachment[]>(),
  ),
  /** Files and folders that were dropped onto the view. Rejects with a sentence when none can be taken. */
  'composer/dropped': request(
    z.object({ uris: z.array(z.string().max(32_768)).max(1000) }),
    answer<Attachment[]>(),
  ),
  /** The prompts before an entry, those nearest to it: a page has only a part of a long conversation. */
  'composer/prompts': request(z.object({ key, before: index }), answer<EarlierPrompts>()),
  /** Puts a queued prompt at another place; 0 is the next one. */
  'composer/moveQueued': queued.extend({ to: index }),
  /** Returns a queued prompt to the composer: it comes with `ReturnPrompts`, unless it was sent meanwhile. */
  'composer/editQueued': queued,
  /** Answers false when it was sent meanwhile. */
  'composer/removeQueued': request(queued, answer<boolean>()),
  /** Stops the running turn, if any, and sends this queued prompt next. */
  'composer/sendNow': queued,
  /** Sends the prompts of a paused queue. */
  'composer/resumeQueue': keyed,
  /** How tall the user made the composer, in pixels; `undefined`: it finds its height by itself. */
  'composer/height': z.object({ height: z.number().positive().max(10_000).optional() }),

  // ---- the session -------------------------------------------------------------------------------------------------

  /** Starts a new session with the agent, or with the default one. */
  'conversation/start': z.object({ agentId: id.optional() }),
  /** Shows the editor tab with the conversation of this key. */
  'conversation/revealTab': keyed,
  'conversation/cancel': keyed,
  /** Stops one tool call, or one terminal's command, and not the turn. */
  'conversation/cancelWork': z.object({
    key,
    work: z.union([z.object({ toolCallId: id }), z.object({ terminalId: id }), z.object({ subagentId: id })]),
  }),
  /** Without an option: canceled. */
  'conversation/permission': z.object({ key, requestId: id, optionId: id.optional() }),
  /**
   * Answers a form with values by key, or agrees to a URL, which the host then opens. Whether the values fit the form is
   * looked at where the form is known.
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
  /** Which rules could allow requests like this one; none when no rule may. */
  'conversation/offerRules': request(z.object({ key, requestId: id }), answer<RuleOffers>()),
  /**
   * Saves the offer at that position, whose JSON the user saw, and allows the request that waits. Rejects with a
   * sentence when nothing was saved.
   */
  'conversation/saveRule': request(
    z.object({
      key,
      requestId: id,
      offer: index,
      json: z.string().max(65_536),
      target: z.enum(['user', 'workspace']),
    }),
    answer<void>(),
  ),
  /** Opens the settings that contain a rule. */
  'conversation/openRules': z.object({
    scope: z.enum(['user', 'workspace', 'folder']),
    folder: z.string().max(4096).optional(),
  }),
  'conversation/option': z.object({ key, optionId: id, value: z.union([z.string().max(4096), z.boolean()]) }),
  /** Marks a value of an option as a favorite, or no longer. */
  'options/favorite': z.object({ key, optionId: id, value: z.string().max(4096) }),
  'conversation/card': z.object({ cardId: id, buttonId: id }),
  /** An empty title gives the session back the name it had without the user. */
  'conversation/rename': z.object({ key, title: z.string().max(4096) }),
  /** Installs an agent of the empty state, and begins a session with it. `stated`: its `action`, as the user saw it. */
  'agents/install': z.object({ id: registryId, stated: z.string().max(8192).optional() }),
  'agents/cancelInstall': z.object({ id: registryId }),

  // ---- changed files -----------------------------------------------------------------------------------------------

  /** Opens a file's diff against its text from before the session's first touch. */
  'changes/open': z.object({ key, path }),
  /** Opens all of them in one editor. */
  'changes/review': keyed,
  /** Brings back the texts from before, after the user confirmed it; without a path: of all files. */
  'changes/undo': z.object({ key, path: path.optional() }),
  /** Accepts the agent's current version; without a path: of all files. */
  'changes/keep': z.object({ key, path: path.optional() }),
  /** Whether this window follows its agents. */
  'follow/set': z.object({ on: z.boolean() }),

  // ---- the editor around it ----------------------------------------------------------------------------------------

  /** A link in prose: http(s) opens outside (asked by VS Code), a path or file URI opens in the editor. */
  'conversation/link': z.object({ href: path }),
  'conversation/file': z.object({ path, line: line.optional(), column: line.optional() }),
  /** Opens the diff of a tool call's content in VS Code's diff editor. */
  'conversation/diff': changePlace,
  /** The line, from 1, at which the texts of a change begin in its file; `null` if unknown. */
  'conversation/findFragment': request(changePlace, answer<number | null>()),
  'conversation/copy': z.object({ text: z.string().max(64 * MiB) }),
  /** Puts code where the cursor is in the editor. */
  'conversation/insertCode': z.object({ text: codeText }),
  /** Opens a text as a document that has no file yet. */
  'conversation/openText': z.object({ text: codeText, language }),
  /**
   * Shows what a file would be with the code in it, and writes it when the user says so: the file that the code names,
   * or the one in the editor. `from`, `to`: the first and the last line that it replaces.
   */
  'conversation/applyCode': z.object({
    text: codeText,
    language,
    path: z.string().min(1).max(4096).optional(),
    from: line.optional(),
    to: line.optional(),
  }),
  /** Opens a file that exists only in the conversation, in VS Code's editor for it. */
  'conversation/openBlob': z.object({ name: z.string().max(4096), mimeType, data: base64 }),
  /** Runs a command for one entry. */
  'actions/entry': z.object({ command: entryCommand, key, entryId: id }),
  /** Runs one of Parley's own commands; the host has the list of those allowed. */
  'conversation/command': z.object({ command: z.string().max(256) }),
} as const
