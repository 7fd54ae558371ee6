import type { MessageRole } from '../../acp/model.ts'
import { textOf } from '../blocks.ts'
import { entryKind } from '../entries/entry-kinds.ts'
import { continuedIn } from '../entries/notice.ts'
import { touchedFiles } from '../entries/touched-files.ts'
import type { Entry, MessageEntry } from '../state.ts'
import {
  alignTurns,
  besidePrompt,
  commonLength,
  isSamePrompt,
  isSpace,
  MIN_COMMON,
  splitTurns,
  type TurnEntries,
  withoutSpace,
} from './align-turns.ts'
import { runAllSteps, StepBudget, type SteppedWork } from './stepped-work.ts'

/** Minimum length of a text that is matched away from its expected position: shorter texts may match there by chance. Characters. */
const MIN_TEXT = 8

export interface MergedEntries {
  /** The merged entries, with new ids and turn numbers. The entries of both sides are left unchanged. */
  entries: Entry[]
  /** The new position of each replayed entry, by its position in the replay; -1 if the entry was split. */
  positions: number[]
}

/**
 * Merges the conversation known to Parley with the agent's replay of it. Entries that both sides have appear once, with the times, answers
 * and output that the user saw. Entries that only the replay has keep their place in the replay. Entries that only Parley has stay; below
 * each run of turns with such entries, `note` creates an entry that tells the user.
 */
export function mergeEntries(
  known: readonly Entry[],
  replay: readonly Entry[],
  note?: (turn: number) => Entry,
): MergedEntries {
  return runAllSteps(mergeInSteps(known, replay, note))
}

/** Like `mergeEntries`, in steps. Neither side may change between steps. */
export function* mergeInSteps(
  known: readonly Entry[],
  replay: readonly Entry[],
  note?: (turn: number) => Entry,
): SteppedWork<MergedEntries> {
  const budget = new StepBudget()
  const own = known.filter(entry => entry.kind !== 'notice' || !entry.savedCopy)
  const [ours, theirs] = yield* splitTurns(own, replay, budget)
  const replaysTools = replay.some(({ kind }) => kind === 'tool_call')
  const entries: Entry[] = []
  const index = new Map<Entry, number>()
  let turn = 0
  let lacking = false
  // no agent replays another agent's part of the conversation, and a notice already tells the user
  const ownFrom = ours.findLastIndex(one => one.entries.some(continuedIn)) + 1
  const foreign = new Set(ours.slice(0, ownFrom))
  const close = () => {
    if (lacking && note) entries.push({ ...note(turn), id: `e${entries.length}`, turn })
    lacking = false
  }
  for (const [a, b] of yield* alignTurns(ours, theirs, budget)) {
    const merged = a && b ? yield* mergeTurn(a, b, budget) : undefined
    const lacks =
      !(a && foreign.has(a)) && (!b ? a!.entries.some(isSubstance) : (merged?.lacks(replaysTools) ?? false))
    if (!lacks) close()
    turn = (a ?? b)!.turn === 0 && entries.length === 0 ? 0 : turn + 1
    for (const { entry, from } of merged?.entries ??
      (a ?? b)!.entries.map(entry => ({ entry, from: [entry] }))) {
      for (const source of from) index.set(source, entries.length)
      entries.push({ ...ownEntry(entry), id: `e${entries.length}`, turn })
      if (budget.isSpent()) yield
    }
    lacking = lacks
  }
  close()
  const positions = replay.map(entry => index.get(entry) ?? -1)
  return { entries, positions }
}

/** Returns a copy that can be appended to: the replay may continue in its own entry before the next merge. */
function ownEntry(entry: Entry): Entry {
  return entryKind(entry).copy?.(entry) ?? { ...entry }
}

/** Whether the user would miss the entry, so that its absence in a replay is worth a note. A notice outside of any turn isn't. */
export function isSubstance(entry: Entry): boolean {
  if (entry.turn === 0 || entry.outOfTurn) return false
  return (entry.kind === 'message' && entry.role !== 'thought') || entry.kind === 'tool_call'
}

/** A known entry and the replayed entries that it replaces. */
interface KnownEntry {
  entry: Entry
  from: Entry[]
  /** the entry's position among Parley's entries of the turn */
  at: number
}

interface MergedTurn {
  entries: Array<Pick<KnownEntry, 'entry' | 'from'>>
  /** Whether something of the turn is missing in the replay. */
  lacks: (replaysTools: boolean) => boolean
}

