import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { ConfigOption } from '../acp/model.ts'
import type { Disposable } from '../common/disposable.ts'
import { Emitter } from '../common/event.ts'
import type { SecretRegistry } from '../common/secrets.ts'
import { type SessionId, sessionKey } from '../common/session-key.ts'
import { mergeInSteps } from '../conversation/replay/merge-entries.ts'
import type { SavedConversation } from '../conversation/replay/restore-state.ts'
import { runAllSteps, StepBudget, type SteppedWork } from '../conversation/replay/stepped-work.ts'
import type { Entry } from '../conversation/state.ts'
import type { Leases } from './leases.ts'
import type { TranscriptDatabase } from './transcript-database.ts'
import {
  copyOf,
  type StoredCopy,
  separateCopy,
  sessionIdOf,
  type TranscriptChanges,
  TranscriptRows,
} from './transcript-rows.ts'

const NO_KEYS: ReadonlySet<string> = new Set()

/** A write of a conversation or of a separate copy. */
export interface WrittenConversation {
  agentId: string
  /** the stored id: the session's id, and that of a separate copy */
  id: string
  /** the revisions; `before` is absent if nothing was stored */
  before: string | undefined
  after: string
  /** positions of the written entries; absent: all entries */
  positions: number[] | undefined
}

export interface TranscriptsOptions {
  database: TranscriptDatabase
  leases: Leases
  /** The secrets to redact. */
  secrets: SecretRegistry | undefined
  now: () => number
}

/**
 * The saved conversations on this machine, stored entry by entry. A saved conversation can be shown before its agent has started, and even
 * if the agent can't load it. All windows share them. A session is open in one window at a time, and only this window writes its
 * conversation; writes by another window are saved separately and merged when the conversation is read. No method throws: what can't be
 * saved is reported.
 */
export class Transcripts implements Disposable {
  readonly #database: TranscriptDatabase
  readonly #leases: Leases
  readonly #now: () => number
  readonly #rows: TranscriptRows
  /** by agent and id of the copy: the revision that this window last wrote or read */
  readonly #revisions = new Map<string, string>()
  /**
   * by agent and id of the copy: the separate copies that were merged into the conversation when this window read it, with their revisions
   */
  readonly #merged = new Map<string, Array<{ copy: StoredCopy; revision: string }>>()
  /** the keys of all sessions with saved data, and the version of the database when they were read */
  #savedKeys: { version: string; keys: ReadonlySet<string> } | undefined
  readonly #wrote = new Emitter<WrittenConversation>()
  readonly #deleted = new Emitter<SessionId>()

  readonly onDidWrite = this.#wrote.event
  /** Fires when a saved conversation was deleted. */
  readonly onDidDelete = this.#deleted.event

  constructor({ database, leases, secrets, now }: TranscriptsOptions) {
    this.#database = database
    this.#leases = leases
    this.#now = now
    this.#rows = new TranscriptRows(database, secrets)
    leases.onDidChange(({ agentId, sessionId }) => {
      const key = sessionKey(...copyOf(agentId, sessionId))
      this.#revisions.delete(key)
      this.#merged.delete(key)
    })
  }

  /**
   * Writes the changes, all or none. Returns whether they're on disk. Partial changes are refused if another window has the session or has
   * written the conversation meanwhile, or if the first half of a secret was already written. A whole conversation (`replace`) is always
   * accepted; it's saved separately while another window has the session.
   */
  write(agentId: string, sessionId: string, changes: TranscriptChanges): boolean {
    if (!changes.replace && this.#rows.completesSecret(changes)) return false
    const written = this.#database.transaction((): WrittenConversation | undefined => {
      const isOurs = this.#leases.take(agentId, sessionId)
      const whole = copyOf(agentId, sessionId)
      const copy = isOurs ? whole : separateCopy(whole, this.#leases.owner)
      const key = sessionKey(...copy)
      const known = this.#revisions.get(key)
      const onDisk = this.#rows.revision(copy)
      const fits = onDisk === known && (isOurs || known !== undefined) && !this.#merged.has(key)
      if (!changes.replace && !fits) return undefined
      if (changes.replace) {
        // `changes` doesn't include the other window's writes
        if (onDisk !== undefined && onDisk !== known) this.#rows.setApart(copy, onDisk)
        this.#rows.remove(copy)
        if (isOurs) this.#removeMerged(key)
      }
      const after = this.#rows.write(copy, changes, this.#now())
      this.#revisions.set(key, after)
      const positions = changes.replace ? undefined : positionsOf(changes)
      return { agentId, id: copy[1], before: onDisk, after, positions }
    }, undefined)
    if (written) {
      this.#database.worked()
      this.#addKey(agentId, sessionId)
      this.#wrote.fire(written)
    }
    return written !== undefined
  }

