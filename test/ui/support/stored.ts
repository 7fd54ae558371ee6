import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The stored drafts and unsent prompts of all workspaces of a server, as the files contain them. */
export function storedDrafts({ userData }: { userData: string }): string {
  const storages = join(userData, 'User', 'workspaceStorage')
  return readdirSync(storages)
    .map(one => join(storages, one, 'parley.parley', 'drafts'))
    .filter(folder => existsSync(folder))
    .flatMap(folder => readdirSync(folder).map(name => join(folder, name)))
    .filter(path => path.endsWith('.json'))
    .map(readIfThere)
    .join('\n')
}

/** The stored conversations of a server, as the database file contains them. */
export function storedConversations({ userData }: { userData: string }): string {
  const storage = join(userData, 'User/globalStorage/parley.parley')
  if (!existsSync(storage)) return ''
  return readdirSync(storage)
    .filter(name => name.startsWith('conversations.db'))
    .map(name => readIfThere(join(storage, name)))
    .join('\n')
}

/** Empty if the file was deleted after its folder was listed. */
function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}
