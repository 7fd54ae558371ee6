/**
 * The history of a file since the start of the turns that may change the file: the states in which the file was seen, each with its author.
 * An agent may report one of these changes late. The tracked file is then computed from this history again.
 */
import { isDeepStrictEqual } from 'node:util'
import type { FileChange } from '../../acp/model.ts'
import { expectedText, originalText, othersPart } from '../../editor/diff-texts.ts'
import { adaptLineEnds, lineEdits, mergeLines, sameLines, splitLines } from '../../editor/line-edits.ts'
import { sameButEnds } from '../../editor/text.ts'
import { type AgentAuthor, type Author, sharesTurn } from './change-versions.ts'
import { contentsOf } from './content-use.ts'
import type { FileState } from './file-state.ts'
import { TrackedFile } from './tracked-file.ts'

/** A tool call's effect on a file, as the agent reports it. */
export interface ToolChange {
  toolCallId: string
  /** Whether the tool call is no longer pending, so that the change may have been made. */
  begun: boolean
  done: boolean
  /** Absent if the tool call only names the file. */
  change?: FileChange
  patch?: { format: string; text: string }
}

export interface Claim extends ToolChange {
  author: AgentAuthor
  /** Whether the change was seen on disk. */
  applied: boolean
}

export interface PastEdit {
  /** the file after the change */
  state: FileState
  by: Author
  /**
   * - `seen`: the change was seen on disk; a tool call may report it later.
   * - `saved`: the user saved the change, perhaps together with an earlier change of a tool call.
   * - `known`: the author of the change is certain.
   */
  how: 'seen' | 'saved' | 'known'
  /** Set if the change was found on disk. See {@link TrackedFile.editOnDisk}. */
  onDisk?: { mayBringBack: boolean }
}

/** Number of remembered changes, which a late report may be about, and the total size of their texts in UTF-16 units. */
const MAX_EDITS = 8
const MAX_LENGTH = 8_000_000

export class FilePast {
  #start: TrackedFile
  #edits: PastEdit[] = []
  /** the file after the last edit; if the tracked file is another object or has another version, something else has changed it since */
  #file: TrackedFile
  #version: number
  /** Whether the file is open and its document doesn't contain the last change yet. */
  isBehind = false

  /**
   * Whether the user has saved the file, or kept or undone its changes, since the turn began, so that a difference from the file's state at
   * that time may be the user's.
   */
  isFinal = false
  /** the author of the report from which the original file was derived */
  readonly #assumed: AgentAuthor | undefined

  /** `start` is copied before it's edited. */
  constructor(start: TrackedFile, file: TrackedFile, assumed?: AgentAuthor) {
    this.#assumed = assumed
    this.#start = start
    this.#file = file
    this.#version = start.version
  }

  get path(): string {
    return this.#start.path
  }

  /** Whether the assumed original may still turn out to contain changes of the turn. */
  get isAssumed(): boolean {
    return this.#assumed !== undefined && !this.isFinal
  }

  get hasSaved(): boolean {
    return this.#edits.some(({ how }) => how === 'saved')
  }

  /** The hashes of contents that the history refers to. */
  get contents(): string[] {
    const values = this.#edits.map(({ state }) => ({ value: state.attributes }))
    return [...this.#start.contents, ...contentsOf(values)]
  }

  /** The texts that the file had, oldest first. */
  get texts(): string[] {
    return [this.#start.text, ...this.#edits.map(({ state }) => state.text)]
  }

  /** Whether nothing else has changed the file since the last edit. */
  isOf(file: TrackedFile, version = file.version): boolean {
    return this.#file === file && this.#version === version
  }

  /** Adds edits. `file`: the file after them. */
  add(file: TrackedFile, edits: readonly PastEdit[], isBehind: boolean): void {
    for (const edit of edits) {
      const last = this.#edits.at(-1)
      // programs empty a file before they write it; both count as one change
      const isRefilled = last?.how === 'seen' && edit.how === 'seen' && last.state.text === ''
      if (isRefilled && this.#before(this.#edits.length - 1).text !== '') this.#edits.pop()
      this.#edits.push(edit)
    }
    this.#trim()
    this.isBehind = isBehind
    this.#become(file)
  }

  #trim(): void {
    const length = () => this.#edits.reduce((sum, { state }) => sum + state.text.length, 0)
    while (this.#edits.length > MAX_EDITS || (this.#edits.length > 1 && length() > MAX_LENGTH))
      this.#start = made(this.#start.clone(), this.#edits.shift()!)
  }

  #become(file: TrackedFile): TrackedFile {
    this.#file = file
    this.#version = file.version
    return file
  }

  #before(at: number): FileState {
    return at > 0 ? this.#edits[at - 1]!.state : this.#start.state
  }

  /** Computes the file again from all known edits. */
  #again(): TrackedFile {
    return this.#become(withEdits(this.#start, this.#edits))
  }