function* mergeTurn(ours: TurnEntries, theirs: TurnEntries, budget: StepBudget): SteppedWork<MergedTurn> {
  const slots: KnownEntry[] = ours.entries.map((entry, at) => ({ entry, from: [], at }))
  const texts = new MessageTexts(slots, ours.texts)
  const things = new OtherEntries(slots, theirs)
  const prompt = slots.find(({ entry }) => entry === ours.prompt)
  const samePrompt = isSamePrompt(ours, theirs)
  /** entries that only the replay has, by the position of the known entry before which they are inserted */
  const inserted = new Map<number, Entry[]>()
  let at = 0
  for (const entry of theirs.entries) {
    if (budget.isSpent()) yield
    const isPrompt = entry === theirs.prompt && prompt !== undefined && samePrompt
    const found = isPrompt
      ? prompt
      : entry.kind === 'message'
        ? texts.find(entry, theirs.texts.get(entry) ?? '')
        : things.find(entry)
    if (found) {
      found.from.push(entry)
      if (!isPrompt) found.entry = enriched(found.entry, entry)
      else if (ours.promptText !== theirs.promptText) addBlocks(found, besidePrompt(ours, theirs) ?? [])
      at = Math.max(at, found.at + 1)
      continue
    }
    // keep the answer to a question next to its subject
    while (isQuestion(slots[at]?.entry)) at += 1
    const before = inserted.get(at) ?? []
    before.push(entry)
    inserted.set(at, before)
  }
  const entries: MergedTurn['entries'] = []
  for (let place = 0; place <= slots.length; place++) {
    for (const entry of inserted.get(place) ?? []) entries.push({ entry, from: [entry] })
    const slot = slots[place]
    if (slot) entries.push(slot)
  }
  const lacks = (replaysTools: boolean) =>
    slots.some(slot => {
      if (slot === prompt || !isSubstance(slot.entry)) return false
      if (slot.entry.kind === 'message') return !texts.isCovered(slot)
      return slot.from.length === 0 && (replaysTools || theirs.entries.length <= 1)
    })
  return { entries, lacks }
}

function addBlocks(found: KnownEntry, blocks: MessageEntry['blocks']): void {
  if (found.entry.kind === 'message' && blocks.length > 0)
    found.entry = { ...found.entry, blocks: [...found.entry.blocks, ...blocks] }
}

function isQuestion(entry: Entry | undefined): boolean {
  return entry?.kind === 'permission' || entry?.kind === 'elicitation'
}

/** The entries of a turn other than messages, by their ids. */
class OtherEntries {
  readonly #slots: readonly KnownEntry[]
  readonly #byId = new Map<string, KnownEntry[]>()
  /** entries by their other traits; computed only if an id isn't found, since this reads the whole input of each tool call */
  #byTraits: Map<string, KnownEntry[]> | undefined
  /** tool calls by kind and file, if the replay has new ids for all tool calls; empty otherwise */
  #byFile: Map<string, KnownEntry[]> | undefined
  readonly #theirs: TurnEntries

