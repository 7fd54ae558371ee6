/** Determines the texts of a file before and after a change, for diff editors and for checking a change. */

import { randomUUID } from 'node:crypto'
import { applyPatch, formatPatch, parsePatch, reversePatch, type StructuredPatch } from 'diff'
import type { FileChange, Roots } from '../acp/model.ts'
import { MAX_FRAGMENT_FILE_BYTES } from '../common/limits.ts'
import { readBounded } from '../common/read-bounded.ts'
import { adaptLineEnds, lineEdits, mergeLines, splitLines } from './line-edits.ts'
import { PathGuard } from './path-guard.ts'
import { lineEnd, sameButEnds, withLineEnd, withoutMark } from './text.ts'

export interface DiffTexts {
  oldText: string
  newText: string
}

/**
 * Returns the texts for a diff. Agents send whole files or fragments, as they are before or after the edit, or only a patch. Given the
 * file's current text, a fragment or a patch is completed to whole files if this is unambiguous.
 */
export function diffTexts(
  change: FileChange,
  options: { current?: string; patch?: { format: string; text: string } } = {},
): DiffTexts | undefined {
  const { current, patch } = options
  if (change.oldText !== undefined || change.newText !== undefined) {
    const given = { oldText: change.oldText ?? '', newText: change.newText ?? '' }
    return current === undefined ? given : (completed(given, current) ?? given)
  }
  if (!patch) return undefined
  const file = patchOf(change, patch.text)
  return file?.hunks.some(hunk => hunk.lines.length > 0) ? fromPatch(file, current) : undefined
}

/** Completes a fragment to the text of the current file, which may be the text from before or after the edit. */
function completed(given: DiffTexts, current: string): DiffTexts | undefined {
  if (current === given.oldText || current === given.newText) return undefined
  const end = lineEnd(current)
  const oldText = end ? withLineEnd(given.oldText, end) : given.oldText
  const newText = end ? withLineEnd(given.newText, end) : given.newText
  if (newText !== '' && isOnce(current, newText)) {
    return { oldText: replaceAt(current, newText, oldText), newText: current }
  }
  if (oldText !== '' && isOnce(current, oldText)) {
    return { oldText: current, newText: replaceAt(current, oldText, newText) }
  }
  return undefined
}

/**
 * Returns the 1-based line at which a change's text begins in the current file, which may be the file from before or after the edit;
 * `undefined` if the text is missing or occurs more than once.
 */
export function fragmentLine({ oldText, newText }: FileChange, current: string): number | undefined {
  const end = lineEnd(current)
  for (const text of [newText, oldText]) {
    const part = text && (end ? withLineEnd(text, end) : text)
    if (part && isOnce(current, part)) return current.slice(0, current.indexOf(part)).split('\n').length
  }
  return undefined
}

function isOnce(text: string, part: string): boolean {
  const at = text.indexOf(part)
  return at >= 0 && text.indexOf(part, at + 1) < 0
}

function replaceAt(text: string, part: string, by: string): string {
  const at = text.indexOf(part)
  return text.slice(0, at) + by + text.slice(at + part.length)
}

