import path from 'node:path'
import { readable } from '../../common/file-names.ts'
import { plainMessage } from '../../common/plain-message.ts'
import type { OpenSession } from '../../sessions/open-session.ts'
import type { Workbench } from '../workbench.ts'

/**
 * Names of files: paths relative to their workspace folder, which is named if there are several, or to the working directory of a session,
 * such as a worktree. Other paths are shown in full.
 */
export function namesOf(
  { folders }: Pick<Workbench, 'folders'>,
  paths: readonly string[],
  sessions?: { list(): readonly OpenSession[] },
): string {
  const open = folders()
  const names = paths.map(one => {
    for (const folder of open) {
      const below = nameIn(folder.path, one)
      if (below !== undefined) return open.length > 1 ? path.join(folder.name, below) : below
    }
    for (const { plan } of sessions?.list() ?? []) {
      const below = nameIn(plan.setup.cwd, one)
      if (below !== undefined) return below
    }
    return one
  })
  return plainMessage(readable(names.join(', ')))
}

/** `undefined` if the file isn't in the folder. */
function nameIn(folder: string, file: string): string | undefined {
  const below = path.relative(folder, file)
  return below === '' || below.startsWith('..') || path.isAbsolute(below) ? undefined : below
}
