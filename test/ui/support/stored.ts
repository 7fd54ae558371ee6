import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { installedNode } from '../../host/install-vscode.ts'
import { current } from '../../host/vscode-versions.ts'

interface Root {
  userData: string
}

const storageOf = ({ userData }: Root) => join(userData, 'User/globalStorage/parley.parley')

/** The rows of the database of conversations. VS Code's own Node has SQLite. */
export function storedRows(root: Root, sql: string): Array<Record<string, unknown>> {
  const file = join(storageOf(root), 'conversations.db')
  if (!existsSync(file)) return []
  const read = `
    const { DatabaseSync } = process.getBuiltinModule('node:sqlite')
    const db = new DatabaseSync(${JSON.stringify(file)}, { readOnly: true })
    try {
      console.log(JSON.stringify(db.prepare(${JSON.stringify(sql)}).all()))
    } finally {
      db.close()
    }`
  return JSON.parse(
    execFileSync(installedNode(current), ['-e', read], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      maxBuffer: 64 << 20,
    }),
  )
}

/** The stored drafts and unsent prompts of all workspaces of a server, as JSON. */
export function storedDrafts(root: Root): string {
  try {
    const rows = storedRows(root, 'SELECT kind, text FROM unsent ORDER BY place')
    const of = (wanted: string) =>
      rows.filter(({ kind }) => kind === wanted).map(({ text }) => JSON.parse(String(text)))
    return JSON.stringify({ prompts: of('prompt'), drafts: of('draft') })
  } catch {
    // the table isn't there yet, or is being written
    return ''
  }
}

/** The stored conversations of a server, as the database file contains them. */
export function storedConversations(root: Root): string {
  const storage = storageOf(root)
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
