import * as z from 'zod'
import type { ChangeTracker } from '../../changes/change-tracker.ts'
import type { ChangeScope } from '../../changes/session-changes.ts'
import { nameOfUri } from '../../common/block-chip.ts'
import { Owner, toDisposable } from '../../common/disposable.ts'
import type { Draft } from '../../common/draft.ts'
import type { KeyValueStore } from '../../common/key-value-store.ts'
import { planPlace } from '../../common/plan-uri.ts'
import { type Attachment, type LineCommentRef, MAX_COMMENT_LENGTH } from '../../conversation/attachment.ts'
import { findLines } from '../../editor/comment-lines.ts'
import { pathOfUri } from '../../editor/mentions/prompt-content.ts'
import type { OpenSession } from '../../sessions/open-session.ts'
import type { OpenSessions } from '../../sessions/open-sessions.ts'
import { nameInFolders } from '../changes/file-names.ts'
import type { DraftStore } from '../storage/draft-store.ts'
import { HAS_COMMENTS } from '../storage/stores.ts'
import type { CommentAction, CommentThreads, ShownComment } from '../workbench.ts'
import type { ConversationSurfaces } from './conversation-surface.ts'

/** The key for sent comments in the storage of the workspace. */
const STORED = 'parley.lineComments'
/** The maximum number of sent comments. The oldest ones are removed first. */
const MAX_SENT = 200
/** How long a comment that left a draft may take to appear in a queue or another draft, in milliseconds. */
const MOVE_MS = 100

const stored = z.object({
  id: z.string().min(1).max(128),
  uri: z.string().min(1).max(32_768),
  startLine: z.number().int().positive(),
  endLine: z.number().int().positive(),
  quote: z.string().max(MAX_COMMENT_LENGTH),
  text: z.string().max(MAX_COMMENT_LENGTH),
  state: z.enum(['queued', 'sent', 'addressed', 'resolved']),
  key: z.string(),
  since: z.number().int().nonnegative().optional(),
  agentName: z.string().max(4096).optional(),
})

interface Comment extends ShownComment {
  /** the key of the comment's conversation */
  key: string
  /** the number of the turn that got the comment; later changes of the agent may address it */
  since?: number
}

interface LineCommentsOptions {
  drafts: DraftStore
  threads: CommentThreads
  surfaces: ConversationSurfaces
  sessions: Pick<OpenSessions, 'withKey'>
  tracker: ChangeTracker
  store: KeyValueStore
  /** the folders of the workspace */
  folders: () => ReadonlyArray<{ name: string; path: string }>
  onAdd: (agentName: string | undefined) => void
}

/**
 * The user's comments on lines of documents. An unsent comment belongs to a draft or a queued prompt and is also shown at its lines; a
 * change in either place changes the other. A sent comment stays at its lines until the user removes it, and counts as addressed when its
 * agent changes those lines.
 */
export class LineComments extends Owner {
  readonly #options: LineCommentsOptions
  readonly #comments = new Map<string, Comment>()
  /** By conversation: the ids of comments in its draft and in its queued prompts. */
  readonly #unsent = new Map<string, { draft: Set<string>; queued: Set<string> }>()
  /** ids of comments that their page may not have received yet; until then, a draft that the page stores may lack the comments */
  #unconfirmed = new Set<string>()
  /**
   * ids of comments that were deleted at their lines; a page may still store a draft with them, even for a conversation that it no longer
   * shows
   */
  readonly #deleted = new Set<string>()
  #timer: NodeJS.Timeout | undefined

