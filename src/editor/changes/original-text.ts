import type { FileChange } from '../../acp/model.ts'
import { diffTexts } from './diff-texts.ts'

/** A text file's content; `null`: there is no file. */
export type FileText = string | null

/** What the file was before the change, as far as that can be told; the agent may have made it already. */
export function originalText(
  change: FileChange,
  current: FileText,
  patch: { format: string; text: string } | undefined,
  done: boolean,
): FileText | undefined {
  const { operation, oldText, newText } = change
  if (operation === 'add' && oldText === undefined) return done || current === newText ? null : current
  if (operation === 'delete') return current ?? oldText ?? undefined
  // a file that is not there after all was not changed
  if (current === null) return done ? undefined : null
  if (operation === 'move' || operation === 'copy') return done ? null : current
  // whole texts on either side
  if (current === newText) return oldText ?? null
  if (current === oldText) return current
  const texts = diffTexts(change, { current, ...(patch && { patch }) })
  const completed = texts && (texts.newText === current || texts.oldText === current)
  if (completed) return texts.oldText
  return done ? undefined : current
}
