import { patchedFiles } from './patch-input.ts'
import type { ToolCallEntry } from './tool-call.ts'

/** Returns the paths of files that a tool call read or changed. */
export function touchedFiles({ locations, content, rawInput }: ToolCallEntry): Set<string> {
  const changed = content.flatMap(one => (one?.type === 'diff' ? one.changes : []))
  const all = [...locations, ...changed, ...patchedFiles(rawInput)].map(one => one?.path)
  return new Set(all.filter(path => typeof path === 'string' && path !== ''))
}
