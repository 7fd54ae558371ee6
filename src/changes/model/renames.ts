/** Detects renames among the files that agents deleted and added, since `mv` and most tools don't report them. */

import { lineEdits, splitLines } from '../../editor/line-edits.ts'
import type { Matches, TurnRef } from './change-versions.ts'
import { type FileState, sameAttributes } from './file-state.ts'
import type { TrackedFile } from './tracked-file.ts'

/** A file that was deleted or added. */
export interface RenameSide {
  file: TrackedFile
  /** the text of the deleted file before, or of the added file now */
  text: string
  readonly lines: readonly string[]
  attributes: TrackedFile['attributes']
  /** the turns that deleted or added the file */
  turns: readonly TurnRef[]
}

export interface Rename {
  from: RenameSide
  to: RenameSide
}

/** Edited files are compared only if at most this many have the same name or are unmatched; otherwise, only equal content is matched. */
const MAX_COMPARED = 20
/** The share of the longer text that both texts must have in common. */
const MIN_ALIKE = 0.5

/**
 * Finds the renames; each file is in at most one of them. Files with the same content are matched first, then those with the same name,
 * then the most similar ones.
 */
export function renamesAmong(deleted: readonly RenameSide[], added: readonly RenameSide[]): Rename[] {
  const renames: Rename[] = []
  const byText = new Map<string, SameText>()
  for (const to of added) {
    const same = byText.get(to.text) ?? { all: new Set(), byName: new Map() }
    byText.set(to.text, same)
    same.all.add(to)
    same.byName.set(nameOf(to), (same.byName.get(nameOf(to)) ?? new Set()).add(to))
  }
  const take = (from: RenameSide, to: RenameSide) => {
    renames.push({ from, to })
    const same = byText.get(to.text)!
    same.all.delete(to)
    same.byName.get(nameOf(to))!.delete(to)
  }
  const edited: RenameSide[] = []
  for (const from of deleted) {
    const same = byText.get(from.text)
    // empty files can't be matched by their content
    const to = same && !isEmpty(from) ? sameFileAmong(same, from) : undefined
    if (to) take(from, to)
    else if (from.attributes.type === 'text' && !isEmpty(from)) edited.push(from)
  }
  const unmatched = [...byText.values()]
    .flatMap(({ all }) => [...all])
    .filter(({ attributes }) => attributes.type === 'text')
  const taken = new Set<RenameSide>()
  const compare = (some: readonly RenameSide[], others: readonly RenameSide[]) => {
    const [from, to] = [some, others].map(sides => sides.filter(side => !taken.has(side)))
    if (!from || !to || from.length > MAX_COMPARED || to.length > MAX_COMPARED) return
    const [one, other] = [from[0], to[0]]
    if (
      one &&
      other &&
      from.length === 1 &&
      to.length === 1 &&
      inOneTurn(one, other) &&
      isAlike(one, other)
    ) {
      taken.add(one).add(other)
      take(one, other)
      return
    }
    const pairs = from.flatMap(one => {
      const known = new Set(one.lines)
      return to
        .filter(other => inOneTurn(one, other))
        .map(other => ({ from: one, to: other, alike: alike(known, one, other) }))
    })
    for (const pair of pairs.sort((one, other) => other.alike - one.alike)) {
      if (pair.alike < MIN_ALIKE || taken.has(pair.from) || taken.has(pair.to)) continue
      taken.add(pair.from).add(pair.to)
      take(pair.from, pair.to)
    }
  }
  // in a moved folder with edited files, all names are the same
  const byName = new Map<string, RenameSide[]>()
  for (const to of unmatched) byName.set(nameOf(to), [...(byName.get(nameOf(to)) ?? []), to])
  const names = new Map<string, RenameSide[]>()
  for (const from of edited) names.set(nameOf(from), [...(names.get(nameOf(from)) ?? []), from])
  for (const [name, some] of names) compare(some, byName.get(name) ?? [])
  compare(edited, unmatched)
  return renames
}

/** Added files with equal text. There may be many, so the sets allow finding one without comparing all. */
interface SameText {
  all: Set<RenameSide>
  byName: Map<string, Set<RenameSide>>
}

function sameFileAmong({ all, byName }: SameText, from: RenameSide): RenameSide | undefined {
  for (const sides of [byName.get(nameOf(from)) ?? [], all])
    for (const to of sides) if (inOneTurn(from, to) && isSameFile(from, to)) return to
  return undefined
}

