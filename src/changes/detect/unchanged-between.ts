import { isWithin } from '../../common/file-names.ts'
import { type FileState, sameState } from '../model/file-state.ts'
import type { FolderSnapshot } from './folder-scan.ts'

/** The part of a snapshot that is about files. */
interface Snapshot {
  repositories: ReadonlyArray<{
    root: string
    commit: string
    dirty: ReadonlyMap<string, { stamp: string; isFresh: boolean; state: FileState | undefined }>
  }>
  folders: readonly FolderSnapshot[]
}

/**
 * Whether a file was the same at the start of two turns in the same folders, according to the turns' snapshots: if the file now differs
 * from both, the later turn changed it. `path`: absolute, with links resolved.
 */
export function isUnchangedBetween(first: Snapshot, next: Snapshot, path: string): boolean {
  const isIn = (root: string) => isWithin(root, path)
  // the file is part of the innermost repository or folder
  const [place] = [...first.repositories, ...first.folders]
    .filter(({ root }) => isIn(root))
    .sort((a, b) => b.root.length - a.root.length)
  if (!place) return false
  if ('files' in place) {
    const later = next.folders.find(({ root }) => root === place.root)
    if (!later) return false
    const [one, other] = [place.files.get(path), later.files.get(path)]
    return one === undefined ? other === undefined : isSameStamp(one, other) || hasSameContent(one, other)
  }
  const later = next.repositories.find(({ root }) => root === place.root)
  if (later?.commit !== place.commit) return false
  const [one, other] = [place.dirty.get(path), later.dirty.get(path)]
  // a file that neither snapshot lists is unchanged since the commit
  if (!one || !other) return one === other
  return (
    isSameStamp(one, other) ||
    (one.state !== undefined && other.state !== undefined && sameState(one.state, other.state))
  )
}

function isSameStamp(
  one: { stamp: string; isFresh: boolean },
  other: { stamp: string } | undefined,
): boolean {
  return !one.isFresh && one.stamp === other?.stamp
}

function hasSameContent(
  one: { hash?: string | undefined; mode: number },
  other: { hash?: string | undefined; mode: number } | undefined,
): boolean {
  return one.hash !== undefined && one.hash === other?.hash && one.mode === other.mode
}
