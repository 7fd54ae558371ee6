import path from 'node:path'
import { isWithin, readable } from '../../common/file-names.ts'
import { plainMessage } from '../../common/plain-message.ts'
import type { OpenSession } from '../../sessions/open-session.ts'
import type { Workbench } from '../workbench.ts'

/**
 * Returns names for files: paths relative to their workspace folder, or to the working directory of a session, such as a worktree. If there
 * are several workspace folders, the name starts with the folder's name. Other paths are complete.
 */
export function namesOf(
  { folders }: Pick<Workbench, 'folders'>,
  paths: readonly string[],
  sessions?: { list(): readonly OpenSession[] },
): string {
  const names = paths.map(one => {
    const name = nameInFolders(folders, one)
    if (name !== undefined) return name
    for (const { plan } of sessions?.list() ?? []) {
      const below = nameIn(plan.setup.cwd, one)
      if (below !== undefined) return below
    }
    return one
  })
  return plainMessage(readable(names.join(', ')))
}

/** Returns the path in the innermost workspace folder, with the folder's name if there are several; `undefined` outside of all folders. */
export function nameInFolders(folders: Workbench['folders'], file: string): string | undefined {
  const named = folders.flatMap(folder => {
    const below = nameIn(folder.path, file)
    return below === undefined ? [] : [{ folder, below }]
  })
  const [innermost] = named.sort((a, b) => a.below.length - b.below.length)
  if (!innermost) return undefined
  const { folder, below } = innermost
  return folders.length > 1 ? path.join(folder.name, below) : below
}

/** Returns the path relative to the folder; `undefined` if the file isn't in the folder. */
function nameIn(folder: string, file: string): string | undefined {
  const below = path.relative(folder, file)
  return below !== '' && isWithin(folder, file) ? below : undefined
}
