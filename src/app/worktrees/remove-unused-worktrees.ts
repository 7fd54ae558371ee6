import type { Disposable } from '../../common/disposable.ts'
import { messageOf } from '../../common/errors.ts'
import type { Logger } from '../../common/logger.ts'
import { insideCheck } from '../../editor/folder-comparison.ts'
import {
  findWorktree,
  isEmpty,
  openRepository,
  readWorktreeState,
  recordedAt,
  removeWorktree,
} from '../../editor/worktrees/repository.ts'
import type { SessionRecords } from '../../sessions/ports.ts'
import type { HeldSessions } from '../../sessions/session-leases.ts'

/** The minimum age of a worktree that is removed, in milliseconds. A newer one may still be prepared for its session. */
const MIN_AGE_MS = 3_600_000

export interface RemoveUnusedOptions {
  /** all worktrees of the repositories of this window */
  paths: readonly string[]
  /** resolves to the directories that are in use now */
  used: () => Promise<string[]>
  records: Pick<SessionRecords, 'agentIds' | 'list'>
  held: Pick<HeldSessions, 'reserve'>
  /** called when the worktree with this path was removed */
  onRemove: (path: string) => void
  log: Logger
}

/**
 * Removes empty worktrees that Parley created and that nothing uses. A worktree with ignored files isn't empty unless they are copies.
 * Never rejects.
 */
export async function removeUnusedWorktrees(options: RemoveUnusedOptions): Promise<void> {
  for (const worktree of options.paths) {
    try {
      if (await removeUnused(worktree, options)) options.onRemove(worktree)
    } catch (error) {
      options.log.debug(`The worktree ${worktree} stays: ${messageOf(error)}`)
    }
  }
}

async function removeUnused(folder: string, { used, records, held }: RemoveUnusedOptions): Promise<boolean> {
  const isUsed = async () => {
    const paths = await used()
    return paths.some(await insideCheck(folder, paths))
  }
  if (await isUsed()) return false
  const worktree = await findWorktree(folder)
  if (!worktree || worktree.isOpened || Date.now() - (await recordedAt(folder)) < MIN_AGE_MS) return false
  const state = await readWorktreeState(worktree)
  if (!isEmpty(state) || state.ignored.length > 0) return false
  const repository = await openRepository(folder)
  const reserved: Disposable[] = []
  try {
    // sessions without any prompt, which another window may have open
    const all = records.agentIds().flatMap(id => records.list(id))
    const isIn = await insideCheck(
      folder,
      all.map(({ cwd }) => cwd),
    )
    for (const { agentId, sessionId, cwd } of all)
      if (isIn(cwd)) reserved.push(held.reserve({ agentId, sessionId }))
    if (await isUsed()) return false
    await removeWorktree(repository, worktree, { ignored: [] })
    return true
  } finally {
    for (const one of reserved) one.dispose()
  }
}
