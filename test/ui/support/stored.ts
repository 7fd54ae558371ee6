import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The drafts and unsent prompts that a server stores for any workspace: the unchanged files. */
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

/** The conversations that a server stores: the unchanged database. */
export function storedConversations({ userData }: { userData: string }): string {
  const storage = join(userData, 'User/globalStorage/parley.parley')
  if (!existsSync(storage)) return ''
  return readdirSync(storage)
    .filter(name => name.startsWith('conversations.db'))
    .map(name => readIfThere(join(storage, name)))
    .join('\n')
}

/** A file can be deleted between listing its folder and reading it. */
function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}
