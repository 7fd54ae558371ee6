import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { delay } from '../common/async.ts'
import { messageOf } from '../common/errors.ts'
import { RELEASE_POLL_MS, RELOAD_CLOSE_MS } from '../common/limits.ts'
import type { Logger } from '../common/logger.ts'
import { operatingSystem } from '../common/processes/process-system.ts'
import { AT_ONCE, readChangedFile, readDropped, readUndoneFile, readUndoneHead } from './changes-schema.ts'
import { isNotFound, namesIn, type StoredContents } from './stored-contents.ts'
import type { StoredUndos } from './stored-undos.ts'
import { SET_DROPPED, type WorkspaceRows } from './workspace-rows.ts'

const RECORDS = ['files', 'undone', 'dropped-checkpoints.json']

export interface ChangesFilesOptions {
  /** Earlier versions stored all changes of a workspace there. */
  folder: string
  /** for the contents */
  contentsFolder: string
  rows: WorkspaceRows
  contents: StoredContents
  undos: StoredUndos
  log: Logger
}

/**
 * Moves changes into the database that earlier versions stored as files. A file stays until all of it is in the database. Resolves to
 * whether all are moved: what can't be read now, or what a window of an earlier version uses, is moved later.
 */
export async function moveChangesFiles(options: ChangesFilesOptions): Promise<boolean> {
  const { folder, rows, log } = options
  if (![...RECORDS, 'blobs'].some(name => existsSync(path.join(folder, name)))) return true
  // the window before an update may still be closing
  const until = performance.now() + RELOAD_CLOSE_MS
  while (await isInUse(folder)) {
    if (performance.now() > until) {
      log.info('The changes of agents that an earlier version stored are moved once its windows are closed.')
      return false
    }
    await delay(RELEASE_POLL_MS)
  }
  rows.transact(() => rows.run('UPDATE workspaces SET counted = 0 WHERE workspace = ?'))
  await moveContents(options)
  const isAll = [await moveFiles(options), await moveUndos(options), await moveDropped(options)].every(
    Boolean,
  )
  if (isAll)
    for (const name of [...RECORDS, 'blobs', 'windows', 'clock.json'])
      await rm(path.join(folder, name), { recursive: true, force: true })
  return isAll
}

/** By a window of an earlier version. */
async function isInUse(folder: string): Promise<boolean> {
  const pids = (await namesIn(path.join(folder, 'windows'))).map(name => Number.parseInt(name, 10))
  return pids.some(pid => pid > 0 && pid !== process.pid && operatingSystem.exists(pid))
}

async function moveContents({ folder, contentsFolder }: ChangesFilesOptions): Promise<void> {
  const from = path.join(folder, 'blobs')
  for (const part of await namesIn(from)) {
    const to = path.join(contentsFolder, part)
    await mkdir(to, { recursive: true, mode: 0o700 })
    for (const name of await readdir(path.join(from, part)))
      if (/^[0-9a-f]{64}$/.test(name)) await rename(path.join(from, part, name), path.join(to, name))
  }
}

async function moveFiles(options: ChangesFilesOptions): Promise<boolean> {
  const { rows, contents, log } = options
  const files = await filesIn(options, 'files', '.json')
  for (let i = 0; i < files.length; i += AT_ONCE) {
    const some = files.slice(i, i + AT_ONCE)
    rows.transact(() => {
      for (const { name, text, at } of some) {
        if (!readChangedFile(text)) {
          log.warn(`The changes of agents in a file couldn't be read: ${name}`)
          continue
        }
        const file = name.slice(0, -'.json'.length)
        const [known] = rows.all('SELECT 1 FROM changed_files WHERE workspace = ? AND file = ?', file)
        if (known) continue
        rows.run('INSERT INTO changed_files VALUES (?, ?, ?, ?)', file, at, text)
        contents.refer(`file ${file}`, text)
      }
    })
    await setImmediate()
  }
  return files.isAll
}

async function moveUndos(options: ChangesFilesOptions): Promise<boolean> {
  const { rows, undos, log } = options
  const files = await filesIn(options, 'undone', '.jsonl')
  for (const { name, text, at } of files) {
    const lines = text.split('\n')
    const head = readUndoneHead(lines[0] ?? '') ?? { id: name.slice(0, -'.jsonl'.length), at }
    const records: string[] = []
    for (const [i, line] of lines.entries()) {
      if (i % AT_ONCE === 0) await setImmediate()
      if (readUndoneFile(line)) records.push(line)
      // a full disk or a crash has cut it off: what it would have told wasn't undone
      else if (i > 0 && line !== '') log.warn(`A line of an undo couldn't be read: ${name}`)
    }
    const count = 'SELECT count(*) AS n FROM undone_files WHERE workspace = ? AND undo = ?'
    // an earlier attempt may have ended midway
    for (let done = Number(rows.read(count, head.id)[0]?.n); done < records.length; done += AT_ONCE) {
      rows.transact(() => {
        for (const record of records.slice(done, done + AT_ONCE)) undos.addRecord(head, record)
      })
      await setImmediate()
    }
    await rm(path.join(options.folder, 'undone', name), { force: true })
  }
  return files.isAll
}

async function moveDropped({ folder, rows, log }: ChangesFilesOptions): Promise<boolean> {
  try {
    const text = await readFile(path.join(folder, 'dropped-checkpoints.json'), 'utf8')
    if (readDropped(text)) rows.transact(() => rows.run(`${SET_DROPPED} AND dropped = '[]'`, text))
  } catch (error) {
    if (isNotFound(error)) return true
    log.warn(`The list of dropped checkpoints couldn't be read: ${messageOf(error)}`)
    return false
  }
  return true
}

type Files = Array<{ name: string; text: string; at: number }> & { isAll: boolean }

async function filesIn({ folder, log }: ChangesFilesOptions, name: string, end: string): Promise<Files> {
  const files: Files = Object.assign([], { isAll: true })
  for (const one of (await namesIn(path.join(folder, name))).filter(one => one.endsWith(end))) {
    const file = path.join(folder, name, one)
    try {
      files.push({
        name: one,
        text: await readFile(file, 'utf8'),
        at: Math.trunc((await stat(file)).mtimeMs),
      })
    } catch (error) {
      log.warn(`The changes of agents couldn't be read: ${messageOf(error)}`)
      files.isAll = false
    }
  }
  return files
}
