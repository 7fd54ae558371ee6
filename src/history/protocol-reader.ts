import path from 'node:path'
import * as z from 'zod'
import type { Json } from '../acp/wire/lenient.ts'
import { boundDepth } from '../common/bound-depth.ts'
import { isRecord } from '../common/is-record.ts'
import { MAX_IMPORTED_ENTRIES, MAX_IMPORTED_TERMINALS } from '../common/limits.ts'
import { entryKind } from '../conversation/entries/entry-kinds.ts'
import type { SavedConversation } from '../conversation/replay/restore-state.ts'
import type { Entry, TerminalState } from '../conversation/state.ts'
import {
  CONVERSATION_METHOD,
  carriedBy,
  type ExportedSession,
  LINES_FORMAT,
  metaHolderOf,
  TERMINAL_METHOD,
} from './protocol-lines.ts'
import { readEntry, readHead, readTerminal } from './transcript-schema.ts'

/** Maximum length of a line in bytes, and of all lines of an entry in characters. Longer lines and entries are left out. */
export const MAX_LINE = 64 * 1024 * 1024
/** Maximum length of all lines of a conversation in characters; further lines are left out. */
const MAX_CONVERSATION = 256 * 1024 * 1024

/**
 * Maximum number of members and elements in a line; further ones are cut. An entry combines the content of several messages of an agent.
 */
export const MAX_LINE_MEMBERS = 20_000
/** Maximum number of lines of an entry, which has a line for each block of a message: further lines are skipped. */
const MAX_ENTRY_LINES = 5000

export interface ReadConversation {
  session: ExportedSession
  conversation: SavedConversation
  /** number of characters of the conversation's lines */
  size: number
}

/** Numbers of skipped lines and entries of a file. */
export interface OmittedCounts {
  /** lines that are damaged, cut off, too long, or that belong to no conversation */
  lines: number
  /** entries and terminals that are missing, damaged, or beyond the limit */
  entries: number
  /** conversations that a newer version of Parley wrote */
  newer: number
}

const id = z.string().min(1).max(4096)
const title = z.string().max(10_000).optional().catch(undefined)
const flag = z.literal(true).optional().catch(undefined)
const count = z.number().int().nonnegative().catch(0)
const time = z.number().int().nonnegative().max(8.64e15).optional().catch(undefined)

const header = z.object({
  format: z.number(),
  agent: z.object({ id, name: z.string().max(1000).optional().catch(undefined) }),
  sessionId: id,
  cwd: z.string().max(32_768).refine(isAbsolute),
  additionalDirectories: z.array(z.string().max(32_768)).max(1000).catch([]),
  title,
  givenTitle: title,
  formerTitles: z.array(z.string().max(10_000)).max(100).optional().catch(undefined),
  archived: flag,
  pinned: flag,
  place: z.looseObject({}).optional().catch(undefined),
  createdAt: time,
  updatedAt: time,
  counts: z.object({ entries: count, terminals: count }).catch({ entries: 0, terminals: 0 }),
  head: z.unknown().optional(),
})

/** Whether the path is absolute on any system. */
function isAbsolute(folder: string): boolean {
  return path.posix.isAbsolute(folder) || path.win32.isAbsolute(folder)
}

/** A conversation whose lines are being read. */
interface Reading {
  header: z.output<typeof header>
  entries: Entry[]
  terminals: Map<string, TerminalState>
  /** number of entries and terminals beyond the limits of a conversation */
  surplus: number
  /** the lines of the entry that is being read, their length in characters, and the entry's position */
  messages: Json[]
  length: number
  position: number
  size: number
}

/** Reads lines of {@link conversationLines}, which may contain anything. Unreadable lines are skipped and counted. */
export class ProtocolReader {
  readonly skipped: OmittedCounts = { lines: 0, entries: 0, newer: 0 }
  readonly #now: number
  #reading: Reading | undefined
  /** whether the lines of the current conversation are left out */
  #skipping = false

  constructor(now: number) {
    this.#now = now
  }