  constructor(options: LineCommentsOptions) {
    super()
    this.#options = options
    const { drafts, threads, store, tracker } = options
    for (const value of z.array(z.unknown()).catch([]).parse(store.get(STORED))) {
      const { success, data } = stored.safeParse(value)
      if (success && data.startLine <= data.endLine) this.#comments.set(data.id, data)
    }
    for (const comment of this.#comments.values()) threads.show(comment)
    for (const key of drafts.keys()) this.#follow(key)
    this.#removeOrSend()
    this.register(drafts.onDidChangeItems(key => this.#follow(key)))
    this.register(threads.onDidAct(action => this.#act(action)))
    this.register(tracker.files.onDidChange(paths => this.#changed(paths)))
    this.register(toDisposable(() => clearTimeout(this.#timer)))
  }

  /** Opens the document of a comment at its lines. */
  reveal(id: string): Promise<void> {
    return this.#options.threads.reveal(id)
  }

  /** Removes the comments of a queued prompt that the user removed, since the comments aren't sent. */
  promptRemoved({ items }: Draft<Attachment>): void {
    for (const { id } of items) this.#remove(id)
  }

  /** Returns the comments on a document in a conversation's draft. */
  inDraft(key: string, uri: string): Attachment[] {
    return this.#options.drafts
      .get(key)
      .items.filter(({ content }) => content.type === 'comment' && content.uri === uri)
  }

  /** Removes comments from the draft that are now in a queued prompt. */
  leaveDraft(key: string, items: readonly Attachment[]): void {
    for (const { id } of items) this.#write({ key, id })
  }

  // ---- drafts and queued prompts -----------------------------------------------------------------------------------

  #follow(key: string): void {
    const { drafts } = this.#options
    const prompts = drafts.prompts(key).flatMap(({ items }) => items)
    const take = (items: readonly Attachment[], state: 'draft' | 'queued') => {
      const ids = new Set<string>()
      for (const { id, content } of items) {
        if (content.type !== 'comment' || (state === 'draft' && this.#deleted.has(id))) continue
        ids.add(id)
        this.#deleted.delete(id)
        this.#unconfirmed.delete(id)
        const known = this.#comments.get(id)
        // a queued prompt keeps the lines that the comment had when the prompt was written
        if (known?.state === 'queued' && state === 'queued' && known.key === key) continue
        // a page may store an older position of the comment before it gets the new one
        const newest = known?.state === 'draft' ? known : content
        const { uri, startLine, endLine, quote, text } = newest
        this.#show({ uri, startLine, endLine, quote, text, id, key, state, ...this.#agentOf(key) })
      }
      return ids
    }
    const queued = take(prompts, 'queued')
    const { items } = drafts.get(key)
    const draft = take(items, 'draft')
    for (const { id } of items) if (this.#deleted.has(id)) this.#write({ key, id })
    if (queued.size + draft.size > 0 || this.#unsent.has(key)) this.#unsent.set(key, { draft, queued })
    else return
    this.#timer ??= setTimeout(() => this.#removeOrSend(), MOVE_MS)
  }

  /** Removes comments that were deleted from a draft, and marks those of prompts that left the queue as sent. */
  #removeOrSend(): void {
    this.#timer = undefined
    const unsent = [...this.#unsent.values()]
    for (const comment of [...this.#comments.values()]) {
      const { id, state } = comment
      const isIn = (where: 'draft' | 'queued') => unsent.some(one => one[where].has(id))
      if (state === 'draft' && !isIn('draft') && !this.#unconfirmed.has(id)) this.#remove(id)
      if (state === 'queued' && !isIn('queued') && !isIn('draft')) this.#sent(comment)
    }
    this.#store()
  }

  #sent(comment: Comment): void {
    const since = this.#open(comment.key)?.session.state.turn
    const sent: Comment = { ...comment, state: 'sent', ...this.#agentOf(comment.key) }
    if (since !== undefined) sent.since = since
    this.#show(sent)
    const path = pathOfUri(comment.uri)
    if (path !== undefined) this.#changed(new Set([path]))
  }

  /** Changes the comment in the stored draft, and in the conversation's page if there is one. */
  #write({ key, id }: Pick<Comment, 'key' | 'id'>, item?: Attachment): void {
    const { drafts, surfaces } = this.#options
    const { items } = drafts.get(key)
    const isKnown = items.some(one => one.id === id)
    const changed = item
      ? isKnown
        ? items.map(one => (one.id === id ? item : one))
        : [...items, item]
      : items.filter(one => one.id !== id)
    const unconfirmed = new Set(this.#unconfirmed)
    drafts.setItems(key, changed)
    const isNotified = surfaces.withKey(key)?.commentChanged(key, id, item)
    // if a page that already has the comment stores a draft without it, the user removed or sent the comment
    if (isNotified && item && !isKnown) unconfirmed.add(id)
    // only a draft that the page stores later proves that the page has the comment
    this.#unconfirmed = unconfirmed
  }

  // ---- what the user does at the lines -----------------------------------------------------------------------------

  #act(action: CommentAction): void {
    if (action.type === 'add') {
      const { type: _, ...added } = action
      const { controller } = this.#options.surfaces.active
      // a comment on a plan belongs to the plan's conversation
      const key = planPlace(added.uri)?.key ?? controller.key
      const comment: Comment = { ...added, key, state: 'draft', ...this.#agentOf(key) }
      this.#show(comment)
      this.#write(comment, this.#itemOf(comment))
      this.#options.onAdd(key === controller.key ? controller.agentName : comment.agentName)
      return
    }
    const comment = this.#comments.get(action.id)
    if (!comment) return
    const isDraft = comment.state === 'draft'
    switch (action.type) {
      case 'edit':
        if (isDraft) this.#update({ ...comment, text: action.text })
        return
      case 'move': {
        const { uri, startLine, endLine, quote } = action
        // a sent comment keeps the quote that the agent got, which shows whether the lines have changed
        this.#update({ ...comment, uri, startLine, endLine, ...(isDraft && { quote }) })
        return
      }
      case 'delete':
        if (isDraft) {
          this.#deleted.add(comment.id)
          this.#write(comment)
        }
        this.#remove(comment.id)
        this.#store()
        return
      case 'resolve':
      case 'reopen':
        if (comment.state === 'draft' || comment.state === 'queued') return
        this.#update({ ...comment, state: action.type === 'resolve' ? 'resolved' : 'sent' })
    }
  }

  #update(comment: Comment): void {
    this.#show(comment)
    const { id, key, state } = comment
    if (state !== 'draft') {
      this.#store()
      return
    }
    const isIn = this.#options.drafts.get(key).items.some(one => one.id === id)
    // the comment may just have left the draft
    if (isIn || this.#unconfirmed.has(id)) this.#write(comment, this.#itemOf(comment))
  }

  #itemOf({ id, uri, startLine, endLine, quote, text }: Comment): Attachment {
    const content: LineCommentRef = { type: 'comment', uri, startLine, endLine, quote, text }
    const at = `#L${startLine}-L${endLine}`
    const lines = startLine === endLine ? `${startLine}` : `${startLine}-${endLine}`
    const path = pathOfUri(uri)
    const shown = path === undefined ? pathIn(uri) : (nameInFolders(this.#options.folders(), path) ?? path)
    const detail = `${shown}:${lines}\n${text}`
    const label = nameOfUri(`${uri.replace(/#.*$/s, '')}${at}`)
    return { id, label, icon: 'comment', detail: detail.slice(0, 2000), content }
  }

  // ---- what the agent does -----------------------------------------------------------------------------------------

  #changed(paths: ReadonlySet<string>): void {
    const { rules } = this.#options.tracker.shared
    const keys = new Set([...paths].map(path => rules.key(path)))
    for (const comment of [...this.#comments.values()]) {
      if (comment.state !== 'sent') continue
      const path = pathOfUri(comment.uri)
      if (path === undefined || !keys.has(rules.key(path))) continue
      const open = this.#open(comment.key)
      if (!open) continue
      const since = comment.since ?? open.session.state.turn
      const addressed = addressedBy(open.changes, open.key, path, { ...comment, since })
      if (addressed === undefined) continue
      this.#show({ ...comment, since, ...addressed })
      this.#store()
    }
  }

  #open(key: string): OpenSession | undefined {
    return this.#options.sessions.withKey(key)
  }

  #agentOf(key: string): { agentName?: string } {
    const name = this.#open(key)?.agentName
    return name === undefined ? {} : { agentName: name }
  }

  // ---- all comments ------------------------------------------------------------------------------------------------

  #show(comment: Comment): void {
    this.#comments.set(comment.id, comment)
    this.#options.threads.show(comment)
  }

  #remove(id: string): void {
    this.#unconfirmed.delete(id)
    if (this.#comments.delete(id)) this.#options.threads.hide(id)
  }

  /** Stores the lines of queued and sent comments. Comments of drafts are stored with their drafts. */
  #store(): void {
    const all = [...this.#comments.values()]
    const sent = all.filter(({ state }) => state !== 'draft')
    for (const { id } of sent.splice(0, Math.max(0, sent.length - MAX_SENT))) this.#remove(id)
    this.#options.store.set(STORED, sent.length > 0 ? sent : undefined)
    this.#options.store.set(HAS_COMMENTS, all.length > 0 || undefined)
  }
}

/** Returns the path of a document that isn't a file. */
function pathIn(uri: string): string {
  try {
    return decodeURIComponent(new URL(uri).pathname)
  } catch {
    return uri
  }
}

/**
 * Returns how the agent's changes since then affect a comment. Changes within its lines, or new lines next to them, address the comment;
 * other changes may move its lines. Returns `undefined` if nothing changes.
 */
function addressedBy(
  changes: Pick<ChangeScope, 'hunks' | 'current'>,
  session: string,
  path: string,
  { startLine, endLine, quote, since }: Comment & { since: number },
): Partial<Comment> | undefined {
  const file = changes.current(path)
  const hunks = changes
    .hunks(path)
    .filter(({ authors }) =>
      authors.some(({ turns }) => turns.some(turn => turn.session === session && turn.turn >= since)),
    )
  if (!file || hunks.length === 0) return undefined
  if (file.attributes.type === 'absent') return { state: 'addressed' }
  const found = findLines(file.text, quote, startLine)
  const first = (found ?? startLine) - 1
  const end = first + endLine - startLine + 1
  const words = new Set(quote.split(/\r?\n/).filter(line => line.trim() !== ''))
  const isThere = hunks.some(({ start, before, after }) => {
    // new lines directly before or after the commented line may be what the comment asks for
    const near = before.length === 0 ? 1 : 0
    if (start < end + near && start + after.length > first - near) return true
    return found === undefined && before.some(line => words.has(line.replace(/\r?\n$/, '')))
  })
  if (isThere) return { state: 'addressed' }
  return found === undefined || found === startLine
    ? undefined
    : { startLine: found, endLine: found + endLine - startLine }
}