function patchOf(change: FileChange, text: string): StructuredPatch | undefined {
  let files: StructuredPatch[]
  try {
    files = parsePatch(text)
  } catch {
    return undefined
  }
  const name = (path: string | undefined) => path?.replace(/^[ab]\//, '').replace(/\t.*$/, '')
  /** number of characters of the path that match a file of the patch; a longer match is more certain */
  const likeness = (path: string, file: string | undefined) =>
    file !== undefined && (path === file || path.replaceAll('\\', '/').endsWith(`/${file}`)) ? file.length : 0
  const rated = files.map(file => ({
    file,
    rate: Math.max(
      likeness(change.path, name(file.newFileName)),
      likeness(change.oldPath ?? change.path, name(file.oldFileName)),
    ),
  }))
  const best = rated.reduce<(typeof rated)[number] | undefined>(
    (found, one) => (one.rate > (found?.rate ?? 0) ? one : found),
    undefined,
  )
  return best?.file ?? (files.length === 1 ? files[0] : undefined)
}

function fromPatch(file: StructuredPatch, current: string | undefined): DiffTexts {
  if (current !== undefined) {
    // Try to undo the patch first: it often applies a second time to a file that has the edit already.
    const before = applyPatch(current, formatPatch(reversePatch(file)))
    if (before !== false) return { oldText: before, newText: current }
    const after = applyPatch(current, file)
    if (after !== false) return { oldText: current, newText: after }
  }
  const side = (drop: string) =>
    file.hunks
      .map(hunk =>
        hunk.lines
          .filter(line => !line.startsWith(drop) && !line.startsWith('\\'))
          .map(line => `${line.slice(1)}\n`)
          .join(''),
      )
      .join('⋯\n')
  return { oldText: side('+'), newText: side('-') }
}

/** The content of a text file; `null` if the file doesn't exist. */
export type FileText = string | null

/** Returns the text of the file before the change, which the agent may have made already; `undefined` if the text is unknown. */
export function originalText(
  change: FileChange,
  current: FileText,
  patch: { format: string; text: string } | undefined,
  done: boolean,
): FileText | undefined {
  const { operation, oldText, newText } = change
  if (operation === 'add' && oldText === undefined) return done || current === newText ? null : current
  if (operation === 'delete') return current ?? oldText ?? undefined
  // a file that still doesn't exist has no change
  if (current === null) return done ? undefined : null
  if (operation === 'move' || operation === 'copy') return done ? null : current
  // the agent sent whole texts of both sides
  if (current === newText) return oldText ?? null
  if (current === oldText) return current
  const texts = diffTexts(change, { current, ...(patch && { patch }) })
  const completed = texts && (texts.newText === current || texts.oldText === current)
  if (completed) return texts.oldText
  const without = withoutWholeChange(change, current)
  if (without !== undefined && without !== current) return without
  return done ? undefined : current
}

/**
 * Removes a change of the whole text from a text in which others, such as the agent's next tool call, have changed other lines since.
 * Returns the text itself if it doesn't contain the change, and `undefined` if the changes can't be separated or the change is only a
 * fragment.
 */
function withoutWholeChange({ oldText, newText }: FileChange, current: string): string | undefined {
  if (oldText === undefined || newText === undefined) return undefined
  const linesOf = (text: string) => splitLines(adaptLineEnds(text, current))
  const [was, meant, now] = [linesOf(oldText), linesOf(newText), splitLines(current)]
  const changed = lineEdits(meant, now).reduce((sum, { lines }) => sum + lines.length, 0)
  const isWhole = changed * 2 < now.length
  return isWhole ? mergeLines(meant, was, now)?.join('') : undefined
}

/** Returns the text of the file after a change that an agent reports; `undefined` if the text is unknown. */
export function expectedText(
  change: FileChange,
  current: string,
  patch: { format: string; text: string } | undefined,
): string | undefined {
  if (change.operation === 'delete') return ''
  const { oldText, newText } = change
  if (change.operation === 'add' && oldText === undefined) return newText && withoutMark(newText)
  if (oldText !== undefined && newText !== undefined && sameButEnds(oldText, current))
    return adaptLineEnds(newText, current)
  const texts = diffTexts(change, { current, ...(patch && { patch }) })
  return texts && texts.oldText === current && texts.newText !== current ? texts.newText : undefined
}

/**
 * Separates the changes between two reads of a text. `expected` is the text that one author wanted to write in place of `before`. Returns
 * the text with only the others' changes: `after` itself if the author's change isn't in it, and `undefined` if the changes can't be
 * separated.
 */
export function othersPart(before: string, expected: string, after: string): string | undefined {
  const was = splitLines(before)
  const meant = splitLines(expected)
  const others = mergeLines(meant, was, splitLines(after))?.join('')
  if (others !== undefined) return others
  // each part of the change must be found: the inserted lines are present now, or the removed lines are gone
  const isThere = lineEdits(was, meant).every(({ start, end, lines }) => {
    const given = lines.join('')
    const gone = was.slice(start, end).join('')
    return given === '' ? !after.includes(gone) : after.includes(given) && !before.includes(given)
  })
  return isThere ? undefined : after
}

/**
 * Resolves to the 1-based line at which a change's text begins in its file, since agents send fragments without their position. Resolves to
 * `undefined` if the line is unknown or the file is outside of the session's folders.
 */
export async function findFragment(change: FileChange, roots: Roots): Promise<number | undefined> {
  try {
    const file = await new PathGuard(roots).within(change.path)
    if (!file) return undefined
    return fragmentLine(change, await readBounded(file.realPath, MAX_FRAGMENT_FILE_BYTES))
  } catch {
    return undefined
  }
}

/**
 * Resolves to the change that writing a text to a file makes, for agents that report only the text. A file outside of the session's folders
 * isn't read. If a file can't be read as text, only the new text is known. `path`: absolute.
 */
export async function writtenChange(path: string, newText: string, roots: Roots): Promise<FileChange> {
  try {
    const file = await new PathGuard(roots).within(path)
    if (!file) return { operation: 'add', path, newText }
    const oldText = await readBounded(file.realPath, MAX_FRAGMENT_FILE_BYTES)
    return { operation: 'modify', path, newText, ...(!oldText.includes('\0') && { oldText }) }
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    return { operation: isMissing ? 'add' : 'modify', path, newText }
  }
}

/** A range of lines of a text, 0-based; `end` is exclusive. If `start` equals `end`, the position before that line. */
export interface LineRange {
  start: number
  end: number
}

/**
 * Returns the lines of a file that a change wrote; if the change only removed lines, the line after the removed ones. Returns no lines if
 * the text doesn't contain the change, or contains it more than once.
 */
export function editedLines(change: FileChange, text: string): LineRange[] {
  const { oldText = '', newText } = change
  if (newText === undefined) return []
  const first = fragmentLine({ ...change, oldText: undefined }, text)
  if (first === undefined) return []
  const bare = (line: string) => line.replace(/\r?\n$/, '')
  const after = splitLines(newText).map(bare)
  let shift = first - 1
  return lineEdits(splitLines(oldText).map(bare), after).map(({ start, end, lines }) => {
    const from = start + shift
    shift += lines.length - (end - start)
    return { start: from, end: from + Math.max(1, lines.length) }
  })
}

/** The texts of the diff editors that are open, by id. */
export class DiffContents {
  readonly #texts = new Map<string, { oldText: string; newText: string }>()

  /** Stores the texts until {@link release}, and returns their id. */
  hold(texts: { oldText: string; newText: string }): string {
    // Never use an id from before a reload again: the editor may still have a text with that id.
    const id = randomUUID()
    this.#texts.set(id, texts)
    return id
  }

  text(id: string, side: string): string | undefined {
    const texts = this.#texts.get(id)
    return side === 'old' ? texts?.oldText : side === 'new' ? texts?.newText : undefined
  }

  /** Removes texts that no open tab shows. `open`: the ids that tabs show. */
  keepOnly(open: ReadonlySet<string>): void {
    for (const id of this.#texts.keys()) if (!open.has(id)) this.#texts.delete(id)
  }

  get size(): number {
    return this.#texts.size
  }
}