  /** Reads a line. Returns the previous conversation, which is complete, if the line begins another one. */
  push(text: string): ReadConversation | undefined {
    if (text.trim() === '') return undefined
    const message = parsed(text)
    if (!message) {
      this.skipped.lines += 1
      return undefined
    }
    if (message.method === CONVERSATION_METHOD) {
      const done = this.end()
      this.#begin(message.params, text.length)
      return done
    }
    if (!this.#reading) {
      if (!this.#skipping) this.skipped.lines += 1
      return undefined
    }
    this.#reading.size += text.length
    if (this.#reading.size > MAX_CONVERSATION) return undefined
    this.#add(this.#reading, message, text.length)
    return undefined
  }

  /** Counts a line that is too long to be read, or that was cut. */
  skip(): void {
    this.skipped.lines += 1
  }

  /** Ends reading. Returns the last conversation, if it has entries. */
  end(): ReadConversation | undefined {
    const reading = this.#reading
    this.#reading = undefined
    this.#skipping = false
    if (!reading) return undefined
    this.#finishEntry(reading)
    const { header, entries, surplus, size } = reading
    const terminals = [...reading.terminals.values()]
    const missing =
      header.counts.entries - entries.length + Math.max(0, header.counts.terminals - terminals.length)
    // the file's counts already include surplus entries
    this.skipped.entries += Math.max(surplus, missing)
    if (entries.length === 0) return undefined
    const head = readHead(JSON.stringify(header.head ?? {})) as SavedConversation['head']
    return { session: this.#toSession(header), conversation: { entries, terminals, head }, size }
  }

  #begin(params: unknown, size: number): void {
    const format = isRecord(params) ? params.format : undefined
    if (typeof format === 'number' && format > LINES_FORMAT) {
      this.skipped.newer += 1
      this.#skipping = true
      return
    }
    const known = header.safeParse(params).data
    if (!known) {
      this.skipped.lines += 1
      return
    }
    this.#reading = {
      header: known,
      ...{ entries: [], terminals: new Map(), surplus: 0, messages: [], length: 0, position: -1, size },
    }
  }

  #add(reading: Reading, message: Json, length: number): void {
    if (message.method === TERMINAL_METHOD) {
      if (reading.terminals.size >= MAX_IMPORTED_TERMINALS) {
        reading.surplus += 1
        return
      }
      const { terminal } = isRecord(message.params) ? message.params : {}
      const read = isRecord(terminal) ? readTerminal(JSON.stringify(terminal)) : undefined
      const isNew = read && !reading.terminals.has(read.terminalId)
      if (isNew) reading.terminals.set(read.terminalId, read)
      else this.skipped.lines += 1
      return
    }
    const meta = readMeta(message)
    // lines without this data, such as plans and the normal ends of turns, are only for other programs
    if (!meta) return
    const position = meta.entry
    if (typeof position !== 'number' || position < reading.position) {
      this.skipped.lines += 1
      return
    }
    if (position > reading.position) {
      this.#finishEntry(reading)
      reading.position = position
      reading.length = 0
    }
    reading.length += length
    if (reading.messages.length >= MAX_ENTRY_LINES || reading.length > MAX_LINE) {
      this.skipped.lines += 1
      return
    }
    reading.messages.push(message)
  }

  #finishEntry(reading: Reading): void {
    const messages = reading.messages.splice(0)
    if (messages.length === 0) return
    const position = reading.entries.length
    if (position >= MAX_IMPORTED_ENTRIES) {
      reading.surplus += 1
      return
    }
    const entry = entryOf(messages, position)
    if (entry) reading.entries.push(entry)
  }

  #toSession({ agent, createdAt, updatedAt, ...known }: z.output<typeof header>): ExportedSession {
    const { sessionId, cwd, additionalDirectories, title, givenTitle, formerTitles, archived, pinned } = known
    const updated = Math.min(updatedAt ?? this.#now, this.#now)
    return {
      agentId: agent.id,
      agentName: agent.name?.trim() || agent.id,
      sessionId,
      cwd,
      additionalDirectories,
      ...(title !== undefined && { title }),
      ...(givenTitle !== undefined && { givenTitle }),
      ...(formerTitles && { formerTitles }),
      ...(archived && { archived }),
      ...(pinned && { pinned }),
      // the session's folders are those of another machine, as on the machine where it was exported
      ...(known.place && { place: { isRemote: true, pathMappings: [] } }),
      createdAt: Math.min(createdAt ?? updated, updated),
      updatedAt: updated,
    }
  }
}

function parsed(text: string): Json | undefined {
  try {
    const message: unknown = boundDepth(JSON.parse(text), text.length)
    return isRecord(message) ? message : undefined
  } catch {
    return undefined
  }
}

function readMeta(message: Json): Json | undefined {
  const holder = metaHolderOf(message)
  const meta = isRecord(holder?._meta) ? holder._meta.parley : undefined
  return isRecord(meta) ? meta : undefined
}

/** Combines the lines of an entry; `undefined` if the entry is damaged. */
function entryOf(messages: readonly Json[], position: number): Entry | undefined {
  const first = messages[0]!
  const { fields, without } = readMeta(first) ?? {}
  const id = `e${position}`
  const params = isRecord(first.params) ? first.params : {}
  const whole = isRecord(params.entry) ? params.entry : undefined
  const value: Json = { ...(whole ?? carriedBy(messages)), ...(isRecord(fields) && fields), id }
  for (const key of Array.isArray(without) ? without : []) if (typeof key === 'string') delete value[key]
  const entry = readEntry(JSON.stringify(value), position)
  if (entry.kind !== value.kind || !isUsable(entry)) return undefined
  return entry
}

/** Whether the entry can be shown and merged: its schema doesn't check the content of lists. */
function isUsable(entry: Entry): boolean {
  const { turn, startedAt, endedAt } = entry
  const times = [turn, startedAt ?? 0, endedAt ?? 0]
  if (!times.every(time => Number.isSafeInteger(time) && time >= 0)) return false
  const kind = entryKind(entry)
  const terminals = new Map<string, TerminalState>()
  try {
    kind.mergeKey(entry)
    kind.traits?.(entry)
    kind.copy?.(entry)
    kind.text(entry, terminals)
    // skips tool calls, since comparing the texts of diffs takes long
    if (entry.kind !== 'tool_call') kind.markdown(entry, terminals)
    return true
  } catch {
    return false
  }
}
