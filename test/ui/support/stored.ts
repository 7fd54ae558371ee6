import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The drafts, and the prompts that are not sent yet, that a server keeps of whatever workspace: the files as they are. */
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

/** What a server keeps of conversations: its database as it is. */
export function storedConversations({ userData }: { userData: string }): string {
  const storage = join(userData, 'User/globalStorage/parley.parley')
  if (!existsSync(storage)) return ''
  return readdirSync(storage)
    .filter(name => name.startsWith('conversations.db'))
    .map(name => readIfThere(join(storage, name)))
    .join('\n')
}

/** A file may be taken away between a look at its folder and at itself. */
function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}