  constructor(slots: readonly KnownEntry[], theirs: TurnEntries) {
    this.#theirs = theirs
    this.#slots = slots
    for (const slot of slots) put(this.#byId, idOf(slot.entry), slot)
  }

  /** Returns the known entry for a replayed one, if there is one. */
  find(entry: Entry): KnownEntry | undefined {
    const named = this.#byId.get(idOf(entry) ?? '')
    if (named) return named.find(({ from }) => from.length === 0) ?? named[0]
    const traits = traitsOf(entry)
    if (traits === undefined) return undefined
    if (!this.#byTraits) {
      this.#byTraits = new Map()
      for (const slot of this.#slots) put(this.#byTraits, traitsOf(slot.entry), slot)
    }
    const same = this.#byTraits
      .get(traits)
      ?.find(slot => slot.from.length === 0 && !this.#isNamed(slot.entry))
    return same ?? this.#nextLike(entry)
  }

  /**
   * Returns the next tool call of the same kind for the same files, if the replay has new ids for all tool calls: some agents also replay
   * other titles, without the input (Kimi Code).
   */
  #nextLike(entry: Entry): KnownEntry | undefined {
    if (!this.#byFile) {
      this.#byFile = new Map()
      const hasNewIds = !this.#slots.some(slot => this.#isNamed(slot.entry))
      for (const slot of hasNewIds ? this.#slots : [])
        for (const key of filesOfKind(slot.entry)) put(this.#byFile, key, slot)
    }
    const next = filesOfKind(entry).map(key => this.#byFile?.get(key)?.find(({ from }) => from.length === 0))
    return next.filter(slot => slot !== undefined).sort((one, other) => one.at - other.at)[0]
  }

  /** Whether the replay has a tool call with the entry's tool call id. */
  #isNamed(entry: Entry): boolean {
    return entry.kind === 'tool_call' && this.#theirs.tools.has(entry.toolCallId)
  }
}

/** Returns a key for each file that a tool call reads or changes. */
function filesOfKind(entry: Entry): string[] {
  if (entry.kind !== 'tool_call') return []
  return [...touchedFiles(entry)].map(path => JSON.stringify([entry.within, entry.toolKind, path]))
}

function put(slots: Map<string, KnownEntry[]>, key: string | undefined, slot: KnownEntry): void {
  if (key === undefined) return
  const known = slots.get(key)
  if (known) known.push(slot)
  else slots.set(key, [slot])
}

/** Returns a key that identifies an entry within a turn. */
function idOf(entry: Entry): string | undefined {
  const key = entryKind(entry).mergeKey(entry)
  return key && json([entry.kind, entry.within, ...key])
}

/** Returns a key for an entry that the replay has under another id: some agents create new ids. */
function traitsOf(entry: Entry): string | undefined {
  const traits = entryKind(entry).traits?.(entry)
  return (
    traits &&
    json([
      entry.kind,
      entry.within,
      ...traits.map(trait => (typeof trait === 'string' ? withoutSpace(trait) : trait)),
    ])
  )
}

/** Returns the known entry, completed with data that only the replay has. */
function enriched(known: Entry, reported: Entry): Entry {
  if (known.kind !== reported.kind) return known
  return entryKind(known).merged?.(known, reported) ?? known
}

interface Piece {
  slot: KnownEntry
  start: number
  end: number
  /** number of characters of the piece that the replay has */
  covered: number
}

interface Stream {
  /** all texts of a role, concatenated, without white space */
  text: string
  pieces: Piece[]
  /** position in `text`: the text before it has been matched */
  cursor: number
  /** index of the first piece that ends after the cursor, or of an earlier piece */
  next: number
}

/**
 * The messages of a turn, by role and subagent. Agents divide text into other pieces in a replay than while streaming, so all texts of a
 * role are compared as one text.
 */
class MessageTexts {
  readonly #slots: readonly KnownEntry[]
  readonly #streams = new Map<string, Stream>()
  readonly #covered = new Set<KnownEntry>()
  readonly #pieces = new Map<KnownEntry, Piece>()

  constructor(slots: readonly KnownEntry[], texts: ReadonlyMap<Entry, string>) {
    this.#slots = slots
    const joined = new Map<Stream, string[]>()
    for (const slot of slots) {
      const { entry } = slot
      if (entry.kind !== 'message') continue
      const stream = this.#streamOf(entry.role, entry.within)
      const text = texts.get(entry) ?? ''
      const start = stream.pieces.at(-1)?.end ?? 0
      const piece = { slot, start, end: start + text.length, covered: 0 }
      stream.pieces.push(piece)
      this.#pieces.set(slot, piece)
      const known = joined.get(stream)
      if (known) known.push(text)
      else joined.set(stream, [text])
    }
    for (const [stream, pieces] of joined) stream.text = pieces.join('')
  }

  /** Whether the replay contains the entry's whole text. */
  isCovered(slot: KnownEntry): boolean {
    const piece = this.#pieces.get(slot)
    const length = piece ? piece.end - piece.start : 0
    return this.#covered.has(slot) || (piece !== undefined && length > 0 && piece.covered >= length)
  }

  /**
   * Returns the known message for a replayed message, completed with missing text; `undefined` if the replayed message is new. `text`: the
   * replayed text without white space.
   */
  find(reported: MessageEntry, text: string): KnownEntry | undefined {
    if (text === '') return this.#findBlocks(reported)
    if (reported.role === 'user') return this.#findWhole(reported, text)
    const stream = this.#streamOf(reported.role, reported.within)
    const { cursor } = stream
    const at = this.#positionOf(stream, text)
    if (at !== -1) return this.#cover(stream, at, at + text.length)
    const rest = stream.text.slice(cursor)
    if (rest === '') return undefined
    if (text.startsWith(rest)) return this.#lengthen(stream, reported, rest.length)
    const common = commonLength(text, rest)
    if (common < Math.max(MIN_COMMON, 0.8 * Math.min(text.length, rest.length))) return undefined
    return this.#cover(stream, cursor, cursor + common, true)
  }

  /** Returns the known user message with exactly this text: a user message is never part of another message. */
  #findWhole({ role, within }: MessageEntry, text: string): KnownEntry | undefined {
    const stream = this.#streamOf(role, within)
    const piece = stream.pieces.find(
      ({ slot, start, end }) =>
        slot.from.length === 0 && end - start === text.length && stream.text.startsWith(text, start),
    )
    if (piece) this.#covered.add(piece.slot)
    return piece?.slot
  }

  #positionOf(stream: Stream, text: string): number {
    const { cursor, pieces } = stream
    if (stream.text.startsWith(text, cursor)) return cursor
    if (text.length >= MIN_TEXT) {
      const after = stream.text.indexOf(text, cursor)
      return after === -1 ? stream.text.indexOf(text) : after
    }
    const whole = pieces.find(
      ({ start, end }) =>
        start >= cursor && end - start === text.length && stream.text.startsWith(text, start),
    )
    return whole?.start ?? -1
  }

  /**
   * Marks a part of the text as found in the replay. `wholly`: the last message counts as found completely, even if its rest differs in the
   * replay.
   */
  #cover(stream: Stream, from: number, to: number, wholly = false): KnownEntry | undefined {
    let last: Piece | undefined
    for (let i = from >= stream.cursor ? stream.next : 0; i < stream.pieces.length; i++) {
      const piece = stream.pieces[i]!
      if (piece.start >= to) break
      if (piece.end <= stream.cursor && i === stream.next) stream.next += 1
      if (piece.end <= from) continue
      piece.covered += Math.min(piece.end, to) - Math.max(piece.start, from)
      last = piece
    }
    if (last && wholly) this.#covered.add(last.slot)
    stream.cursor = Math.max(stream.cursor, wholly ? (last?.end ?? to) : to)
    return last?.slot
  }

  /** Appends the rest that the replay has to a message that was interrupted here. */
  #lengthen(stream: Stream, reported: MessageEntry, seen: number): KnownEntry | undefined {
    const slot = this.#cover(stream, stream.cursor, stream.text.length)
    const last = slot?.entry
    if (!slot || last?.kind !== 'message') return undefined
    const rest = afterSqueezed(reported, seen)
    const blocks = [...last.blocks]
    const [first, ...others] = rest
    const end = blocks.at(-1)
    if (first?.type === 'text' && end?.type === 'text') {
      blocks[blocks.length - 1] = { ...end, text: end.text + first.text }
      blocks.push(...others)
    } else blocks.push(...rest)
    slot.entry = { ...last, blocks }
    const piece = this.#pieces.get(slot)
    stream.text += withoutSpace(textOf(rest))
    if (piece) piece.end = stream.text.length
    stream.cursor = stream.text.length
    this.#covered.add(slot)
    return slot
  }