  /** The saved conversation, merged with separate copies of other windows; `undefined` if there is none. */
  read(agentId: string, sessionId: string): SavedConversation | undefined {
    return this.#database.transaction(
      () => {
        const copy = copyOf(agentId, sessionId)
        const key = sessionKey(...copy)
        const revision = this.#rows.revision(copy)
        const { apart, conversation } = this.#readMerged(copy)
        // if this window already writes the conversation, its known revision stays
        if (!this.#revisions.has(key)) {
          if (revision !== undefined) this.#revisions.set(key, revision)
          if (apart.length > 0) this.#merged.set(key, apart)
        }
        return conversation
      },
      undefined,
      'DEFERRED',
    )
  }

  /** The session's last saved options; `undefined` if there are none. */
  options(agentId: string, sessionId: string): ConfigOption[] | undefined {
    return this.#database.attempt(() => this.#rows.options(copyOf(agentId, sessionId)), undefined)
  }

  /**
   * The last `last` entries of a long conversation, with their terminals; `first`: the position of the first of these entries. `undefined`
   * for a conversation with at most `min` entries, or with separate copies, which only `read` merges.
   */
  readEnd(
    agentId: string,
    sessionId: string,
    min: number,
    last: number,
  ): { first: number; conversation: SavedConversation } | undefined {
    return this.#database.transaction(
      () => {
        const copy = copyOf(agentId, sessionId)
        const count = this.#rows.count(copy)
        if (count <= min || this.#rows.separateCopies(copy).length > 0) return undefined
        const first = count - last
        return { first, conversation: this.#rows.readFrom(copy, first) }
      },
      undefined,
      'DEFERRED',
    )
  }

  /** The first and the last entries of a saved conversation, without reading the others; `undefined` if there is none. */
  ends(
    agentId: string,
    sessionId: string,
    first: number,
    last: number,
  ): { first: Entry[]; last: Entry[] } | undefined {
    return this.#database.transaction(
      () => {
        const whole = copyOf(agentId, sessionId)
        const copies = [whole, ...this.#rows.separateCopies(whole).map(({ copy }) => copy)]
        const copy = copies.find(copy => this.#rows.count(copy) > 0)
        if (!copy) return undefined
        const count = this.#rows.count(copy)
        return {
          first: this.#rows.readPart(copy, 0, first - 1),
          last: this.#rows.readPart(copy, Math.max(first, count - last), count - 1),
        }
      },
      undefined,
      'DEFERRED',
    )
  }

  /**
   * Saves a conversation from another machine. A saved copy on this machine stays: if the copies differ, the new one is saved separately,
   * and both are merged when the conversation is read. Other work runs in between, since comparing long conversations takes seconds.
   */
  async add(
    agentId: string,
    sessionId: string,
    conversation: SavedConversation,
  ): Promise<'added' | 'merged' | 'same' | 'failed'> {
    const whole = copyOf(agentId, sessionId)
    const added = await runWithPauses(this.#rows.asStored(conversation))
    const found = this.#database.transaction(() => this.#readMerged(whole), undefined, 'DEFERRED')
    if (!found) return 'failed'
    const known = found.conversation
    const isSame = known !== undefined && (await runWithPauses(includes(known, added)))
    const written = this.#database.transaction((): WrittenConversation | 'same' => {
      // the other window may be about to delete the saved conversation
      if (isSame && !this.#leases.isElsewhere(agentId, sessionId)) return 'same'
      const isFree = !known && !this.#rows.revision(whole) && !this.#leases.isOpen({ agentId, sessionId })
      const copy = isFree ? whole : separateCopy(whole, randomUUID())
      const entries = added.entries.map((entry, position) => ({ position, entry }))
      const after = this.#rows.write(copy, { ...added, replace: true, entries }, this.#now())
      return { agentId, id: copy[1], before: undefined, after, positions: undefined }
    }, undefined)
    if (!written) return 'failed'
    if (written === 'same') return written
    this.#database.worked()
    this.#addKey(agentId, sessionId)
    this.#wrote.fire(written)
    if (isSame) return 'same'
    return known ? 'merged' : 'added'
  }

  #readMerged(copy: StoredCopy) {
    const main = this.#rows.read(copy)
    const apart = this.#rows.separateCopies(copy).flatMap(({ copy, revision }) => {
      const conversation = this.#rows.read(copy)
      return conversation ? [{ copy, revision, conversation }] : []
    })
    const [first, ...others] = [...(main ? [main] : []), ...apart.map(({ conversation }) => conversation)]
    return {
      apart,
      conversation:
        first && others.reduce((one, other) => runAllSteps(mergeConversations(one, other)), first),
    }
  }

  /** The revision of the conversation, which changes with every write by any window; `undefined` if nothing is saved. */
  revision(agentId: string, sessionId: string): string | undefined {
    return this.#database.attempt(() => {
      const copy = copyOf(agentId, sessionId)
      const all = [
        this.#rows.revision(copy),
        ...this.#rows.separateCopies(copy).map(({ revision }) => revision),
      ]
      return all.join(' ').trim() || undefined
    }, undefined)
  }

  /** The keys of all sessions with saved data of their conversation. Returns the same object until they change. */
  keys(): ReadonlySet<string> {
    return this.#database.attempt(() => {
      const version = this.#database.foreignVersion
      if (this.#savedKeys?.version !== version) {
        const keys = this.#rows.all().map(copy => sessionKey(copy[0], sessionIdOf(copy)))
        this.#savedKeys = { version, keys: new Set(keys) }
      }
      return this.#savedKeys.keys
    }, NO_KEYS)
  }

  /** Whether any part of the conversation is saved. */
  has(agentId: string, sessionId: string): boolean {
    return this.keys().has(sessionKey(agentId, sessionId))
  }

  #addKey(agentId: string, sessionId: string): void {
    const key = sessionKey(agentId, sessionId)
    if (this.#savedKeys && !this.#savedKeys.keys.has(key))
      this.#savedKeys.keys = new Set(this.#savedKeys.keys).add(key)
  }

  /** The ids of the separate copies of the conversation. While this window has the session, writes by other windows add copies. */
  copies(agentId: string, sessionId: string): ReadonlySet<string> {
    return this.#database.attempt(
      () => new Set(this.#rows.separateCopies(copyOf(agentId, sessionId)).map(({ copy }) => copy[1])),
      NO_KEYS,
    )
  }

  /**
   * Deletes the saved conversation, or with `copies`, only separate copies among these. Returns whether nothing of the conversation is
   * saved anymore.
   */
  forget(agentId: string, sessionId: string, copies?: ReadonlySet<string>): boolean {
    const isRemoved = this.#database.transaction(() => {
      const whole = copyOf(agentId, sessionId)
      for (const { copy } of this.#rows.separateCopies(whole))
        if (!copies || copies.has(copy[1])) this.#rows.remove(copy)
      this.#rows.remove(whole)
      return true
    }, !this.#database.hasFile)
    if (!isRemoved) return false
    const key = sessionKey(...copyOf(agentId, sessionId))
    this.#revisions.delete(key)
    this.#merged.delete(key)
    this.#savedKeys = undefined
    this.#deleted.fire({ agentId, sessionId })
    this.#database.compactLater()
    return true
  }

  /** The stored copies, the oldest writes first. */
  byAge(): StoredCopy[] {
    return this.lastWrites().map(({ copy }) => copy)
  }

  /** The stored copies with the times of their last writes, in milliseconds since the epoch; 0: unknown. */
  lastWrites(): Array<{ copy: StoredCopy; at: number }> {
    return this.#database.attempt(() => this.#rows.lastWrites(), [])
  }

  /** Deletes a stored copy unless a window has its session open. Returns whether the copy was deleted. */
  discard(copy: StoredCopy): boolean {
    const session = { agentId: copy[0], sessionId: sessionIdOf(copy) }
    const removed = this.#database.transaction(() => {
      if (this.#leases.isOpen(session)) return false
      this.#rows.remove(copy)
      this.#revisions.delete(sessionKey(...copy))
      return true
    }, false)
    if (removed) {
      this.#savedKeys = undefined
      this.#deleted.fire(session)
      this.#database.compactLater()
    }
    return removed
  }

  dispose(): void {
    this.#wrote.dispose()
    this.#deleted.dispose()
  }

  /**
   * Deletes the separate copies that were merged when the conversation was read, since the whole conversation written now includes them.
   */
  #removeMerged(key: string): void {
    for (const { copy, revision } of this.#merged.get(key) ?? []) {
      if (this.#rows.revision(copy) === revision) this.#rows.remove(copy)
    }
    this.#merged.delete(key)
  }
}