function inOneTurn(one: RenameSide, other: RenameSide): boolean {
  return one.turns.some(a => other.turns.some(b => a.session === b.session && a.turn === b.turn))
}

/** Whether two sides with equal text are the same file: the mode may have changed with the name, but not the bytes or a link's target. */
function isSameFile({ attributes: one }: RenameSide, { attributes: other }: RenameSide): boolean {
  if (one.type === 'text' || one.type === 'binary') {
    if (one.type === 'text') return other.type === 'text'
    return other.type === 'binary' && one.hash === other.hash
  }
  return one.type === 'link' && sameAttributes(one, other)
}

function isEmpty({ attributes, text }: RenameSide): boolean {
  return attributes.type === 'text' && text.trim() === ''
}

function nameOf({ file }: RenameSide): string {
  return file.path.slice(Math.max(file.path.lastIndexOf('/'), file.path.lastIndexOf('\\')) + 1)
}

/** Whether the lines at equal positions are enough to know that the files are similar, without a search. */
function isAlike(one: RenameSide, other: RenameSide): boolean {
  const [was, is] = [one.lines, other.lines]
  let common = 0
  for (let i = 0; i < is.length; i++) if (is[i]!.length > 2 && is[i] === was[i]) common++
  return common >= MIN_ALIKE * Math.max(1, was.length, is.length)
}

/** The approximate share of the longer text's lines that both texts contain; `known`: the lines of one text. */
function alike(known: ReadonlySet<string>, one: RenameSide, other: RenameSide): number {
  let common = 0
  // empty and short lines don't count, since every file has some
  for (const line of other.lines) if (line.length > 2 && known.has(line)) common++
  return common / Math.max(1, one.lines.length, other.lines.length)
}

/**
 * Merges a file that agents added with a file that agents had deleted, when the user moves the added file to the deleted file's path: the
 * result is the deleted file with the added file's content. `undefined` if the files aren't in these states.
 */
export function movedBack(added: TrackedFile, deleted: TrackedFile): TrackedFile | undefined {
  const author = added.attributeAuthors(() => true)[0]
  const deleter = deleted.attributeAuthors(() => true).at(-1)
  const isPair = deleted.attributes.type === 'absent' && added.base.attributes.type === 'absent'
  if (!isPair || !author || !deleter || added.attributes.type !== 'text') return undefined
  // agents removed lines of the user from the added file, and these lines can be restored only there
  if (added.hunks(() => true).some(({ before }) => before.length > 0)) return undefined
  const file = deleted.clone()
  const isDeleter: Matches = one => JSON.stringify(one) === JSON.stringify(deleter)
  if (file.undo(isDeleter) || file.attributes.type !== 'text') return undefined
  const agents = new Set(
    added.hunks(() => true).flatMap(({ start, after }) => after.map((_line, i) => start + i)),
  )
  const before = splitLines(file.text)
  const withUsers: string[] = []
  let at = 0
  let shift = 0
  for (const { start, end, lines } of lineEdits(before, splitLines(added.text))) {
    const isUsers = (_line: string, i: number) => !agents.has(start + shift + i)
    withUsers.push(...before.slice(at, end), ...lines.filter(isUsers))
    shift += lines.length - (end - start)
    at = end
  }
  file.editText([...withUsers, ...before.slice(at)].join(''), 'user')
  file.edit(added.state, author)
  return file
}

/** The added file that a deleted file was renamed to; `undefined` if it wasn't renamed. */
export function movedTo(deleted: TrackedFile, all: readonly TrackedFile[]): TrackedFile | undefined {
  const side = (file: TrackedFile, { attributes, text }: FileState): RenameSide => ({
    file,
    attributes,
    text,
    lines: splitLines(text),
    turns: file.attributeAuthors(() => true).flatMap(({ turns }) => turns),
  })
  const isThere = ({ attributes }: FileState) => attributes.type !== 'absent'
  const from = all.filter(file => isThere(file.base) && !isThere(file))
  const to = all.filter(file => isThere(file) && !isThere(file.base) && !file.gone)
  const renames = renamesAmong(
    from.map(file => side(file, file.base)),
    to.map(file => side(file, file.state)),
  )
  return renames.find(rename => rename.from.file === deleted)?.to.file
}
