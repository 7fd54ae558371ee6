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
    .map(path => readFileSync(path, 'utf8'))
    .join('\n')
}