  /** Returns the known message with the same blocks, for a message without text, such as an image or a file. */
  #findBlocks(reported: MessageEntry): KnownEntry | undefined {
    const blocks = json(reported.blocks)
    const found = this.#slots.find(
      ({ entry, from }) =>
        from.length === 0 &&
        entry.kind === 'message' &&
        entry.role === reported.role &&
        entry.within === reported.within &&
        json(entry.blocks) === blocks,
    )
    if (found) this.#covered.add(found)
    return found
  }

  #streamOf(role: MessageRole, within: string | undefined): Stream {
    const key = `${role}\n${within ?? ''}`
    const known = this.#streams.get(key)
    if (known) return known
    const stream: Stream = { text: '', pieces: [], cursor: 0, next: 0 }
    this.#streams.set(key, stream)
    return stream
  }
}

/** Returns the blocks of a message after this many characters, not counting white space. */
function afterSqueezed({ blocks }: MessageEntry, seen: number): MessageEntry['blocks'] {
  let remaining = seen
  const rest: MessageEntry['blocks'] = []
  for (const block of blocks) {
    if (remaining === 0) {
      rest.push(block)
      continue
    }
    if (block.type !== 'text') continue
    let at = 0
    while (at < block.text.length && remaining > 0) {
      if (!isSpace(block.text.charCodeAt(at))) remaining -= 1
      at += 1
    }
    if (remaining === 0 && at < block.text.length) rest.push({ ...block, text: block.text.slice(at) })
  }
  return rest
}

function json(value: unknown): string {
  return JSON.stringify(value) ?? ''
}
