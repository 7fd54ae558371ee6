/** The two whole texts of a changed file, for a diff editor. */
import { applyPatch, formatPatch, parsePatch, reversePatch, type StructuredPatch } from 'diff'
import type { FileChange } from '../../acp/model.ts'
import { lineEnd, withLineEnd } from '../text.ts'

export interface DiffTexts {
  oldText: string
  newText: string
}

/**
 * Agents send whole files or fragments, before the edit or after it, or only a patch. With the file's text of now,
 * a fragment or a patch is completed to whole files where that is possible without doubt.
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

/** A fragment within the file as it is now, which may be before the edit or after it. */
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
 * The line, from 1, at which a change's text begins in the file as it is now, which may be before the edit or after it;
 * `undefined` where it isn't there, or there more than once.
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
  /** characters of a path that a file of the patch tells; a whole path is surer than its last name */
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
    // Undone first: a file that has the edit already would often take it a second time.
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
