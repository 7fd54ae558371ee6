import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { messageOf } from '../../common/errors.ts'
import { isRecord } from '../../common/is-record.ts'
import type { Logger } from '../../common/logger.ts'
import { makePrivateFolder } from '../../common/private-files.ts'
import { operatingSystem } from '../../common/processes/process-system.ts'
import { createWholeSync, writeWholeSync } from '../../common/whole-files.ts'

/**
 * The files in which agents in terminals look for editors, with the token that they need: one file for each window. The same folder
 * contains files of other programs, which are never changed.
 */

/** Maximum size in bytes; the list of folders is most of it. */
const MAX_FILE = 256 * 1024

/** Who wrote a file, in its member `owner`, which agents ignore. */
interface FileOwner {
  name: 'parley'
  /** of the extension host: agents ask for the editor's own process in the same file */
  pid: number
  host: string
}

/** A folder that several users may share, such as one for temporary files: the subfolder must be this user's own. */
export function sharedFolder(parent: string, ...names: string[]): string {
  let folder = parent
  for (const name of names) {
    folder = join(folder, name)
    try {
      mkdirSync(folder, { mode: 0o700 })
    } catch (error) {
      if (!alreadyExists(error)) throw error
    }
    const stats = lstatSync(folder)
    if (!stats.isDirectory() || (process.getuid && stats.uid !== process.getuid()))
      throw new Error(`${folder} belongs to another user.`)
  }
  makePrivateFolder(folder)
  return folder
}

/** Removes the files of windows that crashed. Never throws. */
export function removeStaleFiles(folder: string, names: RegExp, log: Logger): void {
  try {
    for (const name of readdirSync(folder)) {
      const file = join(folder, name)
      const owner = names.test(name) ? readOwner(readContent(file)) : undefined
      // the home folder may be shared between machines, each with processes of its own
      if (owner?.host === hostname() && !operatingSystem.exists(owner.pid)) rmSync(file, { force: true })
    }
  } catch (error) {
    log.debug(`${folder} wasn't cleaned up: ${messageOf(error)}`)
  }
}

/** The file of this window. */
export class DiscoveryFile {
  readonly #path: string
  readonly #token: string

  /** Throws if there is a file with that name, whoever wrote it. */
  constructor(folder: string, name: string, content: DiscoveryContent) {
    this.#path = join(folder, name)
    this.#token = content.authToken
    createWholeSync(this.#path, toText(content))
  }

  /** Throws if it can't be written. */
  update(content: DiscoveryContent): void {
    if (this.#isOwn()) writeWholeSync(this.#path, toText(content))
  }

  /** Never throws. */
  remove(): void {
    try {
      if (this.#isOwn()) rmSync(this.#path, { force: true })
    } catch {
      // the file was removed with its folder
    }
  }

  /** Whether the file is still this window's: an agent may have removed it, and another program may have taken its name. */
  #isOwn(): boolean {
    return readContent(this.#path)?.authToken === this.#token
  }
}

export interface DiscoveryContent {
  authToken: string
  [member: string]: unknown
}

export function alreadyExists(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EEXIST'
}

function toText(content: DiscoveryContent): string {
  const owner: FileOwner = { name: 'parley', pid: process.pid, host: hostname() }
  return JSON.stringify({ ...content, owner })
}

function readContent(file: string): Record<string, unknown> | undefined {
  try {
    const stats = lstatSync(file)
    if (!stats.isFile() || stats.size > MAX_FILE) return undefined
    const content: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return isRecord(content) ? content : undefined
  } catch {
    // removed meanwhile, or no JSON
    return undefined
  }
}

function readOwner(content: Record<string, unknown> | undefined): FileOwner | undefined {
  const owner = content?.owner
  if (!isRecord(owner) || owner.name !== 'parley') return undefined
  return typeof owner.pid === 'number' && typeof owner.host === 'string'
    ? { name: owner.name, pid: owner.pid, host: owner.host }
    : undefined
}