function positionsOf({ entries, texts = [] }: TranscriptChanges): number[] {
  return [...new Set([...entries, ...texts].map(({ position }) => position))]
}

/** Whether merging the other conversation into the known one would change nothing. */
function* includes(known: SavedConversation, other: SavedConversation): SteppedWork<boolean> {
  const merged = yield* mergeConversations(known, other)
  // ignore ids and turns, since merging renumbers them
  const own = ({ entries }: SavedConversation) =>
    entries.flatMap(({ id: _, turn: __, ...entry }) => ('savedCopy' in entry ? [] : [entry]))
  const [all, before] = [own(merged), own(known)]
  if (all.length !== before.length) return false
  const budget = new StepBudget()
  for (const [i, entry] of all.entries()) {
    if (!isDeepStrictEqual(entry, before[i])) return false
    if (budget.isSpent()) yield
  }
  return isDeepStrictEqual(merged.terminals, known.terminals)
}

async function runWithPauses<T>(steps: SteppedWork<T>): Promise<T> {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    await setImmediate()
  }
}

/** Merges the conversation of two windows: common entries appear once, and all others stay. */
function* mergeConversations(
  known: SavedConversation,
  other: SavedConversation,
): SteppedWork<SavedConversation> {
  const terminals = new Map(known.terminals.map(terminal => [terminal.terminalId, terminal]))
  for (const terminal of other.terminals) {
    const own = terminals.get(terminal.terminalId)
    if (!own || terminal.output.length > own.output.length) terminals.set(terminal.terminalId, terminal)
  }
  // each conversation is complete up to a frame of its hosted agent's output: with the same agent, the one with the later frame is newer
  const isOtherLater =
    known.said !== undefined &&
    known.said.hostedId === other.said?.hostedId &&
    known.said.frame < other.said.frame
  const [old, now] = isOtherLater ? [known, other] : [other, known]
  const title = now.head.title ?? old.head.title
  // entries that are damaged in one copy may be readable in the other
  const readable = old.entries.filter(entry => entry.kind !== 'unknown' || entry.updateKind !== 'damaged')
  const { entries } = yield* mergeInSteps(now.entries, readable)
  return {
    ...(now.said && { said: now.said }),
    entries,
    terminals: [...terminals.values()],
    head: { ...old.head, ...now.head, ...(title === undefined ? {} : { title }) },
  }
}