  /** Makes the author of the last change certain: later reports aren't about this change. */
  settleLast(): void {
    const last = this.#edits.at(-1)
    if (last?.how === 'seen') last.how = 'known'
  }

  /**
   * Removes the deletion or emptying of the file, since the user saved the earlier text. Returns the earlier file, or `undefined` if it
   * isn't known.
   */
  takeEmptied(): TrackedFile | undefined {
    const at = this.#emptiedAt()
    if (at === undefined) return undefined
    this.#edits.splice(at)
    return this.#again()
  }

  /**
   * Returns a copy of the file from before it was deleted or emptied, with the changes that were reported since; `undefined` if that file
   * isn't known.
   */
  beforeEmptied(): TrackedFile | undefined {
    const at = this.#emptiedAt()
    return at === undefined ? undefined : withEdits(this.#start, this.#edits.slice(0, at))
  }

  /** The index of the edit that deleted or emptied the file; `undefined` if the file has content again. */
  #emptiedAt(): number | undefined {
    const at = this.#edits.findLastIndex(({ state }) => state.text !== '') + 1
    return at === this.#edits.length || this.#before(at).text === '' ? undefined : at
  }

  /**
   * Makes the user the author of the last change, which was seen before the editor reported it. Returns the corrected file, or `undefined`
   * if the change's author is known.
   */
  takeLast(): TrackedFile | undefined {
    const last = this.#edits.at(-1)
    if (last?.how !== 'seen') return undefined
    last.by = 'user'
    last.how = 'saved'
    this.isBehind = false
    return this.#again()
  }

  /**
   * Attributes a change that was seen or saved before to the tool call that reports it. Returns the corrected file, `file` itself if the
   * user has kept that change since, or `undefined` if the history doesn't contain the change. `now`: the file on disk. `known`: the texts
   * that the file had.
   */
  name(claim: Claim, file: TrackedFile, now: FileState, known: readonly string[]): TrackedFile | undefined {
    const isLast = this.isOf(file)
    for (const [at, edit] of this.#edits.entries()) {
      const before = this.#before(at)
      let text: string | undefined
      if (edit.how === 'seen') text = seenPart(claim, before, edit.state, known)
      else if (edit.how === 'saved' && edit.state.attributes.type === 'text') {
        const was = splitLines(before.text)
        const isSure = isLast && at === this.#edits.length - 1 && now.text === edit.state.text
        const part = reportedIn(claim, was, edit.state.text, isSure)
        // the report contains no change of these lines
        if (part === was) return undefined
        text = part?.join('')
      }
      if (text === undefined) continue
      let corrected: TrackedFile | undefined
      if (!isLast) {
        // the user has kept or undone changes since, or an agent wrote through the client
        const lines = [splitLines(text), splitLines(before.text)] as const
        if (edit.how === 'seen' && edit.by !== 'user' && isKeptByUser(claim, file, ...lines)) return file
        corrected = withAuthor(file, ...lines, claim.author)
        if (!corrected) continue
      }
      this.#split(at, text, claim.author)
      return corrected ?? this.#again()
    }
    return undefined
  }

  /**
   * Attributes a change to a tool call that made it before the first reported change, so that the changed text was taken for the file's
   * original. `known`: the texts that the file had.
   */
  nameBefore(claim: Claim, file: TrackedFile, known: readonly string[]): TrackedFile | undefined {
    const { change, patch, begun, author } = claim
    const start = this.#start
    const { text } = file
    if (!this.#assumed || file.gone || start.attributes.type !== 'text') return undefined
    if (!begun || change?.operation !== 'modify') return undefined
    // the change may come after the first reported one, unless the file already had the text of the change before the user saved the file
    const isMade =
      known.some(one => sameButEnds(change.newText ?? '', one)) && !sameButEnds(change.oldText ?? '', text)
    if (!isMade && known.some(one => expectedText(change, one, patch) !== undefined)) return undefined
    const was = originalText(change, start.text, patch, true)
    const without = originalText(change, text, patch, true)
    if (typeof was !== 'string' || was === start.text) return undefined
    const isLast = this.isOf(file)
    if (!isLast && (typeof without !== 'string' || without === text)) return undefined
    this.#edits.unshift({ state: start.state, by: author, how: 'known' })
    this.#start = start.clone()
    this.#start.editText(was, 'user')
    if (isLast) return this.#again()
    const corrected = file.clone()
    corrected.editText(without!, 'user')
    corrected.editText(text, author)
    return corrected
  }

  /**
   * Corrects the assumed original: `before` is the file's state at the start of the turn of `author`. The last parameter has the turns that
   * unreported changes belong to. Returns the corrected file, or `undefined` if nothing changes.
   */
  startFrom(
    before: FileState,
    file: TrackedFile,
    author: AgentAuthor,
    { turns }: AgentAuthor,
  ): TrackedFile | undefined {
    const by = this.#assumed
    if (!by || this.isFinal || !sharesTurn(by, author)) return undefined
    this.isFinal = true
    if (before.attributes.type !== 'text' || file.attributes.type !== 'text') return undefined
    // an agent that overwrites a file may report it as new
    const isNew = file.base.attributes.type === 'absent'
    if (!isNew && sameButEnds(before.text, this.#start.text)) return undefined
    const was = this.#start
    const base = isNew ? undefined : mergeLines([...was.lines], splitLines(before.text), file.lines)
    // `before` is a later state, such as that after a checkout
    if (base?.join('') === file.text) return undefined
    if (!this.isOf(file)) {
      if (!base) return undefined
      const corrected = file.clone()
      corrected.editText(base.join(''), 'user')
      corrected.editText(file.text, { turns, uncertain: true })
      return corrected
    }
    // if the user hasn't edited the same lines since, the whole change is the tool call's
    if (!base && !isNew && file.base.text !== was.text) return undefined
    this.#start = TrackedFile.of(file.path, before)
    if (!base) this.#edits = [{ state: file.state, by, how: 'known' }]
    else this.#edits.unshift({ state: was.state, by: { turns, uncertain: true }, how: 'seen' })
    return this.#again()
  }

  /** Splits an edit: the change up to this text becomes that of `by`, and the rest keeps the edit's author. */
  #split(at: number, text: string, by: Author): void {
    const edit = this.#edits[at]!
    if (edit.state.text === text) {
      edit.by = by
      edit.how = 'known'
      return
    }
    const before = this.#before(at).attributes
    const isOfBefore = edit.how === 'saved' || edit.state.attributes.type === 'absent'
    const attributes = before.type === 'text' && isOfBefore ? before : edit.state.attributes
    const state = { text, attributes }
    const previous = this.#edits[at - 1]
    // merge it with the previous one, since a tool call may report hundreds of changes
    if (previous?.how === 'known' && isDeepStrictEqual(previous.by, by)) previous.state = state
    else this.#edits.splice(at, 0, { state, by, how: 'known' })
    this.#trim()
  }
}

/** A copy of the file with these edits. */
export function withEdits(file: TrackedFile, edits: readonly PastEdit[]): TrackedFile {
  return edits.reduce(made, file.clone())
}

function made(file: TrackedFile, { state, by, onDisk }: PastEdit): TrackedFile {
  if (onDisk) file.editOnDisk(state, by, onDisk.mayBringBack)
  else file.edit(state, by)
  return file
}

/** Whether the user has kept the change from the lines `was` to `part`. False if the tool call may still make the change. */
function isKeptByUser({ change, patch }: Claim, file: TrackedFile, part: string[], was: string[]): boolean {
  const base = file.base.text
  const without = mergeLines(part, was, splitLines(base))?.join('')
  const isIn = without !== undefined && without !== base
  return isIn && change !== undefined && expectedText(change, file.text, patch) === undefined
}

/**
 * Sets `author` as the author of the change from the lines `was` to `part`; `undefined` if the file doesn't contain that change, or if the
 * change can't be separated from others.
 */
function withAuthor(
  file: TrackedFile,
  part: string[],
  was: string[],
  author: AgentAuthor,
): TrackedFile | undefined {
  const without = mergeLines(part, was, file.lines)?.join('')
  if (without === undefined || without === file.text) return undefined
  const corrected = file.clone()
  corrected.editText(without, 'user')
  corrected.edit(file.state, author)
  return corrected
}

/**
 * `before` with only the changes that a tool call reports; `undefined` if that is unknown. The reported texts may contain changes that
 * others have made since `before`, if `after` contains these, too.
 */
export function reportedText(
  { change, patch }: Pick<ToolChange, 'change' | 'patch'>,
  before: string,
  after: string,
): string | undefined {
  if (!change) return undefined
  const expected = expectedText(change, before, patch)
  if (expected !== undefined || change.oldText === undefined) return expected
  const without = originalText(change, after, patch, true)
  if (typeof without !== 'string' || without === after) return undefined
  return mergeLines(splitLines(without), splitLines(before), splitLines(after))?.join('')
}

/**
 * The text that a tool call has written to a file that was deleted before the text was seen on disk; `undefined` if that is unknown.
 * `known`: the texts of the file that were seen.
 */
export function textBeforeDeletion(
  { change, patch, done }: Claim,
  before: FileState,
  known: readonly string[],
): string | undefined {
  if (!done || change?.operation !== 'modify' || before.attributes.type !== 'text') return undefined
  const text = expectedText(change, before.text, patch)
  // the text was seen earlier, so the user has undone the change before the deletion
  return text === undefined || known.includes(text) ? undefined : text || undefined
}

/** `before` with only the reported change, if this change is part of the one that was seen; otherwise `undefined`. */
function seenPart(
  claim: Claim,
  before: FileState,
  after: FileState,
  known: readonly string[],
): string | undefined {
  const { change, patch, begun } = claim
  if (!begun || !change) return undefined
  if (change.operation === 'delete')
    return after.attributes.type === 'absent' && before.attributes.type !== 'absent' ? after.text : undefined
  if (after.attributes.type === 'absent') return textBeforeDeletion(claim, before, known)
  if (after.attributes.type !== 'text') return undefined
  const expected = reportedText({ change, patch }, before.text, after.text)
  if (expected === undefined || expected === before.text) return undefined
  if (sameButEnds(expected, after.text)) return after.text
  const others = othersPart(before.text, expected, after.text)
  return others === undefined || others === after.text ? undefined : expected
}

/**
 * The lines `was` with those changes that a tool call reports and that the user has saved in `text`; `undefined` if there are none, and
 * `was` itself if they change nothing. `isSure`: the file is still as the user saved it, so what differs from the report is the user's edit
 * of it.
 */
function reportedIn(claim: ToolChange, was: string[], text: string, isSure: boolean): string[] | undefined {
  const { change, patch, begun, done } = claim
  if (!begun || !change || change.operation === 'delete') return undefined
  const given = reportedText(claim, was.join(''), text)
  if (given === undefined) return undefined
  const meant = splitLines(adaptLineEnds(given, text))
  const is = splitLines(text)
  if (sameLines(meant, was)) return was
  if (mergeLines(was, meant, is)?.join('') === text) return meant
  if (!done || !isSure) return undefined
  // otherwise, the text may contain changes that the user saved before the agent wrote
  const isBased = change.operation !== 'add'
  const isOpen = isBased && expectedText(change, text, patch) !== undefined
  const part = withPartIn(was, meant, is, { isOpen, isBased })
  return part === was ? undefined : part
}

/**
 * `was` with those edits of an author (`meant`) that the user's text (`is`) is based on; `was` itself if there are none. `isOpen`: the
 * author may not have made the edits yet, so other lines in their place don't prove that the author edited them first. `isBased`: the
 * author made the edits in `was`, so the lines that the edits insert are the author's.
 */
function withPartIn(
  was: string[],
  meant: string[],
  is: string[],
  { isOpen, isBased }: { isOpen: boolean; isBased: boolean },
): string[] {
  const later = lineEdits(was, is)
  const edits = lineEdits(was, meant).filter(({ start, end, lines }) =>
    later.some(one => {
      const isReplaced = start < end
      const meets = isReplaced ? one.start < end && one.end > start : one.start <= start && one.end >= start
      const remaining = lines.filter(line => one.lines.includes(line))
      const isPart = isBased && remaining.some(line => /[\p{L}\p{N}]/u.test(line) && !was.includes(line))
      return meets && (remaining.length === lines.length || isPart || (isReplaced && !isOpen))
    }),
  )
  if (edits.length === 0) return was
  const part = [...was]
  for (const { start, end, lines } of edits.reverse()) part.splice(start, end - start, ...lines)
  return part
}
